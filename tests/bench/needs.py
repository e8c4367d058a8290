"""Waits between resources that AWS and Kubernetes need, independent of a program: the table, and its results.

The number is the waits that a program lacks. The table looks at types and inputs, and at the outputs that inputs come
from; never at `depends_on`, which is what it checks. A new wait that is a true need is a new row in `needs.yaml`, with
its reason; any other is a wait that the program can do without.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, model_validator

from slipway.render.recording import RecordedResource, Recording
from spec import strict_yaml
from tests.bench import finders
from tests.bench.figure import Figure
from tests.bench.finders import Index, at
from tests.bench.machine import Bench
from tests.bench.waits import Closure, closure, waits
from tests.support import stacks

TABLE: Final = Path(__file__).with_name("needs.yaml")
Words = str | list[str]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Alike(_Strict):
    """Resources of a type that have something in common with the one that waits."""

    type: str
    theirs: Words
    mine: Words
    form: str = "{}"


class Need(_Strict):
    """One row; `needs.yaml` explains the keys."""

    later: Words
    every: Words = ()  # type: ignore[assignment]
    inputs: Words = ()  # type: ignore[assignment]
    policies: Words = ()  # type: ignore[assignment]
    sharing: Alike | None = None
    equal: Alike | None = None
    code: str = ""
    optional: bool = False
    why: str

    @model_validator(mode="after")
    def _one_word(self) -> "Need":
        given = [word for word in ("every", "inputs", "policies", "sharing", "equal", "code") if getattr(self, word)]
        if len(given) != 1:
            msg = f"must say in one word what it waits for, not {given}"
            raise ValueError(msg)
        return self

    def waits(self, resource: RecordedResource) -> bool:
        """Whether a resource is one of those that wait."""
        if isinstance(self.later, str) and ":" not in self.later:
            is_one: Callable[[RecordedResource], object] = getattr(finders, self.later)
            return bool(is_one(resource))
        return resource.type in _list(self.later)

    def earlier(self, index: Index, later: RecordedResource) -> Iterable[RecordedResource]:
        """What such a resource must wait for."""
        if self.every:
            return index.of_type(*_list(self.every))
        if self.inputs:
            return index.behind(later, *_list(self.inputs))
        if self.policies:
            return index.policies_of(index.behind(later, *_list(self.policies)))
        if self.sharing:
            return index.sharing(later, self.sharing.type, _list(self.sharing.mine), *_list(self.sharing.theirs))
        if self.equal:
            wanted = at(later, str(self.equal.mine))
            name = self.equal.form.format(wanted)
            return [one for one in index.of_type(self.equal.type) if wanted and at(one, str(self.equal.theirs)) == name]
        find: Callable[[Index, RecordedResource], Iterable[RecordedResource]] = getattr(finders, self.code)
        return find(index, later)


def _list(words: Words) -> list[str]:
    return [words] if isinstance(words, str) else list(words)


def _read() -> dict[str, Need]:
    rows: Mapping[str, Any] = strict_yaml.read(TABLE.read_text(encoding="utf-8"))
    return {name: Need.model_validate(row) for name, row in rows.items()}


NEEDS: Final = _read()


@dataclass(frozen=True)
class Pair:
    """Two resources of a program by URN, and the need by which the one must wait for the other."""

    need: str  # its name in `NEEDS`
    later: str  # who must wait
    earlier: str | None  # for what; `None` where the program has nothing that would satisfy the need

    def describe(self, recording: Recording) -> str:
        """The pair in words."""
        later = recording.resources[self.later].name
        if self.earlier is None:
            return f"{later} finds nothing to wait for: {self.need}"
        return f"{later} does not wait for {recording.resources[self.earlier].name}: {self.need}"


def pairs(recording: Recording) -> list[Pair]:
    """All that the table asks of one program."""
    index = Index(recording)
    wanted = [(name, need, later) for name, need in NEEDS.items() for later in recording if need.waits(later)]
    return [pair for name, need, later in wanted for pair in _pairs(index, name, need, later)]


def _pairs(index: Index, name: str, need: Need, later: RecordedResource) -> list[Pair]:
    urns = sorted({earlier.urn for earlier in need.earlier(index, later)} - {later.urn})
    if not urns and not need.optional:
        return [Pair(name, later.urn, None)]
    return [Pair(name, later.urn, urn) for urn in urns]


def missing(wanted: Iterable[Pair], before: Closure) -> list[Pair]:
    """The pairs whose later resource does not wait for the earlier one, by way of any number of others."""
    return [pair for pair in wanted if pair.earlier not in before[pair.later]]


def needed(recording: Recording) -> dict[str, frozenset[str]]:
    """The waits of the table alone, by URN."""
    after: dict[str, set[str]] = {urn: set() for urn in recording.resources}
    for pair in pairs(recording):
        if pair.earlier is not None:
            after[pair.later].add(pair.earlier)
    return {urn: frozenset(urns) for urn, urns in after.items()}


def all_needed(recording: Recording) -> Closure:
    """For each resource all that it must wait for by the table, by way of any number of others."""
    return closure(needed(recording))


def of_prod(_: Bench) -> list[Figure]:
    """The waits that stack prod lacks."""
    return [absent(stacks.recorded("prod"))]


def absent(recording: Recording) -> Figure:
    """The waits of `tests/bench/needs.yaml` that the program lacks."""
    asked, before = pairs(recording), closure(waits(recording))
    found = missing(asked, before)
    own = _explicit(recording, before)
    needed = all_needed(recording)
    unasked = sum(earlier not in needed[later] for later, earlier in own)
    return Figure(
        name="missing waits",
        value=len(found),
        unit="waits",
        bound=0,
        how=f"of {len(asked)} waits that AWS or Kubernetes need in {recording.stack}, those that its graph lacks",
        notes=(
            *(pair.describe(recording) for pair in found),
            f"{len(own)} waits of `depends_on` follow from no other; no need asks for {unasked} of them",
        ),
    )


def _explicit(recording: Recording, before: Closure) -> list[tuple[str, str]]:
    """Waits by `depends_on` that would be lost without it: later and earlier."""
    direct = waits(recording)
    return [
        (later.urn, earlier)
        for later in recording
        for earlier in later.options.depends_on
        if earlier != later.options.provider
        and not any(earlier in before[other] for other in direct[later.urn] - {earlier})
    ]
