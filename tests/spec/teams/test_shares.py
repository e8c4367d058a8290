from typing import Any

import pytest

from spec.pools.allocatable import allocatable
from spec.teams.shares import amounts, largest_node, maximum, resources_of, shareable
from tests.components.pools.samples import ONE_ZONE, spec
from tests.components.tenancy.samples import platform, pools


def extended(resources: dict[str, int]) -> dict[str, int]:
    return {name: amount for name, amount in resources.items() if name not in ("cpu", "memory")}


@pytest.mark.parametrize(("pool", "share", "expected"), [
    ({"preset": "a100"}, 3, {"nvidia.com/gpu": 3}),
    ({"preset": "a100", "mig": {"layout": "all-1g.5gb"}}, 3, {"nvidia.com/mig-1g.5gb": 21}),
    ({"preset": "a100", "mig": {"layout": "all-balanced"}}, 2,
        {"nvidia.com/mig-1g.5gb": 4, "nvidia.com/mig-2g.10gb": 2, "nvidia.com/mig-3g.20gb": 2}),
    ({"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 4}}, 2, {"nvidia.com/gpu": 8}),
    ({"preset": "h100", "efa": True, "zones": ONE_ZONE}, 4, {"nvidia.com/gpu": 4, "vpc.amazonaws.com/efa": 16}),
    ({"preset": "cpu"}, 16, {}),
])  # fmt: skip
def test_a_share_has_the_partitions_or_slices_of_its_gpus(
    pool: dict[str, Any], share: int, expected: dict[str, int]
) -> None:
    assert extended(amounts(spec(**pool), share)) == expected


def test_a_share_of_one_gpu_may_use_an_adapter_that_two_gpus_share() -> None:
    pool = spec(preset="a100", efa=True, zones=ONE_ZONE)
    assert pool.resources["vpc.amazonaws.com/efa"] * 2 == pool.gpu_count
    assert amounts(pool, 1)["vpc.amazonaws.com/efa"] == 1


def test_all_gpus_of_a_node_include_all_of_its_allocatable_resources() -> None:
    pool = spec(preset="a100")
    (node,) = allocatable(pool)
    whole = amounts(pool, pool.gpu_count)
    assert (whole["cpu"], whole["memory"]) == (node.cpu_millis, node.memory_mib)
    half = amounts(pool, pool.gpu_count // 2)
    assert half["cpu"] == node.cpu_millis // 2


def test_a_vcpu_is_less_than_a_core_because_the_node_reserves_some() -> None:
    share = amounts(spec(preset="cpu"), 16)
    assert 14_000 < share["cpu"] < 16_000
    assert 48 * 1024 < share["memory"] < 64 * 1024


def test_a_share_of_a_pool_with_several_sizes_lets_a_job_fill_the_largest() -> None:
    pool = spec(preset="gpu-spot")
    assert amounts(pool, 1)["cpu"] == max(node.cpu_millis for node in allocatable(pool))


def test_the_maximum_of_a_team_is_its_quota_plus_what_it_may_borrow() -> None:
    settings = platform()
    limit = maximum(settings.teams["vision"], pools())
    assert (limit["nvidia.com/gpu"], limit["nvidia.com/mig-1g.5gb"]) == (16, 28)


def test_no_container_is_larger_than_the_largest_node_that_its_team_may_use() -> None:
    settings, known = platform(), pools()
    top = max(node.cpu_millis for node in allocatable(known["h100"]))
    assert largest_node(settings.teams["language"], known)["cpu"] == top


def test_the_largest_node_of_all_pools_bounds_cpu_and_memory() -> None:
    settings, known = platform(), pools()
    nodes = [node for name in settings.teams["vision"].shares for node in allocatable(known[name])]
    assert len({node.cpu_millis for node in nodes}) > 1
    bound = largest_node(settings.teams["vision"], known)
    assert all(node.cpu_millis <= bound["cpu"] and node.memory_mib <= bound["memory"] for node in nodes)
    assert (bound["cpu"], bound["memory"]) in [(node.cpu_millis, node.memory_mib) for node in nodes]


def test_every_pool_except_the_system_pool_can_be_shared() -> None:
    known = pools()
    assert sorted(name for name, pool in known.items() if shareable(pool)) == sorted({*known} - {"system"})
    assert resources_of(known["h100"])[:2] == ("cpu", "memory")
