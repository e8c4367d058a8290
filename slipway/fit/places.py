"""Where a workload can run, which places hold it, the cheapest first, and why others do not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from slipway.fit.activations import GIB, Memory, memory
from slipway.fit.workload import Workload, problems
from spec.catalog import gpus, instances, mig
from spec.catalog.gpus import GpuModel
from spec.pools import keys, resolve_all
from spec.pools.pool_spec import PoolSpec
from spec.pricing.model import Line
from spec.pricing.pools import Running, machines, running
from spec.settings.platform import Platform

# Where a workload can run: whole GPUs, MIG instances and shared GPUs, with their memory and price.


MIB: Final = 2**20
USABLE: Final = Fraction(9, 10)
"""Share of a GPU's memory that an estimate may fill. The rest is reserved for the driver, fragmentation, and memory
that the formulas don't cover. It follows vLLM's `gpu_memory_utilization`: 0.9 by default for years, 0.92 in 2026
(vllm/config/cache.py)."""


@dataclass(frozen=True, kw_only=True)
class FitPlace:
    """Units of one kind in a pool, or on an instance type of the catalog."""

    pool: str  # name of the pool, or of the instance type
    unit: str  # name of a unit for readers: `A100-40GB`, `1g.5gb of A100-40GB`
    resource: str  # extended resource that a pod requests
    gpu: GpuModel
    memory_bytes: int  # memory of a unit
    per_node: int  # units per node
    nodes: int  # maximum number of nodes
    fabric: bool  # whether the nodes have Elastic Fabric Adapters
    share: Fraction  # part of a node's price that is attributed to a unit
    alone: bool
    """Whether units can't work together: MIG instances have no path to each other (NVIDIA MIG User Guide,
    "Limitations": no GPU to GPU P2P), and shares of a GPU are one GPU."""
    market: str  # capacity type of the nodes
    low: Decimal | None  # lowest price of a node, USD per hour; None without a dated price
    high: Decimal | None  # highest price of a node, USD per hour

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


def of_stack(platform: Platform) -> tuple[FitPlace, ...]:
    """Every place in a stack's GPU pools, by pool; at the declared price of a pool that has one."""
    return tuple(
        place
        for _, spec in sorted(resolve_all(platform).items())
        if spec.gpu
        for place in _of_pool(spec, spec.gpu, running(spec, platform))
    )


