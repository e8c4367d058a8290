"""The example stack of Kubernetes 1.36: it comes up, runs a job of upstream as it was published, and goes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from components.admission.defaults import NOTE
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from tests.e2e.world import REPOSITORY, World, counts
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

NAMESPACE = "vision"
SAMPLE = Path(__file__).with_name("latest.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[World]:
    """A sandbox with whole charts, which this process reaches."""
    made = World.make(tmp_path_factory.mktemp("latest"), shared / "charts-full")
    shutil.copy2(REPOSITORY / "examples" / "stacks" / "Pulumi.latest.yaml", made.checkout / "stacks")
    yield made
    made.run("sandbox", "stop")


def test_a_job_of_upstream_runs_as_it_was_published_and_the_stack_goes(place: World) -> None:
    place.succeed("up", "latest", "--sandbox")
    client = place.api("latest")
    made = client.call("POST", client.discovery.find("batch/v1", "Job").path(NAMESPACE), yaml.safe_load(SAMPLE))
    assert made["spec"]["activeDeadlineSeconds"] > 0
    assert "activeDeadlineSeconds" in made["metadata"]["annotations"][NOTE]
    job = Ref("batch/v1", "Job", made["metadata"]["name"], NAMESPACE)
    until(lambda: (client.get(job) or {})["status"].get("ready") == 2, SECONDS, f"the pods of {job} run")

    assert counts(place.succeed("preview", "latest", "--sandbox")).keys() == {"unchanged"}
    gone = place.succeed("destroy", "latest", "--sandbox", "--yes")
    assert counts(gone).keys() == {"deleted"}
    assert "slipway-latest:" not in place.succeed("sandbox", "status")
