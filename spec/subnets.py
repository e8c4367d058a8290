"""Ranges of the subnets: a pure function of the VPC's range and the zone's letter.

The VPC is divided into eight equal slots. Slots 0 to 6 belong to the zones `a` to `g` by letter (us-east-1 has six, the
most of any region), whether in use or not: adding a zone later moves nothing. Slot 7 is divided into eight again, one
small public subnet for each zone, for NAT gateways and load balancers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from math import ceil
from typing import Final, Protocol

from spec.naming import zone_letter

SLOT_BITS: Final = 3
PUBLIC_SLOT: Final = 7
AWS_RESERVED: Final = 5  # addresses that AWS reserves in every subnet (VPC User Guide, "Subnet sizing")


@dataclass(frozen=True)
class ZoneRanges:
    """Ranges of one zone."""

    private: IPv4Network
    public: IPv4Network
    pods: IPv4Network | None

    @property
    def pod_addresses(self) -> int:
        """Addresses that are available to pods of this zone."""
        return (self.pods or self.private).num_addresses - AWS_RESERVED


def layout(cidr: IPv4Network, zones: Iterable[str], pod_cidr: IPv4Network | None = None) -> dict[str, ZoneRanges]:
    """Ranges by zone letter.

    Args:
        zones: Zone names, such as `us-east-1a`.
        pod_cidr: Secondary range for pods, where there is one.
    """
    slots = list(cidr.subnets(prefixlen_diff=SLOT_BITS))
    public = list(slots[PUBLIC_SLOT].subnets(prefixlen_diff=SLOT_BITS))
    pods = list(pod_cidr.subnets(prefixlen_diff=SLOT_BITS)) if pod_cidr else None
    ranges = {}
    for zone in sorted(zones):
        slot = ord(zone_letter(zone)) - ord("a")
        ranges[zone_letter(zone)] = ZoneRanges(slots[slot], public[slot], pods[slot] if pods else None)
    return ranges


PREFIX_SIZE: Final = 16
"""Addresses of the /28 prefix that the CNI attaches at a time (EKS User Guide, "Assign more IP addresses")."""
WARM_PREFIXES: Final = 1
"""Prefixes kept ready beyond those in use: `WARM_PREFIX_TARGET=1`, as `components.cluster` sets it."""


class HasMaxPods(Protocol):
    """Anything with a maximum number of pods per node."""

    @property
    def max_pods(self) -> int:
        """Maximum number of pods per node."""
        ...


def addresses_per_node(pool: HasMaxPods) -> int:
    """Addresses that a full node holds: prefixes in use, the warm one, and its own primary address."""
    return (ceil(pool.max_pods / PREFIX_SIZE) + WARM_PREFIXES) * PREFIX_SIZE + 1


def max_pods_of(enis: int, ipv4_per_eni: int) -> int:
    """Pods that an instance type's interfaces can address with prefixes (same guide: each slot holds a prefix)."""
    return enis * (ipv4_per_eni - 1) * PREFIX_SIZE + 2