def of_catalog() -> tuple[FitPlace, ...]:
    """One node of every GPU instance type of the catalog that has a price, with whole GPUs."""
    return tuple(
        FitPlace(
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


def _of_pool(spec: PoolSpec, gpu: GpuModel, nodes: Running) -> Iterator[FitPlace]:
    line = next((found for found in machines(spec, nodes) if isinstance(found, Line)), None)
    layout = spec.mig.profiles if spec.mig else {}
    # Pods that share a GPU, by time-slicing or MPS, share its memory.
    pods = spec.sharing.replicas if spec.sharing else 1
    for unit, resource, part, count in _units(gpu, layout):
        yield FitPlace(
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

    The GPU's price is split among the instances of the layout by their slices of memory.
    """
    if not layout:
        yield gpu.name, keys.GPU, _Part(Fraction(1), Fraction(1)), 1
        return
    profiles = mig.PROFILES[gpu.name]
    slices = sum(profiles[name].memory * count for name, count in layout.items())
    for name, count in sorted(layout.items()):
        profile = profiles[name]
        part = _Part(Fraction(profile.memory_mib, gpu.memory_mib), Fraction(profile.memory, slices))
        yield f"{name} of {gpu.name}", mig.resource_name(name), part, count


# Which places hold a workload, the cheapest first, and why others do not.


@dataclass(frozen=True)
class Choice:
    """A place that holds the workload on `units` units, each using `memory`."""

    place: FitPlace
    units: int
    memory: Memory

    @property
    def price(self) -> tuple[Decimal, Decimal] | None:
        """USD per hour, lowest and highest."""
        return self.place.price(self.units)

    @property
    def nodes(self) -> int:
        """Minimum number of nodes."""
        return -(-self.units // self.place.per_node)


@dataclass(frozen=True)
class Refusal:
    """A place that does not hold the workload, and why."""

    place: FitPlace
    why: str


@dataclass(frozen=True)
class Answer:
    """Places that hold the workload, sorted by price, and those that do not."""

    choices: tuple[Choice, ...]
    refusals: tuple[Refusal, ...]


_TRAIN_FIXES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("--loss chunked", {"loss": "chunked"}),
    ("--checkpointing selective", {"checkpointing": "selective"}),
    ("--checkpointing full", {"checkpointing": "full"}),
    ("--zero 3", {"zero": 3}),
    ("--optimizer adamw8bit", {"optimizer": "adamw8bit"}),
    ("--lora 16", {"lora": 16}),
    ("--precision nf4", {"precision": "nf4"}),
)
_SERVE_FIXES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("--precision fp8", {"precision": "fp8"}),
    ("--kv-cache-dtype fp8", {"cache": "fp8"}),
    ("--precision int4", {"precision": "int4"}),
    ("--batch 1", {"batch": 1}),
)
"""Options that reduce memory, the mildest first."""


def choose(work: Workload, places: Iterable[FitPlace]) -> Answer:
    """Try every place with the fewest units that hold the workload."""
    results = [_try(work, place) for place in places]
    choices = sorted((one for one in results if isinstance(one, Choice)), key=_by_price)
    return Answer(tuple(choices), tuple(one for one in results if isinstance(one, Refusal)))


def fixes(work: Workload, places: Iterable[FitPlace]) -> tuple[str, ...]:
    """Options that make it fit: every option that is enough alone, else the shortest combination, mildest first."""
    candidates = tuple(places)
    steps = _TRAIN_FIXES if work.mode == "train" else _SERVE_FIXES
    alone = tuple(text for text, change in steps if _holds(replace(work, **change), candidates))
    if alone:
        return alone
    changed, options = work, dict[str, str]()
    for text, change in steps:
        changed = replace(changed, **change)
        options[next(iter(change))] = text
        if _holds(changed, candidates):
            return (" ".join(options.values()),)
    return ()


def counts(work: Workload, place: FitPlace) -> Iterator[int]:
    """Possible numbers of units that share a workload on a place, in ascending order.

    Tensor parallelism stays within a node. Serving uses it with 1, 2, 4, ... units, times the stages of a pipeline;
    training uses the units that one copy of the model takes, and with ZeRO multiples of them.
    """
    split = work.model_parallel
    if place.alone:
        yield from [1] if split == 1 else []
        return
    sizes = [2**power for power in range(place.per_node.bit_length()) if 2**power <= place.per_node]
    if work.mode == "serve":
        for units in sizes:
            if work.model.heads % units == 0 and _holds_units(units * split, place):
                yield units * split
        return
    if work.tensor_parallel > place.per_node:
        return
    # Beyond one node, only whole nodes take part in the sharding.
    groups = sorted({split, *sizes, *(nodes * place.per_node for nodes in range(2, place.nodes + 1))})
    for units in groups:
        if units % split == 0 and (units == split or work.zero) and _holds_units(units, place):
            yield units


def _holds_units(units: int, place: FitPlace) -> bool:
    return units <= place.per_node or (units % place.per_node == 0 and units <= place.per_node * place.nodes)


def _try(work: Workload, place: FitPlace) -> Choice | Refusal:
    needs = work.numbers.needs
    if needs and place.gpu.architecture not in needs:
        return Refusal(place, f"{place.gpu.name} ({place.gpu.architecture}) does not support {work.precision}")
    units, held = 0, None
    for units in counts(work, place):
        held = memory(work, units)
        if held.total <= place.usable_bytes:
            return Choice(place, units, held)
    if held is None:
        return Refusal(place, f"it doesn't have the {work.model_parallel} units of one copy of the model")
    return Refusal(place, lacks(work, place, units))


def lacks(work: Workload, place: FitPlace, units: int) -> str:
    """Why so many units of a place don't hold a workload; empty if they do."""
    held = memory(work, units)
    if held.total <= place.usable_bytes:
        return ""
    many = f"each of {units} units" if units > 1 else "one unit"
    return f"{many} needs {held.total / GIB:.1f} GiB, but only {place.usable_bytes / GIB:.1f} GiB are usable"


def _holds(work: Workload, places: Iterable[FitPlace]) -> bool:
    return not any(problems(work)) and any(isinstance(_try(work, place), Choice) for place in places)


def _by_price(choice: Choice) -> tuple[bool, Decimal, Decimal, str, str]:
    price = choice.price
    low, high = price or (Decimal(0), Decimal(0))
    return (price is None, high, low, choice.place.pool, choice.place.unit)
