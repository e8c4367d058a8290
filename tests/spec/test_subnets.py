"""How many addresses a subnet has for pods: all but those that AWS keeps, to the last one."""

from ipaddress import IPv4Network
from typing import Any

import pytest

from spec.catalog import instances
from spec.interfaces import Interface, karpenter, managed
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


# Network interfaces of EFA instance types, by network card.


EFA_TYPES = [kind for kind in instances.ALL.values() if kind.efa_interfaces]


def test_p4d_has_one_interface_per_network_card() -> None:
    assert managed(instances.get("p4d.24xlarge")) == (
        Interface(0, 0, "efa"),
        Interface(1, 1, "efa-only"),
        Interface(2, 1, "efa-only"),
        Interface(3, 1, "efa-only"),
    )


def test_p5_has_32_interfaces() -> None:
    interfaces = managed(instances.get("p5.48xlarge"))
    assert [interface.card for interface in interfaces] == list(range(32))
    assert [interface.device for interface in interfaces] == [0] + [1] * 31
    assert [interface.kind for interface in interfaces] == ["efa"] + ["efa-only"] * 31


def test_the_first_card_of_p6_b300_has_no_efa() -> None:
    interfaces = managed(instances.get("p6-b300.48xlarge"))
    assert interfaces[0] == Interface(0, 0, "interface")
    assert [interface.card for interface in interfaces[1:]] == list(range(1, 17))


def test_karpenter_puts_addresses_and_efa_of_card_0_on_two_devices() -> None:
    interfaces = karpenter(instances.get("p5.48xlarge"))
    assert interfaces[:2] == (Interface(0, 0, "interface"), Interface(0, 1, "efa-only"))
    assert len(interfaces) == 33


@pytest.mark.parametrize("kind", EFA_TYPES, ids=lambda kind: kind.name)
def test_every_type_gets_all_its_adapters_and_one_address(kind: instances.InstanceType) -> None:
    for interfaces in (managed(kind), karpenter(kind)):
        assert sum(interface.kind in {"efa", "efa-only"} for interface in interfaces) == kind.efa_interfaces
        assert [(i.card, i.device) for i in interfaces if i.kind != "efa-only"] == [(0, 0)]
        assert len({(interface.card, interface.device) for interface in interfaces}) == len(interfaces)
        assert max(interface.card for interface in interfaces) < kind.network_cards


def test_a_type_without_efa_is_refused_with_a_fix() -> None:
    with pytest.raises(ValueError, match=r"m7i\.large has no Elastic Fabric Adapter: set `efa: false`"):
        managed(instances.get("m7i.large"))
