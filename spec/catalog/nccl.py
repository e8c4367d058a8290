"""Published results of nccl-tests, by instance type."""

from dataclasses import dataclass
from decimal import Decimal

from spec.catalog.document import Source, load, source


@dataclass(frozen=True)
class AllReduce:
    """A result of `all_reduce_perf` on two nodes.

    Attributes:
        size: Size of the message, in bytes.
        busbw: Bus bandwidth, in GB/s.
        source: Where and when it was read.
    """

    size: int
    busbw: Decimal
    source: Source


def all_reduce(instance_type: str) -> AllReduce | None:
    """The published result of an instance type; None if there is none."""
    document = load("nccl.yaml")
    entry = document["types"].get(instance_type)
    return AllReduce(entry["size"], Decimal(str(entry["busbw"])), source(document)) if entry else None
