"""Network interfaces of nodes with Elastic Fabric Adapters, by network card.

A node has one IP address, whatever the number of cards: only the interface on card 0 has one, the others are only for
EFA (EC2 User Guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards", 2026).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from spec.catalog.instances import InstanceType

InterfaceType = Literal["interface", "efa", "efa-only"]


@dataclass(frozen=True, order=True)
class Interface:
    """One network interface of an instance to launch."""

    card: int
    device: int
    kind: InterfaceType


PRIMARY: Final = (Interface(0, 0, "interface"),)  # interfaces of a node without EFA


def managed(kind: InstanceType) -> tuple[Interface, ...]:
    """Interfaces in a launch template: card 0 has the IP address and, if it supports EFA, one `efa` interface for both.

    Raises:
        ValueError: If the instance type has no EFA.
    """
    first: InterfaceType = "efa" if 0 in _cards(kind) else "interface"
    rest = (Interface(card, 1, "efa-only") for card in kind.efa_cards if card != 0)
    return (Interface(0, 0, first), *rest)


def karpenter(kind: InstanceType) -> tuple[Interface, ...]:
    """Interfaces in an EC2NodeClass. The primary one must be of type `interface`, so card 0 has two devices (Karpenter
    v1.14.1, EC2NodeClass CRD, `networkInterfaces`).

    Raises:
        ValueError: The type has no EFA.
    """
    return (Interface(0, 0, "interface"), *(Interface(card, 1, "efa-only") for card in _cards(kind)))


def for_pods(interfaces: Iterable[Interface], kind: InstanceType, *, pod_subnets: bool) -> int:
    """Number of interfaces whose addresses the VPC CNI gives to pods: those of card 0 that it finds there or adds.

    EFA-only ones have no addresses and take a place on their card. If pods have subnets of their own, the first
    interface is in a subnet that pods are kept out of (amazon-vpc-cni-k8s v1.23.1, pkg/ipamd/ipamd.go,
    `filterUnmanagedENIs` and `hasRoomForEni`). More than one card is used only with `ENABLE_MULTI_NIC`, which is off.

    Args:
        interfaces: Interfaces with which EC2 launches the node.
    """
    without_addresses = sum(one.card == 0 and one.kind == "efa-only" for one in interfaces)
    return kind.primary_card_enis - without_addresses - pod_subnets


def _cards(kind: InstanceType) -> tuple[int, ...]:
    if not kind.efa_cards:
        msg = f"{kind.name} has no Elastic Fabric Adapter: set `efa: false`, or use a type that has one"
        raise ValueError(msg)
    return kind.efa_cards
