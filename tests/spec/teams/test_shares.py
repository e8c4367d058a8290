from __future__ import annotations

from typing import Any

import pytest

from spec.pools.allocatable import allocatable
from spec.teams.shares import amounts, largest_node, maximum, resources_of, shareable
from tests.components.pools.samples import ONE_ZONE, spec
from tests.components.tenancy.samples import platform, pools


def extended(found: dict[str, int]) -> dict[str, int]:
    return {name: amount for name, amount in found.items() if name not in ("cpu", "memory")}


@pytest.mark.parametrize(
    ("pool", "share", "expected"),
    [
        ({"preset": "a100"}, 3, {"nvidia.com/gpu": 3}),
        ({"preset": "a100", "mig": {"layout": "all-1g.5gb"}}, 3, {"nvidia.com/mig-1g.5gb": 21}),
        (
            {"preset": "a100", "mig": {"layout": "all-balanced"}},
            2,
            {"nvidia.com/mig-1g.5gb": 4, "nvidia.com/mig-2g.10gb": 2, "nvidia.com/mig-3g.20gb": 2},
        ),
        ({"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 4}}, 2, {"nvidia.com/gpu": 8}),
        (
            {"preset": "h100", "efa": True, "zones": ONE_ZONE},
            4,
            {"nvidia.com/gpu": 4, "vpc.amazonaws.com/efa": 16},
        ),
        ({"preset": "cpu"}, 16, {}),
    ],
)
def test_a_share_is_what_its_gpus_are_cut_and_sliced_into(
    pool: dict[str, Any], share: int, expected: dict[str, int]
) -> None:
    assert extended(amounts(spec(**pool), share)) == expected


def test_a_share_of_one_gpu_may_use_an_adapter_even_where_there_is_one_for_two() -> None:
    pool = spec(preset="a100", efa=True, zones=ONE_ZONE)
    assert pool.resources["vpc.amazonaws.com/efa"] * 2 == pool.gpu_count
    assert amounts(pool, 1)["vpc.amazonaws.com/efa"] == 1


def test_all_gpus_of_a_node_come_with_all_that_pods_can_have_of_it() -> None:
    pool = spec(preset="a100")
    (node,) = allocatable(pool)
    whole = amounts(pool, pool.gpu_count)
    assert (whole["cpu"], whole["memory"]) == (node.cpu_millis, node.memory_mib)
    half = amounts(pool, pool.gpu_count // 2)
    assert half["cpu"] == node.cpu_millis // 2


def test_a_vcpu_is_less_than_a_processor_because_the_node_keeps_some() -> None:
    found = amounts(spec(preset="cpu"), 16)
    assert 14_000 < found["cpu"] < 16_000
    assert 48 * 1024 < found["memory"] < 64 * 1024


def test_a_share_of_a_pool_of_several_sizes_lets_a_job_fill_the_largest() -> None:
    pool = spec(preset="gpu-spot")
    assert amounts(pool, 1)["cpu"] == max(node.cpu_millis for node in allocatable(pool))


def test_what_a_team_may_hold_is_its_right_and_what_it_may_borrow() -> None:
    settings = platform()
    found = maximum(settings.teams["vision"], pools())
    assert (found["nvidia.com/gpu"], found["nvidia.com/mig-1g.5gb"]) == (16, 28)


def test_no_container_is_larger_than_the_largest_node_that_its_team_may_use() -> None:
    settings, known = platform(), pools()
    top = max(node.cpu_millis for node in allocatable(known["h100"]))
    assert largest_node(settings.teams["language"], known)["cpu"] == top


def test_of_pools_of_different_sizes_the_largest_bounds_processors_and_memory() -> None:
    settings, known = platform(), pools()
    found = [room for name in settings.teams["vision"].shares for room in allocatable(known[name])]
    assert len({room.cpu_millis for room in found}) > 1
    bound = largest_node(settings.teams["vision"], known)
    assert all(room.cpu_millis <= bound["cpu"] and room.memory_mib <= bound["memory"] for room in found)
    assert (bound["cpu"], bound["memory"]) in [(room.cpu_millis, room.memory_mib) for room in found]


def test_every_pool_but_that_of_controllers_is_shared() -> None:
    known = pools()
    assert sorted(name for name, pool in known.items() if shareable(pool)) == sorted({*known} - {"system"})
    assert resources_of(known["h100"])[:2] == ("cpu", "memory")
