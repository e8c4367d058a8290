"""What is true of any stack, with a small one: drift is found and mended, a wrong manifest stops the preview."""

from __future__ import annotations

import pytest

from tests.e2e.cloud import client, vpcs
from tests.e2e.world import World, counts

pytestmark = pytest.mark.sandbox


def test_drift_made_behind_the_engine_is_reported_by_the_next_preview_and_mended_by_the_next_up(
    small: str, world: World
) -> None:
    ec2 = client("ec2", world.variables("small"))
    (vpc,) = vpcs(ec2)
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "owner", "Value": "somebody-else"}])
    patch = {"spec": {"limits": {"cpu": "1"}}}
    path = "/apis/karpenter.sh/v1/nodepools/cpu"
    world.api("small").call("PATCH", path, patch, content_type="application/merge-patch+json")

    found = world.succeed("preview", "small", "--sandbox")

    assert "network-vpc" in found
    assert "pool-cpu-node-pool" in found
    assert counts(found)["to update"] == 2
    mended = counts(world.succeed("up", "small", "--sandbox"))
    assert mended.pop("updated") == 2
    assert mended.keys() == {"unchanged"}


def test_a_manifest_of_the_wrong_type_fails_at_preview_with_the_api_servers_words(small: str, world: World) -> None:
    program = world.checkout / "infra" / "__main__.py"
    text = program.read_text(encoding="utf-8")
    program.write_text(text + BROKEN_DEPLOYMENT, encoding="utf-8")
    try:
        done = world.run("preview", "small", "--sandbox")
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
