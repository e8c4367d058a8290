"""What Kubecost says of the same teams, beside the statement: its allocations by namespace.

The answer of `/model/allocation?aggregate=namespace`: a list of sets, one for each step, of allocations by name, with
`__idle__` and `__unallocated__` among them (Kubecost, "Allocation API"; names of fields: OpenCost 5f65333,
core/pkg/opencost/allocation_json.go, where a number that is none is null).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from slipway.replay.text import Row, Source, TraceError
from spec.settings import Platform

QUERY: Final = "/model/allocation?window=2026-11-01T00:00:00Z,2026-12-01T00:00:00Z&aggregate=namespace&accumulate=true"
NOTE: Final = (
    "Kubecost charges the larger of what a pod requests and uses of CPU, memory and GPUs, each at its own price;"
    " the statement charges a pod on a GPU node for GPUs alone"
)
_NODE: Final = tuple(f"{part}Cost{more}" for part in ("cpu", "gpu", "ram") for more in ("", "Adjustment"))
"""Parts of a cost that are of nodes; adjustments come from the bill."""
_FIX: Final = f"Save the JSON of GET {QUERY}, with your window"
_MOST: Final = 1e9


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """What Kubecost gives a team of the nodes.

    Attributes:
        usd: CPU, memory and GPUs; neither volumes nor network, nor shared and idle costs.
        gpu_hours: GPU hours.
    """

    usd: Fraction
    gpu_hours: Fraction


def read(source: Source, platform: Platform) -> dict[str, Allocation]:
    """The allocation of each team; a team without any has zero.

    Raises:
        TraceError: It is no answer of Kubecost, or a number is wrong.
    """
    teams = {space: name for name, team in platform.teams.items() for space in team.namespaces_of(name)}
    sums = {name: [Fraction(0), Fraction(0)] for name in platform.teams}
    for place, name, one in _allocations(source):
        if name in teams:
            row = Row(source.name, place, {key: str(value) for key, value in one.items() if value is not None})
            sums[teams[name]][0] += sum((_number(row, part) for part in _NODE), Fraction(0))
            sums[teams[name]][1] += _number(row, "gpuHours")
    return {name: Allocation(usd=usd, gpu_hours=hours) for name, (usd, hours) in sums.items()}


def _allocations(source: Source) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    document = source.document
    data = document.get("data") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or document.get("code") != 200 or not isinstance(data, list):
        given = document.get("message") if isinstance(document, Mapping) else type(document).__name__
        raise TraceError(source.name, "", "it must be an answer with code 200 and a list of sets", str(given), _FIX)
    for number, allocations in enumerate(data):
        for name, one in (allocations or {}).items():
            place = f"data[{number}].{name}"
            if not isinstance(one, Mapping):
                raise TraceError(source.name, place, "an allocation is an object", type(one).__name__, _FIX)
            yield place, str(name), one


def _number(row: Row, name: str) -> Fraction:
    """A number of an allocation; an adjustment may be negative."""
    if not row.known(name):
        return Fraction(0)
    row.number(name, most=_MOST, least=-_MOST if name.endswith("Adjustment") else 0.0)
    return Fraction(row.text(name))
