"""What became of the jobs of one replay, and the figures that all columns of the table share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slipway.replay.plan import Plan
from slipway.replay.steps import HOUR, waits

CLASSES: Final = ("interactive", "training", "experiment")


@dataclass(kw_only=True)
class Outcome:
    """What became of one job."""

    kind: str  # its class
    pool: str
    gpus: float  # GPUs that it asks for, as the trace has them: a tenth of a GPU is 0.1, whatever it gets
    submitted: float  # seconds after the start
    started: float = math.inf  # when it first ran; infinity if it did not
    ran: float = 0.0  # seconds that it ran, those of lost work too
    lost: float = 0.0  # seconds of work that was lost
    finished: bool = False  # whether it ended
    refused: bool = False  # whether it was given up

    def waited(self, end: float) -> float:
        """Seconds until it first ran, or until the end. A job that was given up waits until the end."""
        return min(self.started, end) - self.submitted


class Watch:
    """Outcomes from the events of the engine."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._found: dict[str, Outcome] = {}
        self._since: dict[str, float] = {}
        self.end = 0.0
        self.preemptions = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Add one event."""
        self.end = at = max(self.end, float(event["t"]))
        kind, name = str(event["kind"]), str(event.get("job", ""))
        if kind == "submitted":
            planned = self._plan.jobs[name]
            pool = planned.fit.place.name if planned.fit else ""
            job = planned.job
            self._found[name] = Outcome(kind=job.kind, pool=pool, gpus=job.gpus, submitted=at)
        elif kind == "running":
            self._since[name] = at
            self._found[name].started = min(self._found[name].started, at)
        elif kind in ("finished", "evicted", "refused") and name in self._found:
            self._stop(name, at)
            one = self._found[name]
            one.finished |= kind == "finished"
            one.refused |= kind == "refused"
            if kind == "evicted":
                one.lost += float(event.get("lostSeconds") or 0.0)
                self.preemptions += event.get("by") is not None

    def _stop(self, name: str, at: float) -> None:
        since = self._since.pop(name, None)
        if since is not None:
            self._found[name].ran += at - since

    def outcomes(self) -> list[Outcome]:
        """Those of all submitted jobs; nothing is added afterwards."""
        for name in list(self._since):
            self._stop(name, self.end)
        return list(self._found.values())


@dataclass(frozen=True, kw_only=True)
class Paid:
    """What the nodes of one column had and cost."""

    gpu_hours: float  # GPU hours from launch to removal
    allocated: float  # GPU hours that running jobs had: of a MIG instance its part, of a whole GPU all of it
    usd: float  # cost
    node_hours: float


def figures(jobs: Sequence[Outcome], paid: Paid, end: float, preemptions: int = 0) -> dict[str, Any]:
    """The figures of one column, for the JSON document. Times are in seconds."""
    asked = math.fsum(one.gpus * one.ran for one in jobs) / HOUR
    lost = math.fsum(one.gpus * one.lost for one in jobs) / HOUR
    groups = {"all": jobs, **{kind: [one for one in jobs if one.kind == kind] for kind in CLASSES}}
    return {
        "jobs": len(jobs),
        "finished": sum(one.finished for one in jobs),
        "givenUp": sum(one.refused for one in jobs),
        "waits": {name: _waits(group, end) for name, group in groups.items()},
        "allocatedShare": _share(paid.allocated, paid.gpu_hours),
        "askedShare": _share(asked, paid.gpu_hours),
        "workGpuHours": round(asked - lost, 1),
        "preemptions": preemptions,
        "lostGpuHours": round(lost, 1),
        "nodeHours": round(paid.node_hours, 1),
        "usd": round(paid.usd),
        "usdPerGpuHour": round(paid.usd / (asked - lost), 2) if asked > lost else 0.0,
    }


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _waits(jobs: Iterable[Outcome], end: float) -> dict[str, float]:
    found = waits([one.waited(end) for one in jobs], [])
    return {"median": round(found.median), "p95": round(found.p95)}
