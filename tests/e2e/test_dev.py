"""Stack dev, from nothing to nothing."""

from __future__ import annotations

import pytest

from tests.e2e.cloud import client, contents
from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox


def test_up_says_what_stands_what_it_costs_and_where_the_kubeconfig_is(dev: str, world: World) -> None:
    assert counts(dev)["created"] > 100
    assert "On AWS this would cost" in dev
    assert f"kubeconfig: {world.home / 'kubeconfig'}" in dev


def test_a_second_up_changes_nothing(dev: str, world: World) -> None:
    assert counts(world.succeed("up", "dev", "--sandbox")).keys() == {"unchanged"}


def test_the_stack_files_of_the_checkout_stay_as_they_are(dev: str, world: World) -> None:
    original = World.make.__globals__["REPOSITORY"] / "stacks" / "Pulumi.dev.yaml"
    assert (world.checkout / "stacks" / "Pulumi.dev.yaml").read_bytes() == original.read_bytes()


def test_refresh_finds_no_drift_in_what_was_just_made(dev: str, world: World) -> None:
    assert counts(world.succeed("refresh", "dev", "--sandbox")).keys() == {"unchanged"}


def test_the_account_holds_the_network_and_the_cluster(dev: str, world: World) -> None:
    held = contents(world.variables("dev"))
    assert held["clusters"] == ["slipway-dev"]
    assert len(held["VPCs"]) == 1
    assert all(name.startswith("slipway-dev-") for name in held["roles"]), held["roles"]


def test_the_api_server_shows_a_node_of_every_pool_with_its_gpus(dev: str, world: World) -> None:
    nodes = world.api("dev").get_path("/api/v1/nodes")["items"]
    offered = {node["metadata"]["labels"]["platform.slipway/pool"]: node["status"]["capacity"] for node in nodes}
    assert offered.keys() == {"system", "cpu", "a100", "h100", "gpu-spot"}
    assert offered["a100"]["nvidia.com/mig-1g.5gb"] == "56"
    assert offered["h100"]["nvidia.com/gpu"] == "1"


def test_drift_made_behind_the_engine_is_reported_by_the_next_preview(dev: str, world: World) -> None:
    ec2 = client("ec2", world.variables("dev"))
    vpc = contents(world.variables("dev"))["VPCs"][0]
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "owner", "Value": "somebody-else"}])
    patch = {"spec": {"limits": {"cpu": "1"}}}
    path = "/apis/karpenter.sh/v1/nodepools/cpu"
    world.api("dev").call("PATCH", path, patch, content_type="application/merge-patch+json")

    found = world.succeed("preview", "dev", "--sandbox")

    assert "network-vpc" in found
    assert "pool-cpu-node-pool" in found
    assert counts(found)["to update"] == 2
    assert counts(world.succeed("up", "dev", "--sandbox"))["updated"] == 2


def test_a_manifest_of_the_wrong_type_fails_at_preview_with_the_api_servers_words(dev: str, world: World) -> None:
    program = world.checkout / "infra" / "__main__.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text + BROKEN_DEPLOYMENT, encoding="utf-8")
    try:
        done = world.run("preview", "dev", "--sandbox")
    finally:
        program.write_text(text, encoding="utf-8")
    assert done.returncode != 0
    assert "replicas" in done.stdout
    assert "expected numeric" in done.stdout


BROKEN_DEPLOYMENT = """
import os
import pulumi_kubernetes as sdk
from pathlib import Path
provider = sdk.Provider("broken-provider", kubeconfig=Path(os.environ["KUBECONFIG"]).read_text())
sdk.apiextensions.CustomResource(
    "broken", api_version="apps/v1", kind="Deployment", metadata={"name": "broken", "namespace": "default"},
    spec={"replicas": "two", "selector": {"matchLabels": {"a": "b"}},
          "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    opts=pulumi.ResourceOptions(provider=provider),
)
"""


def test_destroy_leaves_nothing_in_the_account_and_no_api_server(dev: str, world: World) -> None:
    world.succeed("destroy", "dev", "--sandbox", "--yes")
    assert contents(world.variables("dev")) == {}
    assert "slipway-dev:" not in world.succeed("sandbox", "status")
