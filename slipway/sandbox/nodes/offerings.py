"""What EC2 sells in a region, as a file for Karpenter: the instance types of the catalog and their prices.

The file is read by the provider of `slipway/toolchain/go/karpenter`, which has the same fields in `catalog.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from slipway.sandbox.nodes.machine import karpenter_labels
from spec.catalog import instances, prices
from spec.catalog.instances import InstanceType
from spec.catalog.prices import Book

ON_DEMAND: Final = "on-demand"
SPOT: Final = "spot"


def types(region: str) -> list[dict[str, Any]]:
    """The types that a region sells on demand or as Spot. A type is offered in each zone of the region that has it:
    which place a zone's name stands for differs between accounts."""
    book = prices.book(region)
    sold = [kind for kind in instances.ALL.values() if kind.offered_in(region) is not False]
    return [_type(kind, offered) for kind in sold if (offered := dict(_offered(kind, book)))]


def _type(kind: InstanceType, offered: Mapping[str, Decimal]) -> dict[str, Any]:
    return {
        "name": kind.name,
        "labels": karpenter_labels(kind),
        "cpu": kind.vcpus,
        "memoryMiB": kind.usable_memory_mib,
        "maxPods": kind.max_pods,
        "nvmeGB": kind.nvme_gb,
        "gpus": kind.gpus,
        "efa": kind.efa_interfaces,
        "kubeReservedMillis": kind.vcpus * 1000 - kind.allocatable_cpu_millis,
        "kubeReservedMiB": instances.RESERVED_MIB,
        "kubeReservedMiBPerPod": instances.RESERVED_MIB_PER_POD,
        "evictionMiB": instances.EVICTION_MIB,
        "prices": {capacity: float(price) for capacity, price in offered.items()},
    }


def _offered(kind: InstanceType, book: Book) -> Iterator[tuple[str, Decimal]]:
    price = _price(kind, book)
    if price is None:
        return
    if ON_DEMAND in kind.markets:
        yield ON_DEMAND, price
    if SPOT in kind.markets:
        # The middle of the range for a type without a discount of its own, as in cost estimates.
        yield SPOT, price * (1 - book.spot.types.get(kind.name, (book.spot.low + book.spot.high) / 2))


def _price(kind: InstanceType, book: Book) -> Decimal | None:
    """On-demand price, of the one region that has all prices where its own has none."""
    found = book.instance(kind.name)
    return found.usd if found is not None else kind.usd_per_hour
