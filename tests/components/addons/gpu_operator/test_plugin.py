"""Named configurations of the device plugin."""

from __future__ import annotations

from typing import Any

from components.addons.gpu_operator.plugin import EXCLUSIVE, configurations
from spec.pools import resolve_all
from tests.components.pools.samples import platform

L4 = {"preset": "gpu-spot"}
CUT = {"preset": "a100", "role": "inference", "mig": {"layout": "all-2g.10gb"}}


def documents(**pools: dict[str, Any]) -> dict[str, Any]:
    return configurations(resolve_all(platform(pools)).values())


def sharing(mode: str, replicas: int) -> dict[str, Any]:
    return {"sharing": {"mode": mode, "replicas": replicas}}


def test_the_default_configuration_shares_nothing_and_offers_mig_instances_by_profile() -> None:
    assert documents(l4=L4) == {EXCLUSIVE: {"version": "v1", "flags": {"migStrategy": "mixed"}}}


def test_time_slicing_keeps_the_resource_name_and_refuses_requests_for_two() -> None:
    assert documents(l4={**L4, **sharing("time-slicing", 4)})["time-slicing-4"] == {
        "version": "v1",
        "flags": {"migStrategy": "mixed"},
        "sharing": {
            "timeSlicing": {
                "renameByDefault": False,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
            }
        },
    }


def test_mps_has_no_mig_strategy() -> None:
    assert documents(l4={**L4, **sharing("mps", 8)})["mps-8"] == {
        "version": "v1",
        "flags": {"migStrategy": "none"},
        "sharing": {
            "mps": {"renameByDefault": False, "resources": [{"name": "nvidia.com/gpu", "replicas": 8}]},
        },
    }


def test_mig_instances_are_shared_by_their_own_names() -> None:
    manifests = documents(a={**CUT, **sharing("time-slicing", 2)})["time-slicing-2"]
    assert manifests["sharing"]["timeSlicing"]["resources"] == [{"name": "nvidia.com/mig-2g.10gb", "replicas": 2}]


def test_pools_with_equal_sharing_use_one_configuration_with_all_their_devices() -> None:
    manifests = documents(a={**CUT, **sharing("time-slicing", 2)}, b={**L4, **sharing("time-slicing", 2)})
    assert set(manifests) == {EXCLUSIVE, "time-slicing-2"}
    names = [each["name"] for each in manifests["time-slicing-2"]["sharing"]["timeSlicing"]["resources"]]
    assert names == ["nvidia.com/gpu", "nvidia.com/mig-2g.10gb"]


def test_each_pool_uses_an_existing_configuration() -> None:
    pools = {"a": {**L4, **sharing("mps", 3)}, "b": {**L4, **sharing("time-slicing", 48)}, "c": L4}
    specs = resolve_all(platform(pools)).values()
    chosen = {spec.labels.get("nvidia.com/device-plugin.config", EXCLUSIVE) for spec in specs}
    assert chosen == set(configurations(specs))
