"""The manifests on a real API server with Karpenter's CRDs, which refuses unknown fields and evaluates CEL rules."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.base.kubernetes import ManifestKind
from components.pools import karpenter, nodeclass
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.validation import PLACEHOLDER
from spec.pools.pool_spec import PoolSpec
from tests.components.pools.samples import ONE_ZONE, spec
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define

pytestmark = pytest.mark.sandbox

CASES: dict[str, dict[str, Any]] = {
    "cpu": {"preset": "cpu"},
    "mig": {"preset": "a100", "mig": {"layout": "all-balanced"}},
    "spot": {"preset": "gpu-spot", "taints": {"example.com/t": {"effect": "NoExecute"}}},
    "bottlerocket": {"preset": "cpu", "os": "bottlerocket"},
    "shared": {"preset": "gpu-spot", "os": "bottlerocket", "localNvme": "none",
        "sharing": {"mode": "mps", "replicas": 4}},
    "efa": {"preset": "h100", "efa": True, "zones": ONE_ZONE, "dedicated": True},
    "reserved": {"preset": "h100",
        "capacity": {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}},
}  # fmt: skip


@pytest.fixture(scope="module")
def client(shared: Path, plane: ControlPlane) -> KubeClient:
    files = sorted((shared / "charts/karpenter-crd/crds").glob("karpenter*.yaml"))
    define(plane.client, [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files])
    return plane.client


def manifest(kind: ManifestKind, body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "work"}, "spec": body}


def node_class(pool: PoolSpec) -> dict[str, Any]:
    """As in a first preview, in which names chosen by AWS are unknown."""
    return nodeclass.node_class(
        nodeclass.NodeClassArgs(
            spec=pool,
            cluster="ml",
            instance_profile=PLACEHOLDER,
            placement_group=PLACEHOLDER if pool.placement_group else None,
            tags={"platform.slipway/pool": "work"},
        )
    )


@pytest.mark.parametrize("name", CASES)
def test_the_api_server_accepts_every_manifest_at_a_first_preview(client: KubeClient, name: str) -> None:
    pool = spec(**CASES[name])
    client.apply(manifest(karpenter.KIND, karpenter.node_pool(pool)), "test", dry_run=True)
    client.apply(manifest(nodeclass.KIND, node_class(pool)), "test", dry_run=True)
    if karpenter.wants_overlay(pool):
        client.apply(manifest(karpenter.OVERLAY_KIND, karpenter.node_overlay(pool)), "test", dry_run=True)


def test_it_refuses_two_efa_devices_on_one_network_card(client: KubeClient) -> None:
    wrong = node_class(spec(**CASES["efa"]))
    wrong["networkInterfaces"].append({"networkCardIndex": 0, "deviceIndex": 2, "interfaceType": "efa-only"})
    with pytest.raises(ApiError, match="at most one efa device per network card"):
        client.apply(manifest(nodeclass.KIND, wrong), "test", dry_run=True)


def test_it_refuses_an_unknown_field(client: KubeClient) -> None:
    wrong = {**node_class(spec(**CASES["efa"])), "networkInterface": []}
    with pytest.raises(ApiError, match="networkInterface"):
        client.apply(manifest(nodeclass.KIND, wrong), "test", dry_run=True)
