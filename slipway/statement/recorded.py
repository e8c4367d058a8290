"""The period of recorded series: what Prometheus answers to `QUERY` over a month.

A sample stands for one step of the query. The series are those of the platform's recording rules
(`components.observability.recording`), so a pod costs here what the dashboards and budgets show.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from components.observability.promql import NODE, POD_JOB
from components.observability.recording import NODE_COST, POD_COST
from slipway.replay.readers.prometheus import OWNER, samples, series
from slipway.replay.result import LeftOut
from slipway.replay.text import Source, TraceError
from slipway.statement.charges import Nodes, Period, projects
from slipway.statement.split import Key, Use
from spec.pools import resolve_all
from spec.settings import Platform

QUERY: Final = f'{{__name__=~"{"|".join((NODE, NODE_COST, POD_COST, POD_JOB, OWNER))}"}}'
_FIX: Final = f"Export the JSON of /api/v1/query_range with the query {QUERY}"
_MOST: Final = 1e6  # USD an hour of a node or pod
UNNAMED: Final = "no pool"


@dataclass
class _Read:
    """What the series say."""

    nodes: defaultdict[str, dict[Fraction, Fraction]] = field(default_factory=lambda: defaultdict(dict))
    """USD an hour by node and moment."""
    pools: dict[str, str] = field(default_factory=dict)  # pool by node
    known: defaultdict[str, set[Fraction]] = field(default_factory=lambda: defaultdict(set))
    """Moments of each node, whether it has a price or not."""
    pods: list[tuple[Mapping[str, Any], dict[Fraction, Fraction]]] = field(default_factory=list)
    """USD an hour by pod, node, team, project and moment."""
    jobs: dict[tuple[str, str], str] = field(default_factory=dict)  # Job by namespace and pod
    owners: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def moments(self) -> list[Fraction]:
        """Every moment of which anything is known."""
        found = {at for values in (*self.nodes.values(), *self.known.values()) for at in values}
        return sorted(found)


def period(source: Source, platform: Platform) -> Period:
    """What the nodes cost, and what the pods of teams had of them.

    Raises:
        TraceError: It is no answer of Prometheus, has no cost of nodes, or a series is wrong.
    """
    read = _read(source)
    moments = read.moments
    if not read.nodes or len(moments) < 2:
        raise TraceError(source.name, "", f"it has two samples of {NODE_COST} at least", len(moments), _FIX)
    step = min(later - earlier for earlier, later in itertools.pairwise(moments)) / 3600
    pools: defaultdict[str, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    unpriced = set()
    for node in sorted({*read.nodes, *read.known}):
        pool, priced = read.pools.get(node) or UNNAMED, read.nodes.get(node, {})
        pools[pool][0] += sum(priced.values(), Fraction(0)) * step
        pools[pool][1] += len(read.known[node] | priced.keys()) * step
        if read.known[node] - priced.keys():
            unpriced.add(pool)
    pods = list(_uses(read, step, platform))
    uses = tuple(use for _, use in pods if use is not None)
    missing = len({key for key, use in pods if use is None})
    return Period(
        source=f"series of Prometheus in {Path(source.name).name}, a sample each {float(step * 60):g} min",
        start=datetime.fromtimestamp(float(moments[0]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        hours=moments[-1] / 3600 - moments[0] / 3600 + step,
        pools={
            name: Nodes(usd=usd, hours=hours, unpriced=name in unpriced) for name, (usd, hours) in sorted(pools.items())
        },
        uses=uses,
        left_out=LeftOut(
            jobs=missing,
            of=len({key for key, _ in pods}),
            of_gpu_hours=float(sum((use.gpu_hours for use in uses), Fraction(0))),
            unknown=missing,
            reasons={"pods of it ran on nodes without a price": missing} if missing else {},
        ),
        notes=("pods pay by their requests; those without a team count as idle",),
    )


def _uses(read: _Read, step: Fraction, platform: Platform) -> Iterator[tuple[Key, Use | None]]:
    """Job and use of each pod of a team; no use on a node without a price. A pod's GPU hours are its part of its node's
    GPUs: what it pays of what the node costs."""
    gpus = {name: spec.gpu_count for name, spec in resolve_all(platform).items()}
    of = projects(platform)
    for metric, values in read.pods:
        team, node = str(metric.get("team") or ""), str(metric.get("node") or "")
        if not team:
            continue
        pool, costs = read.pools.get(node) or UNNAMED, read.nodes.get(node, {})
        parts = (usd / costs[at] for at, usd in values.items() if costs.get(at))
        where = str(metric.get("namespace") or ""), str(metric.get("pod") or "")
        name = read.jobs.get(where) or read.owners.get(where) or where[1]
        key: Key = (team, str(metric.get("project") or of.get(team, "")), f"{where[0]}/{name}")
        hours, usd = sum(parts, Fraction(0)) * step * gpus.get(pool, 0), sum(values.values(), Fraction(0)) * step
        yield key, Use(key=key, pool=pool, usd=usd, gpu_hours=hours) if costs else None


def _read(source: Source) -> _Read:
    read = _Read()
    for place, metric, values in series(source, _FIX):
        name = str(metric.get("__name__"))
        where = str(metric.get("namespace") or ""), str(metric.get("pod") or "")
        node = str(metric.get("node") or "")
        if name in (NODE, NODE_COST) and not node:
            raise TraceError(source.name, place, "a series of a node names it", str(metric), _FIX)
        if name == POD_COST and not (all(where) and node):
            raise TraceError(source.name, place, "a series of a pod names namespace, pod and node", str(metric), _FIX)
        if name in (NODE, NODE_COST) and metric.get("pool"):
            read.pools[node] = str(metric["pool"])
        if name == NODE_COST:
            read.nodes[node] |= _numbers(source, place, values)
        elif name == NODE:
            read.known[node] |= _numbers(source, place, values).keys()
        elif name == POD_COST:
            read.pods.append((metric, _numbers(source, place, values)))
        elif name == POD_JOB:
            read.jobs[where] = str(metric.get("workload") or "")
        elif name == OWNER:
            read.owners[where] = str(metric.get("owner_name") or "")
    return read


def _numbers(source: Source, place: str, values: Sequence[Any]) -> dict[Fraction, Fraction]:
    """Samples by their moment, in seconds since 1970, exact as they are written."""
    rows = samples(source, place, values, _MOST, _FIX)
    return {Fraction(row.text("time")): Fraction(row.text("value")) for row in rows}
