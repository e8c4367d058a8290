"""How many addresses a subnet has for pods: all but those that AWS keeps, to the last one."""

from ipaddress import IPv4Network
from typing import Any

import pytest

from spec.settings.zones import UPGRADE_ADDRESSES
from spec.subnets import addresses_per_node, layout
from tests.spec.settings.stack import DELETE, changed, loaded, problems

RESERVED = ("network", "router", "DNS server", "future use", "broadcast")
"""What AWS keeps the first four addresses and the last one of a subnet for (VPC User Guide, "Subnet sizing")."""
VPC = "10.16.0.0/20"
USABLE = 512 - len(RESERVED)
"""Of a private subnet of that VPC, which is a /23."""

FULL = ((5, 64), (1, 80))
"""Nodes at the maximum, and pods a node, that leave no address."""
ONE_MORE = ((3, 64), (4, 48))


def settings(sizes: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    """A stack with these pools in one zone, and its system nodes in another."""
    pools = {
        f"pool{n}": {"preset": "cpu", "zones": ["us-east-1a"], "max": nodes, "maxPods": pods}
        for n, (nodes, pods) in enumerate(sizes)
    }
    system = {"preset": "system", "zones": ["us-east-1b"]}
    return {"network.cidr": VPC, "network.podCidr": DELETE, "pools": {"system": system, **pools}, "addons": {}}


def needed(sizes: tuple[tuple[int, int], ...]) -> int:
    """Addresses that a zone needs, as loading the settings resolves the pools."""
    found = loaded(settings(sizes)).platform.pools
    return UPGRADE_ADDRESSES + sum(
        pool.max * addresses_per_node(pool) for name, pool in found.items() if name != "system"
    )


def test_pools_may_take_the_last_address_of_a_subnet_that_aws_does_not_keep() -> None:
    assert needed(FULL) == USABLE
    assert problems(changed(settings(FULL))) == ()


def test_pools_may_take_no_address_that_aws_keeps() -> None:
    (problem,) = problems(changed(settings(ONE_MORE)))
    assert f"needs {USABLE + 1} pod addresses" in problem.rule
    assert problem.value == f"{USABLE} addresses"


@pytest.mark.parametrize(("cidr", "pod_cidr"), [("10.0.0.0/16", None), ("10.0.0.0/20", "100.64.0.0/16")])
def test_pods_get_the_addresses_of_their_own_range_where_there_is_one(cidr: str, pod_cidr: str | None) -> None:
    pods = IPv4Network(pod_cidr) if pod_cidr else None
    ranges = layout(IPv4Network(cidr), ["us-east-1b"], pods)["b"]
    usable = list(ranges.pods or ranges.private)[4:-1]
    assert ranges.pod_addresses == len(usable)
