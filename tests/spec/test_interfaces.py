"""Network interfaces of EFA instance types, by network card."""

import pytest

from spec.catalog import instances
from spec.interfaces import Interface, karpenter, managed

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
