"""VPC addresses of a node, with prefix delegation of the VPC CNI."""

from __future__ import annotations

from math import ceil
from typing import Final, Protocol

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
