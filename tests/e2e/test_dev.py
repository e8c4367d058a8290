"""Stack dev: up, drift, gate, verify, destroy."""

import json
import shutil
from pathlib import Path

import pytest

from sandbox.kubernetes.objects import Ref
from slipway.verify.probes import LABEL, NAMESPACE
from spec.errors import EXIT_STATEFUL
from tests.e2e.cloud import client, contents
from tests.e2e.world import World, counts, updated

pytestmark = pytest.mark.sandbox

DRIFTED = {"network-vpc", "pool-cpu-node-pool"}


def test_up_prints_resources_cost_and_kubeconfig(dev: str, world: World) -> None:
    assert counts(dev)["created"] > 100
    assert dev.count("Cost a month: floor $") == 1
    assert f"kubeconfig: {world.home / 'kubeconfig'}" in dev


def test_the_stack_files_of_the_checkout_are_unchanged(dev: str, world: World) -> None:
    original = World.make.__globals__["REPOSITORY"] / "stacks" / "Pulumi.dev.yaml"
    assert (world.checkout / "stacks" / "Pulumi.dev.yaml").read_bytes() == original.read_bytes()


def test_the_account_has_the_network_and_the_cluster(dev: str, world: World) -> None:
    objects = contents(world.variables("dev"), "clusters", "VPCs", "roles")
    assert objects["clusters"] == ["slipway-dev"]
    assert len(objects["VPCs"]) == 1
    assert all(name.startswith("slipway-dev-") for name in objects["roles"]), objects["roles"]


def test_the_api_server_shows_a_node_of_every_pool_with_its_gpus(dev: str, world: World) -> None:
    nodes = world.api("dev").get_path("/api/v1/nodes")["items"]
    offered = {node["metadata"]["labels"]["platform.slipway/pool"]: node["status"]["capacity"] for node in nodes}
    assert offered.keys() == {"system", "cpu", "a100", "h100", "gpu-spot"}
    assert offered["a100"]["nvidia.com/mig-1g.5gb"] == "56"
    assert offered["h100"]["nvidia.com/gpu"] == "1"


@pytest.fixture(scope="module")
def drifted(dev: str, world: World) -> None:
    """Change the VPC and a pool of stack dev outside of Pulumi."""
    ec2 = client("ec2", world.variables("dev"))
    (vpc,) = contents(world.variables("dev"), "VPCs")["VPCs"]
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "owner", "Value": "another-team"}])
    patch = {"spec": {"limits": {"cpu": "1"}}}
    path = "/apis/karpenter.sh/v1/nodepools/cpu"
    world.api("dev").call("PATCH", path, patch, content_type="application/merge-patch+json")


def test_a_refresh_finds_exactly_the_drift(drifted: None, world: World) -> None:
    output = world.succeed("refresh", "dev", "--sandbox", "--", "--preview-only")
    assert updated(output) == DRIFTED
    assert counts(output).keys() == {"to update", "unchanged"}
    assert counts(output)["to update"] == 2


def test_the_gate_refuses_a_preview_that_replaces_the_file_system(drifted: None, world: World) -> None:
    """FSx can't change the deployment type of a file system; the volumes and claims that name it are only updated."""
    world.edit("stacks/Pulumi.dev.yaml", "{deploymentType: SCRATCH_2}", "{deploymentType: PERSISTENT_2}")
    try:
        done = world.run("preview", "dev", "--sandbox")
    finally:
        world.edit("stacks/Pulumi.dev.yaml", "{deploymentType: PERSISTENT_2}", "{deploymentType: SCRATCH_2}")
    assert done.returncode == EXIT_STATEFUL, done.stdout
    assert 'deploymentType can\'t be changed in place: "SCRATCH_2" -> "PERSISTENT_2"' in done.stdout
    assert "loses: every file on it" in done.stdout
    numbers = counts(done.stdout)
    assert numbers.keys() == {"to replace", "to update", "unchanged"}, done.stdout
    assert numbers["unchanged"] > 400
    # Every preview shows the drift.
    assert numbers["to update"] == 2
    assert updated(done.stdout) == DRIFTED


def test_the_next_up_fixes_the_drift_and_changes_nothing_else(drifted: None, world: World) -> None:
    done = world.succeed("up", "dev", "--sandbox")
    assert updated(done) == DRIFTED
    numbers = counts(done)
    assert numbers.pop("updated") == 2
    assert numbers.keys() == {"unchanged"}


def test_a_second_program_adds_a_pool_and_a_team_by_the_outputs(dev: str, world: World, tmp_path: Path) -> None:
    folder = Path(__file__).with_name("programs") / "addition"
    other = World(Path(shutil.copytree(folder, tmp_path / folder.name)), world.home)
    made = other.succeed("sandbox", "run", "--", "pulumi", "up", "--yes", "--stack", "lab")
    assert counts(made).keys() == {"created"}, made
    (vpc,) = contents(world.variables("dev"), "VPCs")["VPCs"]
    assert vpc in made
    kube = world.api("dev")
    node_class = kube.get_path("/apis/karpenter.k8s.aws/v1/ec2nodeclasses/l4")
    assert node_class["spec"]["subnetSelectorTerms"][0]["id"].startswith("subnet-")
    assert kube.get(Ref("kueue.x-k8s.io/v1beta2", "ClusterQueue", "tests")) is not None
    other.succeed("sandbox", "run", "--", "pulumi", "destroy", "--yes", "--stack", "lab")


def test_verify_passes_and_leaves_nothing(dev: str, world: World) -> None:
    output = world.succeed("verify", "dev", "--sandbox", "--minutes", "15", "--out", "verified")
    found = json.loads((world.checkout / "verified" / "verify.json").read_text())["checks"]
    assert {one["status"] for one in found} == {"passed", "needs AWS"}
    placed = {one["subject"] for one in found if "is placed on" in one["check"] and one["status"] == "passed"}
    assert placed == {"pool a100", "pool cpu", "pool gpu-spot", "pool h100", "pool system"}
    assert {one["status"] for one in found if "nvidia-smi" in one["check"]} == {"needs AWS"}
    assert "| clean-up | nothing of this run is left | passed |" in output
    kube = world.api("dev")
    assert kube.get(Ref("v1", "Namespace", NAMESPACE)) is None
    jobs = kube.discovery.find("batch/v1", "Job")
    assert list(kube.list(jobs, selector=f"{LABEL}=true")) == []


def test_destroy_leaves_nothing_in_the_account_and_no_api_server(dev: str, world: World) -> None:
    world.succeed("destroy", "dev", "--sandbox", "--yes")
    assert contents(world.variables("dev")) == {}
    assert "slipway-dev:" not in world.succeed("sandbox", "status")
