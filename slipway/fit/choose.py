"""Which places hold a workload, the cheapest first, and why others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from slipway.fit.checks import problems
from slipway.fit.memory import GIB, Memory, memory
from slipway.fit.places import Place
from slipway.fit.workload import Workload


@dataclass(frozen=True)
class Choice:
    """A place that holds the workload on `units` units, each using `memory`."""

    place: Place
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

    place: Place
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


def choose(work: Workload, places: Iterable[Place]) -> Answer:
    """Try every place with the fewest units that hold the workload."""
    results = [_try(work, place) for place in places]
    choices = sorted((one for one in results if isinstance(one, Choice)), key=_by_price)
    return Answer(tuple(choices), tuple(one for one in results if isinstance(one, Refusal)))


def fixes(work: Workload, places: Iterable[Place]) -> tuple[str, ...]:
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


def counts(work: Workload, place: Place) -> Iterator[int]:
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


def _holds_units(units: int, place: Place) -> bool:
    return units <= place.per_node or (units % place.per_node == 0 and units <= place.per_node * place.nodes)


def _try(work: Workload, place: Place) -> Choice | Refusal:
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
    many = f"each of {units} units" if units > 1 else "one unit"
    why = f"{many} needs {held.total / GIB:.1f} GiB, but only {place.usable_bytes / GIB:.1f} GiB are usable"
    return Refusal(place, why)


def _holds(work: Workload, places: Iterable[Place]) -> bool:
    return not any(problems(work)) and any(isinstance(_try(work, place), Choice) for place in places)


def _by_price(choice: Choice) -> tuple[bool, Decimal, Decimal, str, str]:
    price = choice.price
    low, high = price or (Decimal(0), Decimal(0))
    return (price is None, high, low, choice.place.pool, choice.place.unit)
