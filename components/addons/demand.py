"""Resource requests of all controllers compared with the allocatable resources of the system pools.

An add-on that doesn't fit stays Pending, and so does whatever needs its webhook: a system pool that is too small shows
up as an unrelated failure. Requests are read from the values of the releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.base.addon import AddOn, AddOnContext
from spec.pools import keys
from spec.pools.allocatable import allocatable
from spec.quantities import parse, to_mebibytes
from spec.settings.pools import Role

_OF_EKS: Final = (1000, 2048)
"""vCPU in thousandths and MiB for CoreDNS, metrics-server and the CSI controllers, each twice: 100m and 70Mi to 200Mi
for the first two, 10m and 40Mi for each container of the others (defaults of their charts, 2026-11)."""
_OF_SCALERS: Final = (1100, 2648)
"""Karpenter twice and Cluster Autoscaler (components.addons.karpenter, components.addons.cluster_autoscaler)."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Requests of pods."""

    cpu_millis: int  # thousandths of a vCPU
    memory_mib: int
    largest_mib: int = 0  # memory of the largest of them

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            cpu_millis=self.cpu_millis + other.cpu_millis,
            memory_mib=self.memory_mib + other.memory_mib,
            largest_mib=max(self.largest_mib, other.largest_mib),
        )


NOTHING: Final = Demand(cpu_millis=0, memory_mib=0)


def of_values(values: Mapping[str, Any]) -> Demand:
    """Requests of the pods of a release that run on the system pools.

    A part of the values counts if it or an enclosing part selects the role `system`. Its replicas are the nearest
    `replicas` or `replicaCount`, or 1.
    """
    return sum(_parts(values, system=False, replicas=1), NOTHING)


def of_addons(addons: Iterable[AddOn[Any]], context: AddOnContext) -> Demand:
    """Requests of all add-ons, including the EKS add-ons, Karpenter and Cluster Autoscaler."""
    beside = (Demand(cpu_millis=cpu, memory_mib=memory) for cpu, memory in (_OF_EKS, _OF_SCALERS))
    requested = (of_values(chart.values) for addon in addons for chart in addon.parts(context).releases)
    return sum([*requested, *beside], NOTHING)


def shortage(addons: Iterable[AddOn[Any]], context: AddOnContext) -> str | None:
    """Why the system pools are too small even at `max` nodes, and the fix; None if they are large enough."""
    wanted = of_addons(addons, context)
    pools = {
        spec.name: (allocatable(spec)[0], spec.settings.max)
        for spec in context.pools.values()
        if spec.role is Role.SYSTEM
    }
    if not pools:  # The nodes are those that the cluster has.
        return None
    cpu = sum(node.cpu_millis * nodes for node, nodes in pools.values())
    memory = sum(node.memory_mib * nodes for node, nodes in pools.values())
    names = ", ".join(f"pools.{name}" for name in pools)
    largest = max((node.memory_mib for node, _ in pools.values()), default=0)
    if wanted.largest_mib > largest:
        return (
            f"{names}: a controller requests {wanted.largest_mib / 1024:.1f} GiB, but a system node has at most "
            f"{largest / 1024:.1f} GiB allocatable, so its pod would stay pending forever. Use larger instance types."
        )
    if wanted.cpu_millis <= cpu and wanted.memory_mib <= memory:
        return None
    return (
        f"{names}: the controllers of all add-ons request {wanted.cpu_millis / 1000:.1f} vCPU and "
        f"{wanted.memory_mib / 1024:.1f} GiB, but the system pools have {cpu / 1000:.1f} vCPU and "
        f"{memory / 1024:.1f} GiB allocatable at `max` nodes. Raise `max`, or use larger instance types."
    )


def _parts(value: Any, *, system: bool, replicas: int) -> Iterator[Demand]:
    if isinstance(value, list):
        for item in value:
            yield from _parts(item, system=system, replicas=replicas)
    if not isinstance(value, Mapping):
        return
    selector = value.get("nodeSelector")
    if isinstance(selector, Mapping):
        system = selector.get(keys.ROLE) == str(Role.SYSTEM)
    count = value.get("replicas", value.get("replicaCount"))
    replicas = count if isinstance(count, int) else replicas
    requests = value.get("resources", {}).get("requests") if isinstance(value.get("resources"), Mapping) else None
    if system and isinstance(requests, Mapping) and "storage" not in requests:
        one = int(to_mebibytes(requests.get("memory", 0)))
        cpu = int(replicas * parse(requests.get("cpu", 0)) * 1000)
        yield Demand(cpu_millis=cpu, memory_mib=replicas * one, largest_mib=one)
    for key, item in value.items():
        if key not in ("nodeSelector", "resources"):
            yield from _parts(item, system=system, replicas=replicas)
