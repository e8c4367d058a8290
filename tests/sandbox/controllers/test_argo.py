"""Argo Workflows of its chart: the retraining pipeline runs to its end, and deploys only what is good enough.

A pod's executor reports what the step gave, and here no container runs: the test reports it in its place.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from tests.sandbox.controllers.installed import applied, cluster, release, until_running
from tests.sandbox.plane import ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
API: Final = "argoproj.io/v1alpha1"
SPACE: Final = "pipelines"
ACCOUNT: Final = ("ServiceAccount", "default", SPACE)
PREFIX: Final = "workflows.argoproj.io"
PIPELINE: Final = Path(__file__).parents[3] / "examples/tutorials/pipeline.yaml"


def workflow(name: str) -> Object:
    """The nightly pipeline of examples/tutorials as one run. Its claims and the nodes of its pool aren't here."""
    (cron,) = yaml.safe_load_all(PIPELINE.read_text(encoding="utf-8"))
    spec = cron["spec"]["workflowSpec"]
    spec["serviceAccountName"] = "default"
    del spec["volumes"]
    for template in spec["templates"]:
        for key in ("nodeSelector", "tolerations", "priorityClassName"):
            template.pop(key, None)
        for key in ("volumeMounts", "resources"):
            template.get("container", {}).pop(key, None)
    return {**Ref(API, "Workflow", name, SPACE).as_object(), "spec": spec}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    directory = tmp_path_factory.mktemp("argo")
    with cluster(directory, "argo") as plane:
        values = {"server": {"enabled": False}, "crds": {"full": False}}
        release(plane.client, shared / "charts-full", "argo", "argo", **values)
        until_running(directory, "argo")
        applied(plane.client, *(Ref("v1", *ref).as_object() for ref in (("Namespace", SPACE), ACCOUNT)))
        yield plane


def report(client: KubeClient, name: str, accuracy: str) -> None:
    """What the executors of a workflow's pods would report."""
    for pod in client.get_path(f"/api/v1/namespaces/{SPACE}/pods?labelSelector={PREFIX}/workflow={name}")["items"]:
        node = pod["metadata"]["annotations"][f"{PREFIX}/node-id"]
        result = Ref(API, "WorkflowTaskResult", node, SPACE).as_object()
        result["metadata"]["labels"] = {f"{PREFIX}/workflow": name, f"{PREFIX}/report-outputs-completed": "true"}
        if "evaluate" in pod["metadata"]["annotations"][f"{PREFIX}/node-name"]:
            result["outputs"] = {"parameters": [{"name": "accuracy", "value": accuracy}]}
        client.apply(result, "executor", force=True)


def ended(client: KubeClient, manifest: Object, accuracy: str) -> dict[str, str]:
    """Phases of the steps of a workflow, once it has ended."""
    ref = Ref.of(manifest)

    def look() -> dict[str, str] | None:
        report(client, ref.name, accuracy)
        status = (client.get(ref) or {}).get("status") or {}
        if status.get("phase") not in ("Succeeded", "Failed", "Error"):
            return None
        return {each["displayName"]: each["phase"] for each in status["nodes"].values() if each["type"] != "DAG"}

    return until(look, SECONDS, lambda: f"not ended: {(client.get(ref) or {}).get('status')}")


@pytest.mark.parametrize(("accuracy", "deployed"), [("0.95", "Succeeded"), ("0.85", "Omitted")])
def test_a_model_is_deployed_if_its_evaluation_is_good_enough(
    plane: ControlPlane, accuracy: str, deployed: str
) -> None:
    manifest = workflow(f"retrain-{deployed.lower()}")
    applied(plane.client, manifest)
    phases = ended(plane.client, manifest, accuracy)
    assert {phases[step] for step in ("validate", "evaluate")} == {"Succeeded"}
    assert (phases["deploy"] == "Succeeded") is (deployed == "Succeeded"), phases
