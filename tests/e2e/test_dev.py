"""Stack dev, from nothing to nothing."""

from __future__ import annotations

import pytest

from spec.errors import EXIT_STATEFUL
from tests.e2e.cloud import client, contents, vpcs
from tests.e2e.world import World, counts, updated

pytestmark = pytest.mark.sandbox

DRIFTED = {"network-vpc", "pool-cpu-node-pool"}


def test_up_says_what_stands_what_it_costs_and_where_the_kubeconfig_is(dev: str, world: World) -> None:
    assert counts(dev)["created"] > 100
    assert "On AWS this would cost" in dev
    assert f"kubeconfig: {world.home / 'kubeconfig'}" in dev


def test_the_stack_files_of_the_checkout_stay_as_they_are(dev: str, world: World) -> None:
    original = World.make.__globals__["REPOSITORY"] / "stacks" / "Pulumi.dev.yaml"
    assert (world.checkout / "stacks" / "Pulumi.dev.yaml").read_bytes() == original.read_bytes()


def test_the_account_holds_the_network_and_the_cluster(dev: str, world: World) -> None:
    held = contents(world.variables("dev"), "clusters", "VPCs", "roles")
    assert held["clusters"] == ["slipway-dev"]
    assert len(held["VPCs"]) == 1
    assert all(name.startswith("slipway-dev-") for name in held["roles"]), held["roles"]


def test_the_api_server_shows_a_node_of_every_pool_with_its_gpus(dev: str, world: World) -> None:
    nodes = world.api("dev").get_path("/api/v1/nodes")["items"]
    offered = {node["metadata"]["labels"]["platform.slipway/pool"]: node["status"]["capacity"] for node in nodes}
    assert offered.keys() == {"system", "cpu", "a100", "h100", "gpu-spot"}
    assert offered["a100"]["nvidia.com/mig-1g.5gb"] == "56"
    assert offered["h100"]["nvidia.com/gpu"] == "1"


@pytest.fixture(scope="module")
def drifted(dev: str, world: World) -> None:
    """The VPC and a pool of stack dev are changed by somebody else."""
    ec2 = client("ec2", world.variables("dev"))
    (vpc,) = vpcs(ec2)
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "owner", "Value": "somebody-else"}])
    patch = {"spec": {"limits": {"cpu": "1"}}}
    path = "/apis/karpenter.sh/v1/nodepools/cpu"
    world.api("dev").call("PATCH", path, patch, content_type="application/merge-patch+json")


def test_a_refresh_finds_the_drift_and_no_other(drifted: None, world: World) -> None:
    found = world.succeed("refresh", "dev", "--sandbox", "--", "--preview-only")
    assert updated(found) == DRIFTED
    assert counts(found).keys() == {"to update", "unchanged"}
    assert counts(found)["to update"] == 2


def test_the_gate_stops_a_preview_that_would_replace_the_file_system_and_nothing_else_is_replaced(
    drifted: None, world: World
) -> None:
    """FSx changes the deployment type of no file system. Volumes name it, and claims name the volumes."""
    world.edit("stacks/Pulumi.dev.yaml", "{deploymentType: SCRATCH_2}", "{deploymentType: PERSISTENT_2}")
    try:
        done = world.run("preview", "dev", "--sandbox")
    finally:
        world.edit("stacks/Pulumi.dev.yaml", "{deploymentType: PERSISTENT_2}", "{deploymentType: SCRATCH_2}")
    assert done.returncode == EXIT_STATEFUL, done.stdout
    assert 'deploymentType can\'t be changed in place: "SCRATCH_2" -> "PERSISTENT_2"' in done.stdout
    assert "loses: every file on it" in done.stdout
    found = counts(done.stdout)
    assert found.keys() == {"to replace", "to update", "unchanged"}, done.stdout
    assert found["unchanged"] > 400
    # What drifted is reported by any preview.
    assert found["to update"] == 2
    assert updated(done.stdout) == DRIFTED


def test_the_next_up_mends_the_drift_and_nothing_else_changes(drifted: None, world: World) -> None:
    done = world.succeed("up", "dev", "--sandbox")
    assert updated(done) == DRIFTED
    mended = counts(done)
    assert mended.pop("updated") == 2
    assert mended.keys() == {"unchanged"}


def test_destroy_leaves_nothing_in_the_account_and_no_api_server(dev: str, world: World) -> None:
    world.succeed("destroy", "dev", "--sandbox", "--yes")
    assert contents(world.variables("dev")) == {}
    assert "slipway-dev:" not in world.succeed("sandbox", "status")
