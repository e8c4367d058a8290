"""`slipway sandbox run`: programs that know nothing of Slipway come up, are changed and destroyed in the sandbox."""

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object
from spec import clock
from tests.e2e.world import counts
from tests.support.patience import SECONDS
from tools import scanners
from tools.lock import AWSCLI

pytestmark = pytest.mark.sandbox
PROGRAMS = Path(__file__).with_name("programs")
AWS = scanners.find("aws", AWSCLI)


@dataclass(frozen=True)
class Elsewhere:
    """A folder with a program, outside of any checkout, and a sandbox."""

    folder: Path
    home: Path

    def run(self, *words: str, before: str = "") -> str:
        """The output of a command in the sandbox, which must succeed; `before` comes first on PATH."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name == clock.VARIABLE or not name.startswith(("AWS_", "PULUMI_", "SLIPWAY_", "KUBECONFIG"))
        }
        kept |= {"SLIPWAY_SANDBOX_HOME": str(self.home), "SLIPWAY_CHARTS": "none"}
        if before:
            kept["PATH"] = os.pathsep.join((before, kept["PATH"]))
        done = subprocess.run(
            [sys.executable, "-m", "slipway", "sandbox", "run", "--", *words],
            cwd=self.folder, env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def objects(self, cluster: str, path: str) -> list[Object]:
        """Objects of a cluster, read with the sandbox's kubeconfig."""
        config = yaml.safe_load((self.home / "kubeconfig").read_text(encoding="utf-8"))
        at = next(one["cluster"] for one in config["clusters"] if one["name"] == cluster)
        authority = base64.b64decode(at["certificate-authority-data"]).decode()
        found: list[Object] = KubeClient(at["server"], authority, config["users"][0]["user"]["token"]).get_path(path)[
            "items"
        ]
        return found

    def clusters(self) -> list[str]:
        """The clusters that run."""
        config = yaml.safe_load((self.home / "kubeconfig").read_text(encoding="utf-8"))
        return [one["name"] for one in config["clusters"]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("any")
    yield folder / "sandbox"
    stop = [sys.executable, "-m", "slipway", "sandbox", "stop"]
    subprocess.run(stop, env={**os.environ, "SLIPWAY_SANDBOX_HOME": str(folder / "sandbox")}, check=True)


def place(home: Path, to: Path, name: str) -> Elsewhere:
    """A copy of one of the programs."""
    return Elsewhere(shutil.copytree(PROGRAMS / name, to / name), home)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_pulumi_program_with_its_own_stack_file(home: Path, tmp_path: Path) -> None:
    here = place(home, tmp_path, "network_and_cluster")
    file = here.folder / "Pulumi.lab.yaml"
    before = file.read_text(encoding="utf-8")
    preview = here.run("pulumi", "preview", "--stack", "lab")
    assert "network-and-cluster:password" in preview, "a secret of another backend is named"
    assert counts(preview).keys() == {"to create"}
    assert "Cost a month by list prices: $" in preview
    made = here.run("pulumi", "up", "--yes")
    assert counts(made) == {"created": counts(preview)["to create"]}
    assert "Pods: 2 wanted, 2 running." in made
    assert len(here.objects("network-and-cluster", "/api/v1/nodes")) == 2
    assert file.read_text(encoding="utf-8") == before

    tried = here.run(sys.executable, "-m", "slipway", "rehearse", str(place(home, tmp_path, "tried").folder))
    assert "3 passed, 0 failed" in tried, "without a stack file, and with the rights of the administrator"

    edit(file, "nodes: 2", "nodes: 3")
    assert counts(here.run("pulumi", "preview"))["to update"] == 1
    assert counts(here.run("pulumi", "up", "--yes"))["updated"] == 1
    assert len(here.objects("network-and-cluster", "/api/v1/nodes")) == 3
    here.run("pulumi", "destroy", "--yes")
    assert "network-and-cluster" not in here.clusters()


def test_a_program_finds_what_another_made_and_a_file_is_changed(home: Path, tmp_path: Path) -> None:
    platform, application = place(home, tmp_path, "platform"), place(home, tmp_path, "application")
    made = platform.run("pulumi", "up", "--yes", "--stack", "lab")
    # A control plane, one or two nodes of EKS' default type, a key and a secret.
    assert "Cost a month by list prices: $104.77 to $135.14; without" in made, "the zone has no price here"
    made = application.run("pulumi", "up", "--yes", "--stack", "lab")
    assert "Pods: 2 wanted, 2 running." in made
    assert "Data sources of types that are only recorded, answered with made-up texts: getCachePolicy." in made
    assert application.run("pulumi", "stack", "output", "user").splitlines()[-1] == "app"
    assert counts(application.run("pulumi", "preview"))["to update"] == 1, "the provider has another token, as on AWS"
    edit(application.folder / "web" / "index.html", "hello", "good morning")
    assert counts(application.run("pulumi", "preview"))["to update"] == 2
    assert counts(application.run("pulumi", "up", "--yes"))["updated"] == 2
    application.run("pulumi", "destroy", "--yes")
    platform.run("pulumi", "destroy", "--yes")
    assert "lab" not in application.clusters()


def test_a_pulumi_program_with_a_component_and_without_a_stack_file(home: Path, tmp_path: Path) -> None:
    here = place(home, tmp_path, "node_groups")
    made = here.run("pulumi", "up", "--yes", "--stack", "lab")
    assert "Pods: 1 wanted, 1 running." in made or "Pods: 0 wanted" in made, "a Job's pod runs, and may have ended"
    cluster = here.run("pulumi", "stack", "output", "cluster").splitlines()[-1]
    nodes = {
        node["metadata"]["labels"]["eks.amazonaws.com/nodegroup"]: node
        for node in here.objects(cluster, "/api/v1/nodes")
    }
    assert nodes.keys() == {"simple", "labelled", "gpu"}
    assert nodes["labelled"]["metadata"]["labels"]["ondemand"] == "true"
    assert nodes["gpu"]["status"]["capacity"]["nvidia.com/gpu"] == "1"
    (pod,) = here.objects(cluster, "/api/v1/namespaces/default/pods")
    assert pod["spec"]["nodeName"] == nodes["gpu"]["metadata"]["name"]

    (here.folder / "Pulumi.lab.yaml").write_text('config: {"node-groups:version": "1.35"}\n', encoding="utf-8")
    assert counts(here.run("pulumi", "up", "--yes"))["updated"] == 1
    here.run("pulumi", "destroy", "--yes")
    assert cluster not in here.clusters()


def test_a_script_with_boto3(home: Path, tmp_path: Path) -> None:
    here = place(home, tmp_path, "script")
    made, changed, deleted = here.run(sys.executable, ".").splitlines()[-3:]
    assert made.startswith("made https://127.0.0.1:")
    assert made.endswith(" 1.34")
    assert changed == "changed 1.35"
    assert deleted == "deleted []"


@pytest.mark.skipif(AWS is None, reason="no AWS CLI here: `make scanners` installs it")
def test_the_aws_cli_and_helm(home: Path, tmp_path: Path) -> None:
    assert AWS is not None
    here = place(home, tmp_path, "cli")
    output = here.run("sh", "steps.sh", "chart", before=str(AWS.parent))
    assert "STATUS: deployed" in output
    assert '"revision":"2"' in output.replace(" ", "")
    assert output.rstrip().endswith("[]")
