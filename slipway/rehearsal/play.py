"""Replays the variants of a scenario: the stack file with their changes, their jobs as a trace, the engine's events."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from slipway.fit import places
from slipway.fit.places import lacks
from slipway.fit.request import Shape, workload
from slipway.rehearsal.document import Lane, Turns, lane
from slipway.rehearsal.traffic import PORT, Pod, Traffic
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.replay import engine, plan
from slipway.replay.fold import Fold
from slipway.replay.jobs import MOST_MEBIBYTES, MOST_MILLIS, Job, Trace
from slipway.replay.places import Fit
from slipway.replay.plan import Options, Plan
from slipway.replay.result import Result
from slipway.replay.text import Row
from slipway.trial import clock
from slipway.trial.clock import ClockScenario, Variant
from slipway.trial.run import ENDED, Turn
from spec.errors import fail, refuse
from spec.quantities import MI, seconds
from spec.settings import Platform, load
from spec.settings.parts import overlay


@dataclass
class Stack:
    """A stack, and its programs with the changes that were asked for."""

    name: str
    settings: Mapping[str, Any]  # the value of `slipway:platform` in its file
    _known: dict[str, tuple[Platform, Recording]] = field(default_factory=dict, init=False)

    def changed(self, change: Mapping[str, Any]) -> tuple[Platform, Recording]:
        """Settings and program with a change.

        Raises:
            ConfigurationError: The changed stack file is not valid.
        """
        key = json.dumps(change, sort_keys=True, default=str)
        if key not in self._known:
            platform = load(overlay(self.settings, change), stack=self.name).platform
            self._known[key] = platform, record_platform(platform, stack=self.name)
        return self._known[key]


def play(
    variant: Variant, scenario: ClockScenario, stack: Stack, say: Callable[[str], None]
) -> tuple[Result, list[Lane]]:
    """The result of a variant, with the longest waits of all its jobs, and a lane for each job with its copies."""
    platform, recording = stack.changed(variant.change)
    trace = trace_of(variant, scenario, platform)
    planned = _with_memory(plan.make(trace, platform, recording, Options(until=variant.seconds)), variant, platform)
    fold = Fold(planned, stack=stack.name, source=scenario.name, form="scenario", every=True)
    turns = Turns(planned)
    for event in engine.run(_configured(planned.document, variant), say=say):
        fold.add(event)
        turns.add(event)
    found = fold.result()
    if found.cut:
        fail(f"scenario {scenario.name}: the replay was cut by {found.cut_by}: nothing can be said of it")
    for one in found.outcomes:
        if one.refused and not turns.of[one.job]:
            turns.of[one.job].append(Turn(one.submitted, ENDED, f"never starts: {one.refused}"))
    lanes = [
        lane(f"{clock.JOB}/{name}", [turns.of[copy(name, number, one)] for number in range(one.count)], found.seconds)
        for name, one in variant.jobs.items()
    ]
    return found, lanes


def blocked(variant: Variant, stack: Stack) -> dict[str, str]:
    """By job, why the network policies keep it from the one that it is to reach; empty if they don't."""
    platform, recording = stack.changed(variant.change)
    traffic, found = Traffic.of(recording), {}
    for name, one in variant.expect.items():
        if one.reaches is not None:
            other, _, port = one.reaches.partition(":")
            source, target = (
                Pod.of(variant.jobs[job], platform) for job in (name.removeprefix(f"{clock.JOB}/"), other)
            )
            found[name] = traffic.blocked(source, target, int(port or PORT))
    return found


def _with_memory(planned: Plan, variant: Variant, platform: Platform) -> Plan:
    """The plan without jobs whose model their GPUs don't hold, which are refused in the words of `slipway fit`."""
    models = {copy(name, number, one): one.fit for name, one in variant.jobs.items() for number in range(one.count)}
    jobs = dict(planned.jobs)
    for key, one in planned.jobs.items():
        if one.fit is not None and models[one.job.name]:
            why = _lacks(models[one.job.name], one.fit, platform)
            jobs[key] = replace(one, fit=None, refused=why) if why else one
    kept = [one for one in planned.document["jobs"] if jobs[one["name"]].fit is not None]
    return replace(planned, jobs=jobs, document={**planned.document, "jobs": kept})


def _lacks(options: Mapping[str, Any], where: Fit, platform: Platform) -> str:
    """Why the GPUs of a pod don't hold a model; empty if they do. Raises ConfigurationError if it is none."""
    given = {name.replace("-", "_"): value for name, value in options.items()}
    try:
        shape = Shape(**{name: given.pop(name) for name in Shape.__dataclass_fields__ if name in given})
        work = workload(shape, **{"batch": 1, **given})
    except (KeyError, TypeError) as error:
        refuse(
            f"fit: {options}: use options of `slipway fit` by name, such as model, mode, batch and seq ({error})", error
        )
    unit = next(
        one for one in places.of_stack(platform) if one.pool == where.place.name and one.resource in where.requests
    )
    return lacks(work, unit, int(where.requests[unit.resource]))


def _configured(document: Mapping[str, Any], variant: Variant) -> Mapping[str, Any]:
    """The engine's input with what differs of Kueue's configuration."""
    return overlay(document, {"kueue": {"configuration": variant.kueue}})


def trace_of(variant: Variant, scenario: ClockScenario, platform: Platform) -> Trace:
    """The jobs of a variant, as a trace whose teams are those of the stack."""
    jobs = []
    for name, one in variant.jobs.items():
        if one.team not in platform.teams:
            refuse(
                f"scenario {scenario.name}: jobs.{name}.team: the stack has no {one.team} ({', '.join(platform.teams)})"
            )
        place = f"jobs.{name}"
        row = Row(scenario.name, place, {"cpu": one.cpu, "memory": one.memory, "gpus": one.gpus})
        for number in range(one.count):
            jobs.append(
                Job(
                    name=copy(name, number, one),
                    team=one.team,
                    kind=str(one.priority),
                    submitted=float(seconds(one.at) + number * seconds(one.every)),
                    duration=_runs(one),
                    pods=one.pods,
                    cpu_millis=row.quantity("cpu", 1000, most=MOST_MILLIS),
                    memory_mib=-(-row.quantity("memory", 1, most=MOST_MEBIBYTES * MI) // MI),
                    gpu_millis=row.quantity("gpus", 1000, most=MOST_MILLIS),
                    gpu_types=(one.gpu_type,) if one.gpu_type else (),
                )
            )
    jobs.sort(key=lambda job: (job.submitted, job.name))
    return Trace(jobs=jobs, format="scenario", start=datetime.fromisoformat(variant.start))


def copy(name: str, number: int, one: clock.Job) -> str:
    """Name of one of the jobs that are alike."""
    return name if one.count == 1 else f"{name}-{number + 1}"


def _runs(one: clock.Job) -> float:
    """Kubernetes ends a Job at its deadline, whatever it does (kubernetes.io, "Jobs", activeDeadlineSeconds)."""
    return float(min(seconds(one.runs), seconds(one.deadline)) if one.deadline else seconds(one.runs))
