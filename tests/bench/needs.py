"""Waits between resources that AWS and Kubernetes need, independent of a program: the table, and its results.

From the table follow two numbers: the shortest possible way to a whole platform, which has these waits and no other,
and the waits that a program lacks. The table knows nothing of how components are wired. A new wait that is a true need
is a new row in `tests/bench/needed`, with its reason; any other is a wait that the program can do without.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from slipway.render.recording import RecordedResource, Recording
from tests.bench.durations import DEFAULT_SECONDS, seconds_of
from tests.bench.needed import account, charts, cluster, network, nodes, storage
from tests.bench.needed.need import Index, Need
from tests.bench.waits import Closure, Graph, closure

_PARTS: Final = (network.NEEDS, cluster.NEEDS, nodes.NEEDS, charts.NEEDS, storage.NEEDS, account.NEEDS)
NEEDS: Final[Mapping[str, Need]] = {name: need for part in _PARTS for name, need in part.items()}


@dataclass(frozen=True)
class Pair:
    """Two resources of a program by URN, and the need by which the one must wait for the other.

    Attributes:
        need: Its name in `NEEDS`.
        later: Who must wait.
        earlier: For what; `None` where the program has nothing that would satisfy the need.
    """

    need: str
    later: str
    earlier: str | None

    def describe(self, recording: Recording) -> str:
        """The pair in words."""
        later = recording.resources[self.later].name
        if self.earlier is None:
            return f"{later} finds nothing to wait for: {self.need}"
        return f"{later} does not wait for {recording.resources[self.earlier].name}: {self.need}"


def pairs(recording: Recording) -> list[Pair]:
    """All that the table asks of one program."""
    index = Index(recording)
    wanted = [(name, need, later) for name, need in NEEDS.items() for later in recording if need.later(later)]
    return [pair for name, need, later in wanted for pair in _pairs(index, name, need, later)]


def _pairs(index: Index, name: str, need: Need, later: RecordedResource) -> list[Pair]:
    urns = sorted({earlier.urn for earlier in need.earlier(index, later)} - {later.urn})
    if not urns and need.required:
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


def shortest(recording: Recording, default: float = DEFAULT_SECONDS) -> Graph:
    """The same program with the waits of the table and no other; `default` as of `seconds_of`."""
    return Graph(seconds_of(recording, default), needed(recording))


def all_needed(recording: Recording) -> Closure:
    """For each resource all that it must wait for by the table, by way of any number of others."""
    return closure(needed(recording))
