"""Where a workload can run: whole GPUs, MIG instances and shared GPUs, with their memory and price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from spec.catalog import gpus, instances, mig
from spec.catalog.gpus import GpuModel
from spec.pools import keys, resolve_all
from spec.pools.pool_spec import PoolSpec
from spec.pricing.model import Line
from spec.pricing.pools import Running, machines, running
from spec.settings.platform import Platform

MIB: Final = 2**20
USABLE: Final = Fraction(9, 10)
"""Share of a GPU's memory that an estimate may fill. The rest is reserved for the driver, fragmentation, and memory
that the formulas don't cover. It follows vLLM's `gpu_memory_utilization`: 0.9 by default for years, 0.92 in 2026
(vllm/config/cache.py)."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Units of one kind in a pool, or on an instance type of the catalog.

    Attributes:
        pool: Name of the pool, or of the instance type.
        unit: Name of a unit for readers: `A100-40GB`, `1g.5gb of A100-40GB`.
        resource: Extended resource that a pod requests.
        gpu: Model of the GPU.
        memory_bytes: Memory of a unit.
        per_node: Units per node.
        nodes: Maximum number of nodes.
        fabric: Whether the nodes have Elastic Fabric Adapters.
        share: Part of a node's price that is attributed to a unit.
        alone: Whether units can't work together: MIG instances have no path to each other (NVIDIA MIG User Guide,
            "Limitations": no GPU to GPU P2P), and shares of a GPU are one GPU.
        market: Capacity type of the nodes.
        low: Lowest price of a node, USD per hour; None without a dated price.
        high: Highest price of a node, USD per hour.
    """

    pool: str
    unit: str
    resource: str
    gpu: GpuModel
    memory_bytes: int
    per_node: int
    nodes: int
    fabric: bool
    share: Fraction
    alone: bool
    market: str
    low: Decimal | None
    high: Decimal | None

    @property
    def usable_bytes(self) -> int:
        """Bytes of a unit that an estimate may fill."""
        return int(self.memory_bytes * USABLE)

    def price(self, units: int) -> tuple[Decimal, Decimal] | None:
        """USD per hour for that many units, lowest and highest; beyond one node, whole nodes are counted."""
        if self.low is None or self.high is None:
            return None
        part = self.share * units if units <= self.per_node else Fraction(-(-units // self.per_node))
        scale = Decimal(part.numerator) / Decimal(part.denominator)
        return self.low * scale, self.high * scale


def of_stack(platform: Platform) -> tuple[Place, ...]:
    """Every place in a stack's GPU pools, by pool; at the declared price of a pool that has one."""
    return tuple(
        place
        for _, spec in sorted(resolve_all(platform).items())
        if spec.gpu
        for place in _of_pool(spec, spec.gpu, running(spec, platform))
    )


def of_catalog() -> tuple[Place, ...]:
    """One node of every GPU instance type of the catalog that has a price, with whole GPUs."""
    return tuple(
        Place(
            pool=kind.name,
            unit=kind.gpu_name,
            resource=keys.GPU,
            gpu=gpus.get(kind.gpu_name),
            memory_bytes=kind.gpu_memory_mib * MIB,
            per_node=kind.gpus,
            nodes=1,
            fabric=False,
            share=Fraction(1, kind.gpus),
            alone=False,
            market="on-demand",
            low=kind.usd_per_hour,
            high=kind.usd_per_hour,
        )
        for kind in instances.ALL.values()
        if kind.gpu_name and kind.usd_per_hour is not None
    )


def _of_pool(spec: PoolSpec, gpu: GpuModel, nodes: Running) -> Iterator[Place]:
    line = next((found for found in machines(spec, nodes) if isinstance(found, Line)), None)
    layout = spec.mig.profiles if spec.mig else {}
    # Pods that share a GPU, by time-slicing or MPS, share its memory.
    pods = spec.sharing.replicas if spec.sharing else 1
    for unit, resource, part, count in _units(gpu, layout):
        yield Place(
            pool=spec.name,
            unit=unit if pods == 1 else f"1/{pods} of {unit}",
            resource=resource,
            gpu=gpu,
            memory_bytes=int(gpu.memory_mib * MIB * part.memory / pods),
            per_node=count * spec.gpu_count * pods,
            nodes=spec.settings.max,
            fabric=spec.efa_count > 0,
            share=part.price / spec.gpu_count / pods,
            alone=bool(layout) or pods > 1,
            market=str(spec.market),
            low=line.low if line else None,
            high=line.high if line else None,
        )


@dataclass(frozen=True)
class _Part:
    """A unit's fraction of its GPU's memory and price."""

    memory: Fraction
    price: Fraction


def _units(gpu: GpuModel, layout: Mapping[str, int]) -> Iterator[tuple[str, str, _Part, int]]:
    """Kinds of units on one GPU: name, resource, fraction of the GPU, number of units.

    A MIG instance has its eighths of the memory (`nvidia-smi mig -lgip` shows 4.75 of 5 GiB for 1g.5gb, a difference
    that `USABLE` covers). The GPU's price is split among the instances of the layout by memory.
    """
    if not layout:
        yield gpu.name, keys.GPU, _Part(Fraction(1), Fraction(1)), 1
        return
    profiles = mig.PROFILES[gpu.name]
    slices = sum(profiles[name].memory * count for name, count in layout.items())
    for name, count in sorted(layout.items()):
        memory = profiles[name].memory
        part = _Part(Fraction(memory, mig.MEMORY_SLICES), Fraction(memory, slices))
        yield f"{name} of {gpu.name}", mig.resource_name(name), part, count
