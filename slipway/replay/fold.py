"""Folds the engine's events into the result: who waited for what, which GPUs were busy, and who pays."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from slipway.replay.plan import Plan, Planned
from slipway.replay.result import (
    Decided,
    Held,
    Jobs,
    LeftOut,
    Outcome,
    PoolUse,
    Result,
    TeamUse,
    Timeline,
    TraceFacts,
    Used,
    Waits,
)
from slipway.replay.sentences import sentence
from slipway.replay.steps import HOUR, Steps, waits
from spec.catalog import instances
from spec.errors import fail
from spec.quantities import CPU, parse

POINTS: Final = 168  # steps of the timeline: an hour each in a week
LONGEST: Final = 10
MODEL: Final = "model"
_LAYERS: Final = frozenset({"queue", "placement", "node"})


@dataclass
class _Run:
    """A job that runs: since when, and what it has of which pool."""

    since: float
    usd_per_hour: float = 0.0
    used: dict[str, float] = field(default_factory=dict)


@dataclass
class _State:
    """What is known of one job."""

    planned: Planned
    submitted: float
    started: float | None = None
    ended: bool = False
    run: _Run | None = None
    layer: str = ""
    message: str = ""
    since: float = 0.0
    held: dict[tuple[str, str], float] = field(default_factory=dict)
    gpu_hours_of: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    usd_of: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    preemptors: Counter[str] = field(default_factory=Counter)
    eviction: str = ""
    preempted: int = 0
    lost_gpu_hours: float = 0.0

    @property
    def usd(self) -> float:
        return sum(self.usd_of.values())

    @property
    def gpu_hours(self) -> float:
        return sum(self.gpu_hours_of.values())

    def says(self, at: float, layer: str, message: str) -> None:
        """End what was said before, and begin with what is said now."""
        if self.layer and self.started is None:
            key = (self.layer, self.message)
            self.held[key] = self.held.get(key, 0.0) + at - self.since
        self.layer, self.message, self.since = layer, message, at


@dataclass(frozen=True)
class _Node:
    pool: str
    size: float
    usd_per_hour: float
    launched: float


class Fold:
    """The events so far; `result` may be called at any time, and for a replay that was cut.

    With `every`, its longest waits are those of all jobs, also of those that were refused.
    """

    def __init__(self, plan: Plan, *, stack: str, source: str, form: str, every: bool = False) -> None:
        self._every = every
        self._plan, self._stack, self._source, self._form = plan, stack, source, form
        self._states: dict[str, _State] = {}
        self._gone: dict[str, _State] = {}
        self._nodes: dict[str, _Node] = {}
        self._engine: Mapping[str, str] = {}
        self._summary: Mapping[str, Any] = {}
        self._refused = {one.id: one.refused for one in plan.jobs.values() if one.refused}
        self._evictions: Counter[str] = Counter()
        self._launches: Counter[str] = Counter()
        self._node_hours: defaultdict[str, float] = defaultdict(float)
        self._usd: defaultdict[str, float] = defaultdict(float)
        self._used_usd: defaultdict[str, float] = defaultdict(float)
        self._pending: defaultdict[str, Steps] = defaultdict(Steps)
        self._series: dict[str, defaultdict[str, Steps]] = {
            name: defaultdict(Steps) for name in ("busy", "paid", "nodes", "usd")
        }
        self.now = 0.0

    def add(self, event: Mapping[str, Any]) -> None:
        """Add one event."""
        try:
            self.now = max(self.now, float(event["t"]))
            # A kind without a handler changes nothing in the result.
            if handler := getattr(self, f"_on_{event['kind']}", None):
                handler(self.now, event)
        except (KeyError, TypeError, ValueError) as error:
            fail(
                f"the engine of the replay reports what this version can't read ({error!r}): {dict(event)!r:.300}",
                error,
            )

    # What an event changes.

    def _on_engine(self, at: float, event: Mapping[str, Any]) -> None:  # noqa: ARG002 - as for the others
        self._engine = {str(part): str(by) for part, by in event["engine"].items()}

    def _on_summary(self, at: float, event: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._summary = event

    def _on_submitted(self, at: float, event: Mapping[str, Any]) -> None:
        planned = self._plan.jobs[event["job"]]
        self._states[event["job"]] = _State(planned, at, since=at)
        self._pending[planned.team].add(at, 1)

    def _on_pending(self, at: float, event: Mapping[str, Any]) -> None:
        self._states[event["job"]].says(at, str(event["layer"]), str(event["message"]))

    def _on_admitted(self, at: float, event: Mapping[str, Any]) -> None:
        self._states[event["job"]].says(at, "", "")

    def _on_running(self, at: float, event: Mapping[str, Any]) -> None:
        state = self._states[event["job"]]
        state.says(at, "", "")
        if state.started is None:
            state.started = at
        state.run = _Run(at)
        for name in event["nodes"]:
            node = self._nodes[name]
            amount, share = self._part(state.planned, node)
            state.run.usd_per_hour += node.usd_per_hour * share
            state.run.used[node.pool] = state.run.used.get(node.pool, 0.0) + amount
        for pool, amount in state.run.used.items():
            self._series["busy"][pool].add(at, amount)
        self._pending[state.planned.team].add(at, -1)

    def _part(self, planned: Planned, node: _Node) -> tuple[float, float]:
        """GPUs, or CPUs, that a pod has of a node, and which part of the node that is."""
        fit = planned.fit
        assert fit is not None  # noqa: S101 - a job that runs has a place
        place = next(one for one in self._plan.places if one.name == node.pool)
        amount = float(place.gpus_of(fit.requests))
        if not place.parts:
            amount = float(parse(fit.requests[CPU]))
        return amount, min(1.0, amount / node.size) if node.size else 0.0

    def _on_evicted(self, at: float, event: Mapping[str, Any]) -> None:
        state = self._states[event["job"]]
        running = state.run is not None
        self._stop(at, state)
        self._evictions[str(event["reason"])] += 1
        state.eviction = str(event.get("message") or "")
        state.preempted += event.get("by") is not None
        if event.get("by") is not None:
            state.preemptors[self._plan.jobs[event["by"]].job.name] += 1
        state.lost_gpu_hours += float(event.get("lostSeconds") or 0.0) / HOUR * state.planned.gpus
        if running:
            self._pending[state.planned.team].add(at, 1)
        state.says(at, "queue", str(event.get("message") or ""))

    def _on_finished(self, at: float, event: Mapping[str, Any]) -> None:
        state = self._states[event["job"]]
        self._stop(at, state)
        state.ended = True

    def _on_refused(self, at: float, event: Mapping[str, Any]) -> None:
        self._refused[event["job"]] = str(event["message"])
        state = self._states.pop(event["job"], None)
        if state is None:
            return
        state.says(at, "", "")
        self._gone[event["job"]] = state
        if state.run is None:
            self._pending[state.planned.team].add(at, -1)

    def _stop(self, at: float, state: _State) -> None:
        run, state.run = state.run, None
        if run is None:
            return
        for pool, amount in run.used.items():
            self._series["busy"][pool].add(at, -amount)
        self._account(at, state, run)

    def _account(self, at: float, state: _State, run: _Run) -> None:
        """Hours and money of a job since it started to run."""
        hours = (at - run.since) / HOUR
        whole = sum(run.used.values())
        for pool, amount in run.used.items():
            usd = run.usd_per_hour * hours * (amount / whole if whole else 0.0)
            self._used_usd[pool] += usd
            state.usd_of[pool] += usd
            state.gpu_hours_of[pool] += amount * hours if self._has_gpus(pool) else 0.0

    def _has_gpus(self, pool: str) -> bool:
        return self._plan.pools[pool].gpu is not None

    def _on_node(self, at: float, event: Mapping[str, Any]) -> None:
        name, state = str(event["node"]), str(event["state"])
        if state == "launched":
            spec = self._plan.pools[event["pool"]]
            kind = instances.get(str(event["instanceType"]))
            size = float(kind.gpus if spec.gpu_count else kind.allocatable_cpu_millis / 1000)
            node = _Node(spec.pool, size, float(event["usdPerHour"]), at)
            self._nodes[name] = node
            self._launches[node.pool] += 1
            self._count(at, node, 1)
        elif state == "removed":
            node = self._nodes[name]
            self._count(at, node, -1)
            self._pay(at, node)
            del self._nodes[name]

    def _count(self, at: float, node: _Node, by: int) -> None:
        for series, amount in (("nodes", 1.0), ("paid", node.size), ("usd", node.usd_per_hour)):
            self._series[series][node.pool].add(at, by * amount)

    def _pay(self, at: float, node: _Node) -> None:
        hours = (at - node.launched) / HOUR
        self._node_hours[node.pool] += hours
        self._usd[node.pool] += hours * node.usd_per_hour

    # The result.

    def result(self, *, cut_by: str = "", assumptions: Sequence[str] = ()) -> Result:
        """What is known at this moment; afterwards no event is added.

        Args:
            cut_by: Why it was cut, if the engine could not say so.
            assumptions: What was assumed of the stack.
        """
        end = self.now
        for node in self._nodes.values():
            self._pay(end, node)
        for state in self._states.values():
            if state.run is not None:
                self._account(end, state, state.run)
            elif not state.ended:
                state.says(end, state.layer, state.message)
        cut = bool(self._summary.get("cut", True))
        reason = str(self._summary.get("reason") or cut_by or ("the engine ended early" if not self._summary else ""))
        states = list(self._states.values())
        return Result(
            stack=self._stack,
            left_out=self._left_out(),
            trace=TraceFacts(
                source=self._source,
                format=self._form,
                jobs=len(self._plan.jobs),
                notes=list(self._plan.notes),
                teams=dict(sorted(self._plan.teams.items())),
            ),
            decided=list(_decided(self._engine)),
            assumptions=[*assumptions, *_assumed(self._plan)],
            start=str(self._plan.document["start"]),
            seconds=end,
            cut=cut,
            cut_by=reason if cut else "",
            jobs=self._jobs(states),
            refused=dict(Counter(self._refused.values()).most_common()),
            waits=self._waits(states),
            by_class={
                name: self._waits(group) for name, group in _grouped(states, lambda one: one.planned.job.kind or "none")
            },
            teams=[self._team(name, group) for name, group in _grouped(states, lambda one: one.planned.team)],
            pools=[self._pool(one.name) for one in self._plan.places],
            usd=sum(self._usd.values()),
            preemptions=sum(state.preempted for state in states),
            evictions=dict(self._evictions.most_common()),
            lost_gpu_hours=sum(state.lost_gpu_hours for state in states),
            longest=self._longest(states),
            timeline=self._timeline(end),
            outcomes=[self._outcome(one) for one in self._plan.jobs.values()],
        )

    def _left_out(self) -> LeftOut:
        every = self._plan.jobs.values()
        missing = [one for one in every if one.id not in self._states]
        reasons = Counter(self._refused.get(one.id, "it was not submitted before the end") for one in missing)
        unknown = sum(self._plan.left_out.values())
        hours = [math.fsum(one.job.gpus * one.job.duration / HOUR for one in jobs) for jobs in (missing, every)]
        return LeftOut(
            jobs=len(missing) + unknown,
            of=len(every) + unknown,
            gpu_hours=hours[0],
            of_gpu_hours=hours[1],
            unknown=unknown,
            reasons=dict((reasons + Counter(self._plan.left_out)).most_common()),
        )

    def _jobs(self, states: Sequence[_State]) -> Jobs:
        ended = sum(state.ended for state in states)
        running = sum(state.run is not None for state in states)
        return Jobs(
            submitted=len(states) + len(self._refused),
            finished=ended,
            running=running,
            pending=len(states) - ended - running,
            refused=len(self._refused),
        )

    def _waits(self, states: Iterable[_State]) -> Waits:
        every = list(states)
        return waits(
            [one.started - one.submitted for one in every if one.started is not None],
            [self.now - one.submitted for one in every if one.started is None],
        )

    def _team(self, name: str, states: Sequence[_State]) -> TeamUse:
        return TeamUse(
            name=name,
            jobs=len(states),
            finished=sum(one.ended for one in states),
            gpu_hours=sum(one.gpu_hours for one in states),
            usd=sum(one.usd for one in states),
            preempted=sum(one.preempted for one in states),
            lost_gpu_hours=sum(one.lost_gpu_hours for one in states),
            waits=self._waits(states),
        )

    def _pool(self, name: str) -> PoolUse:
        place = next(one for one in self._plan.places if one.name == name)
        series, end = self._series, self.now
        gpu = bool(place.parts)
        busy, paid = (sum(series[kind][name].averages(end, POINTS)) / POINTS * end / HOUR for kind in ("busy", "paid"))
        offered = [one for one in self._plan.document["pools"] if self._plan.pools[one["name"]].pool == name]
        return PoolUse(
            name=name,
            unit="GPUs" if gpu else "CPUs",
            most_nodes=int(series["nodes"][name].most),
            ceiling=place.nodes,
            node_hours=self._node_hours[name],
            gpu_hours_paid=paid if gpu else 0.0,
            gpu_hours_busy=busy if gpu else 0.0,
            usd=self._usd[name],
            idle_usd=max(0.0, self._usd[name] - self._used_usd[name]),
            launches=self._launches[name],
            priced=all(one["usdPerHour"] > 0 for pool in offered for one in pool["offerings"]),
        )

    def _outcome(self, planned: Planned) -> Outcome:
        """A job that was not submitted when the replay ended has no wait."""
        found = self._states.get(planned.id) or self._gone.get(planned.id)
        state = found or _State(planned, min(self.now, planned.job.submitted))
        return Outcome(
            job=planned.job.name,
            team=planned.team,
            job_class=planned.job.kind,
            submitted=planned.job.submitted,
            waited=round(self._waited(state), 3),
            started=state.started is not None,
            finished=state.ended,
            refused=self._refused.get(planned.id, ""),
            preempted_by=dict(state.preemptors.most_common()),
            eviction=state.eviction,
            lost_gpu_hours=state.lost_gpu_hours,
            uses={
                pool: Used(gpu_hours=state.gpu_hours_of[pool], usd=usd) for pool, usd in sorted(state.usd_of.items())
            },
        )

    def _waited(self, state: _State) -> float:
        return (self.now if state.started is None else state.started) - state.submitted

    def _longest(self, states: Sequence[_State]) -> list[Held]:
        shown = [*states, *self._gone.values()] if self._every else states
        chosen = sorted(shown, key=lambda one: (-self._waited(one), one.planned.id))[: None if self._every else LONGEST]
        return [self._held(one) for one in chosen if self._waited(one) > 0]

    def _held(self, state: _State) -> Held:
        said = {key: seconds for key, seconds in state.held.items() if key[0] in _LAYERS}
        layer, message = max(said, key=lambda key: said[key], default=("", ""))
        job = state.planned.job
        return Held(
            job=job.name,
            team=state.planned.team,
            job_class=job.kind,
            gpus=state.planned.gpus,
            submitted=state.submitted,
            waited=self._waited(state),
            started=state.started is not None,
            layer=layer,
            message=message,
            why=sentence(job.name, layer, message),
        )

    def _timeline(self, end: float) -> Timeline:
        def averages(series: Mapping[str, Steps]) -> dict[str, list[float]]:
            return {name: one.averages(end, POINTS) for name, one in sorted(series.items())}

        named = {name: averages(series) for name, series in self._series.items()}
        return Timeline(step_seconds=end / POINTS, pending=averages(self._pending), **named)


def _grouped(states: Iterable[_State], key: Callable[[_State], str]) -> Iterator[tuple[str, list[_State]]]:
    groups: defaultdict[str, list[_State]] = defaultdict(list)
    for state in states:
        groups[key(state)].append(state)
    yield from sorted(groups.items())


def _decided(engine: Mapping[str, str]) -> Iterator[Decided]:
    for part, by in engine.items():
        model = by.startswith(MODEL)
        yield Decided(part=part, by=by.removeprefix(MODEL).lstrip(": ") if model else by, model=model)


def _assumed(plan: Plan) -> Iterator[str]:
    starts = ", ".join(f"{one['launchSeconds']:.0f} s in {one['name']}" for one in plan.document["pools"])
    yield f"nodes take pods after {starts}"
    yield "Spot nodes are not reclaimed, and their price is the expected one of `slipway cost`"
    yield "scheduled shutdowns, image pulls and the nodes of the system pool are left out"
