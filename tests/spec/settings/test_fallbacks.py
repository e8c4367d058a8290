"""What a pool tries when EC2 has none of its capacity, and nodes that it keeps ready."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from spec.settings.capacity import Market
from tests.spec.settings.stack import changed, loaded, problems

SPOT: Final = {"name": "spot", "market": "spot", "instanceTypes": ["g6.xlarge", "g6.2xlarge", "g6.4xlarge"]}
ELSEWHERE: Final = {"name": "elsewhere", "zones": ["us-east-1b"]}
RESERVED: Final = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}


def test_a_fallback_is_its_pool_with_other_capacity() -> None:
    capacity = {**RESERVED, "fallbacks": [ELSEWHERE, {**SPOT, "max": 2}]}
    pool = loaded({"pools.l4.capacity": capacity, "pools.l4.max": 6}).platform.pools["l4"]
    elsewhere, spot = pool.fallbacks["elsewhere"], pool.fallbacks["spot"]
    assert (elsewhere.zones, elsewhere.capacity.market, elsewhere.max) == (("us-east-1b",), Market.ON_DEMAND, 6)
    assert elsewhere.capacity.reservation is None
    assert elsewhere.instance_types == pool.instance_types
    assert (spot.zones, spot.capacity.market, spot.max) == (pool.zones, Market.SPOT, 2)
    assert (spot.disk, spot.disruption, spot.role) == (pool.disk, pool.disruption, pool.role)


@pytest.mark.parametrize(
    ("changes", "path", "rule"),
    [
        (
            {"pools.h100.capacity": {"fallbacks": [ELSEWHERE]}, "pools.h100.efa": False},
            "capacity.fallbacks", "one kind",
        ),
        (
            {"pools.h100": {"preset": "h100", "instanceTypes": ["p5en.48xlarge"], "zones": ["us-east-1a"], "efa": True,
                            "capacity": {"fallbacks": [ELSEWHERE]}}},
            "capacity.fallbacks", "in one place",
        ),
        ({"pools.h100.capacityBuffer": 1}, "capacityBuffer", "only Karpenter"),
        ({"pools.l4.capacityBuffer": 9, "pools.l4.max": 8}, "capacityBuffer", "count towards max"),
        ({"pools.l4.capacity": {"fallbacks": [SPOT, SPOT]}}, "capacity.fallbacks.1.name", "exist twice"),
        (
            {"pools.l4.capacity": {"fallbacks": [SPOT]}, "pools.l4-spot": {"preset": "cpu"}},
            "capacity.fallbacks.0.name", "exist twice",
        ),
        (
            {"pools.l4.capacity": {"fallbacks": [{**SPOT, "instanceTypes": ["g6.xlarge"]}]}},
            "capacity.fallbacks.0.instanceTypes", "at least 3",
        ),
        (
            {"pools.l4.capacity": {"fallbacks": [{**ELSEWHERE, "instanceTypes": ["g5.xlarge"]}]}},
            "capacity.fallbacks.0.instanceTypes", "same number of the same GPU",
        ),
        (
            {"pools.l4.capacity": {"fallbacks": [{**ELSEWHERE, "instanceTypes": ["g6.xlrge"]}]}},
            "capacity.fallbacks.0.instanceTypes.0", "catalog must know",
        ),
        (
            {"pools.l4.capacity": {"fallbacks": [{**ELSEWHERE, "zones": ["us-east-1f"]}]}},
            "capacity.fallbacks.0.zones", "one of the network's",
        ),
        (
            {"pools.l4.capacity": {"fallbacks": [{"name": "block", "market": "reserved"}]}},
            "capacity.fallbacks.0.reservation", "needs its reservation",
        ),
    ],
)  # fmt: skip
def test_a_fallback_that_can_not_work_is_one_problem(changes: Mapping[str, Any], path: str, rule: str) -> None:
    (problem,) = problems(changed({**changes}))
    assert problem.path.partition(".")[2].partition(".")[2] == path
    assert rule in problem.rule


def test_the_order_of_queues_names_pools_that_exist() -> None:
    assert problems(changed({"queues.poolOrder": ["h100", "l4"]})) == ()
    (problem,) = problems(changed({"queues.poolOrder": ["h100", "b200"]}))
    assert problem.path == "queues.poolOrder.1"


def test_addresses_are_counted_for_fallbacks_too() -> None:
    many = {"name": "elsewhere", "zones": ["us-east-1b"], "max": 1000}
    (problem,) = problems(changed({"pools.l4.capacity": {"market": "spot", "fallbacks": [many]}}))
    assert problem.path == "network.podCidr"
    assert "zone b" in problem.rule
