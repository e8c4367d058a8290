"""Platforms and pools for tests, from stack file settings and through all checks."""

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from components.composition.node_pools import NodePoolContext, elastic_pools, managed_pools
from spec.pools import PoolSpec, resolve_all
from spec.settings import load
from spec.settings.network import Nat
from spec.settings.platform import Platform
from tests.support.day import TODAY
from tests.support.mocks import ACCOUNT, REGION, Recording, providers, run
from tests.support.outputs import cluster_outputs, network_outputs

ZONES: Final = (f"{REGION}a", f"{REGION}b", f"{REGION}c")
PEERS: Final = {"office": "192.168.0.0/16"}
ENVIRONMENT: Final = {"name": "test", "owner": "ml-platform", "costCenter": "ml-research"}
ONE_ZONE: Final = [f"{REGION}b"]
SYSTEM: Final[Mapping[str, Any]] = {"preset": "system"}
MANAGED_A100: Final[Mapping[str, Any]] = {"preset": "a100", "provisioner": "managed"}
"""At most two nodes, scaled from zero."""
BLOCK: Final[Mapping[str, Any]] = {
    "preset": "h100",
    "provisioner": "managed",
    "capacity": {"market": "reserved", "reservation": {"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890",
            "startDate": "2026-11-16", "endDate": "2026-11-30", "active": True}},
    "min": 4,
    "max": 4,
    "zones": ONE_ZONE,
    "efa": True,
}  # fmt: skip


def platform(pools: Mapping[str, Mapping[str, Any]], **parts: Any) -> Platform:
    """A platform with these pools, in stack file settings; adds a system pool if there is none, and the device plugins
    for GPUs and EFA."""
    data = {
        "account": {"id": ACCOUNT, "region": REGION},
        "network": {"cidr": "10.0.0.0/16", "zones": list(ZONES), "peers": PEERS},
        "pools": {"system": SYSTEM, **pools},
        **parts,
        "environment": {**ENVIRONMENT, **parts.get("environment", {})},
        "addons": {"gpuOperator": {}, "efaDevicePlugin": {}, **parts.get("addons", {})},
    }
    return load(data, stack="test", today=TODAY).platform


def spec(**pool: Any) -> PoolSpec:
    """One resolved pool named `work`."""
    return resolve_all(platform({"work": pool}))["work"]


def record_fleet(pools: Mapping[str, Mapping[str, Any]], *, preview: bool = False, **parts: Any) -> Recording:
    """The resources of all node pools of a platform."""

    def build() -> None:
        aws, kubernetes = providers()
        settings = platform(pools, **parts)
        context = NodePoolContext(
            specs=resolve_all(settings),
            cluster=cluster_outputs(aws),
            network=network_outputs("abc"),
            isolated=settings.network.nat is Nat.NONE,
            charts=settings.charts,
            caches=sorted(settings.storage.registry.caches),
            opts=pulumi.ResourceOptions(providers=[aws, kubernetes]),
        )
        elastic_pools(context, managed_pools(context))

    return run(build, preview=preview)
