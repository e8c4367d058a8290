"""Scenarios that the clock drives: a night, a weekend, a queue of a day. They have the key `replay`, and are replayed.

A scenario has jobs, changes of the stack file that it needs, and what is expected of jobs, teams, pools and the stack.
Beside it are bad variants: what they change, and which expectations are broken then, in whose words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field
from pydantic.alias_generators import to_camel

from slipway.trial.expectations import M, parsed
from spec import strict_yaml
from spec.errors import refuse
from spec.quantities import seconds
from spec.settings.base import Duration, Model
from spec.settings.parts import overlay
from spec.settings.teams import PriorityName

KEY: Final = "replay"
JOB: Final = "job"
TEAM: Final = "team"
POOL: Final = "pool"
STACK: Final = "stack"
Share = Annotated[float, Field(gt=0, le=1)]


class Job(Model):
    """Jobs that are alike."""

    team: str
    """A team of the stack."""
    priority: Annotated[PriorityName, Field(strict=False)] = PriorityName.EXPERIMENT
    """Its priority class."""
    at: Duration = "0s"
    """When the first one is submitted, after the start."""
    count: int = Field(default=1, ge=1, le=1000)
    """Number of jobs."""
    every: Duration = "0s"
    """Time between them."""
    runs: Duration
    """How long each would run."""
    deadline: Duration | None = None
    """`activeDeadlineSeconds`: it ends then at the latest. None: it runs as long as it runs."""
    pods: int = Field(default=1, ge=1, le=1000)
    """Pods of each, which start together."""
    cpu: str = "1"
    """CPU of each pod."""
    memory: str = "1Gi"
    """Memory of each pod."""
    gpus: str = "0"
    """GPUs of each pod: `8`, `0.25`."""
    gpu_type: str = ""
    """GPU model, product or instance type; empty for any."""
    fit: dict[str, str | int | bool] = Field(default_factory=dict)
    """Options of `slipway fit` by name, which describe the model on the GPUs of one pod: `{model: llama-3.1-8b, mode:
    serve, batch: 8, seq: 8192}`. A job whose GPUs lack the memory never starts."""


class ClockExpectation(Model):
    """What is expected of a job with its copies, of a team, of a pool, or of the whole stack."""

    waits_at_most: Duration | None = None
    """Each job starts within this time of its submission. Of jobs and teams."""
    costs_at_most: float | None = Field(default=None, gt=0)
    """USD: of jobs and teams for what they had, of pools and the stack for their nodes."""
    used_at_least: Share | None = None
    """Of a pool and the stack, the share of their cost that jobs had; of jobs and teams, their part of all use."""
    never_starts_because: str | None = None
    """No one of them starts, and `slipway why` or the layer says this. Of jobs."""
    preempted_by: str | None = None
    """Kueue preempts it for this job. Of jobs."""
    preempted_at_most: int | None = Field(default=None, ge=0)
    """How often Kueue preempts them, all together. Of jobs, teams and the stack."""
    reaches: str | None = None
    """The stack's network policies let its pods connect to those of this job: `NAME`, or `NAME:PORT`. Of jobs."""
    loses_at_most: float | None = Field(default=None, ge=0)
    """GPU hours of work that evictions threw away. Of jobs, teams and the stack."""


class Bad(Model):
    """A bad variant: what is different, and which expectations are broken."""

    description: str
    """What it shows, in one sentence."""
    change: dict[str, Any] = Field(default_factory=dict)
    """Settings of the stack file that differ, by their place in it."""
    kueue: dict[str, Any] = Field(default_factory=dict)
    """Fields of Kueue's configuration that differ, as for rules that the stack file has no setting for."""
    jobs: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    """Fields of jobs that differ, by job; null leaves the job out."""
    breaks: dict[str, dict[str, str]] = Field(min_length=1)
    """By subject, the expectations that are not met, each with words of the layer that decides. All others are met."""
    stacks: list[str] = Field(default_factory=list)
    """Stacks on which it is replayed, if not on all of the scenario's."""


class Differs(Model):
    """What is different on one stack, whose pools and quotas are others."""

    change: dict[str, Any] | None = None
    """Settings of the stack file that differ, in place of those of `replay`."""
    jobs: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    """Fields of jobs that differ, by job; null leaves the job out."""
    expect: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    """Expectations that differ, by subject; null leaves the subject out."""


class Replay(Model):
    """What is replayed."""

    start: str = "2026-01-05T00:00:00Z"
    """The first moment, RFC 3339."""
    until: Duration
    """When it ends."""
    change: dict[str, Any] = Field(default_factory=dict)
    """Settings of the stack file that differ, by their place in it."""
    jobs: dict[str, Job] = Field(min_length=1)
    """By name."""


class ReplayFile(Model):
    """A file whose scenario the clock drives."""

    description: str
    """What it shows, in one sentence."""
    stacks: list[str] = Field(min_length=1)
    """Stacks whose teams and pools it names."""
    replay: Replay
    """Jobs over time."""
    expect: dict[str, ClockExpectation] = Field(min_length=1)
    """By subject: `job/NAME`, `team/NAME`, `pool/NAME` or `stack`."""
    bad: dict[str, Bad] = Field(default_factory=dict)
    """Bad variants by name."""
    differs: dict[str, Differs] = Field(default_factory=dict)
    """By stack."""

    def on(self, stack: str, path: Path) -> ReplayFile:
        """The scenario on a stack."""
        one = self.differs.get(stack, Differs())
        change = self.replay.change if one.change is None else one.change
        subjects = {**dict.fromkeys(one.expect, ClockExpectation()), **self.expect}
        jobs = _changed(self.replay.jobs, one.jobs, path)
        expect = _changed(subjects, one.expect, path)
        gone = set(subjects) - set(expect)
        bad = {
            name: bad.model_copy(update={"breaks": {key: bad.breaks[key] for key in bad.breaks if key not in gone}})
            for name, bad in self.bad.items()
            if not stack or stack in (bad.stacks or [stack])
        }
        replay = self.replay.model_copy(update={"change": change, "jobs": jobs})
        return self.model_copy(update={"replay": replay, "expect": expect, "bad": bad})


def _changed(parts: Mapping[str, M], changes: Mapping[str, Mapping[str, Any] | None], path: Path) -> dict[str, M]:
    """Parts of the file with the fields that differ, without those that are left out."""
    found = {}
    for name, one in parts.items():
        change = changes.get(name, {})
        if change is not None:
            found[name] = parsed(type(one), {**one.model_dump(by_alias=True, mode="json"), **change}, path)
    return found


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One replay of a scenario."""

    name: str  # name of the bad variant; empty for the good one
    description: str  # what it shows
    start: str  # its first moment
    seconds: float  # when it ends
    change: Mapping[str, Any]  # settings of the stack file that differ
    kueue: Mapping[str, Any]  # fields of Kueue's configuration that differ
    jobs: Mapping[str, Job]
    expect: Mapping[str, ClockExpectation]  # what is expected of the good one
    breaks: Mapping[str, Mapping[str, str]]  # what is broken, by subject and expectation, with words that must be said


@dataclass(frozen=True)
class ClockScenario:
    """A scenario of a file."""

    name: str  # name of its file, without the suffix
    description: str  # what it shows
    stacks: tuple[str, ...]  # stacks on which it runs
    variants: tuple[Variant, ...]  # the good one first


def drives(path: Path) -> bool:
    """Whether the clock drives the scenario of a file."""
    first = next(iter(strict_yaml.documents(path)), None) if path.is_file() else None
    return isinstance(first, Mapping) and KEY in first


def read(path: Path, stack: str = "") -> ClockScenario:
    """Read a file, as it is on a stack; on none in particular without one."""
    found = strict_yaml.documents(path)
    if len(found) != 1:
        refuse(f"{path} has {len(found)} documents: a scenario is one")
    file = parsed(ReplayFile, found[0], path)
    if unknown := sorted({*file.differs, *(one for bad in file.bad.values() for one in bad.stacks)} - set(file.stacks)):
        refuse(f"{path}: {', '.join(unknown)}: not in stacks ({', '.join(file.stacks)})")
    file = file.on(stack, path)
    for problem in _problems(file):
        refuse(f"{path}: {problem}")
    good = Variant(
        name="",
        description=file.description,
        start=file.replay.start,
        seconds=float(seconds(file.replay.until)),
        change=file.replay.change,
        kueue={},
        jobs=file.replay.jobs,
        expect=file.expect,
        breaks={},
    )
    bad = (_variant(name, one, good, path) for name, one in file.bad.items())
    return ClockScenario(path.stem, file.description, tuple(file.stacks), (good, *bad))


def _variant(name: str, bad: Bad, good: Variant, path: Path) -> Variant:
    jobs = _changed(good.jobs, bad.jobs, path)
    return Variant(
        name=name,
        description=bad.description,
        start=good.start,
        seconds=good.seconds,
        change=overlay(good.change, bad.change),
        kueue=bad.kueue,
        jobs=jobs,
        expect={subject: one for subject, one in good.expect.items() if subject.partition("/")[2] in jobs}
        | {subject: one for subject, one in good.expect.items() if not subject.startswith(f"{JOB}/")},
        breaks=bad.breaks,
    )


def _problems(file: ReplayFile) -> Iterator[str]:
    jobs = file.replay.jobs
    for subject, one in file.expect.items():
        kind, _, name = subject.partition("/")
        if subject != STACK and not (kind in (JOB, TEAM, POOL) and name):
            yield f"expect.{subject}: use job/NAME, team/NAME, pool/NAME or stack"
        if kind == JOB and name not in jobs:
            yield f"expect.{subject}: replay.jobs has no {name} (it has: {', '.join(jobs)})"
        for field in sorted(set(given(one)) - OF[kind if subject != STACK else STACK]) if kind in OF else ():
            yield f"expect.{subject}.{field}: not of a {kind}; it may have {', '.join(sorted(OF[kind]))}"
        if one.preempted_by is not None and one.preempted_by not in jobs:
            yield f"expect.{subject}.preemptedBy: replay.jobs has no {one.preempted_by}"
        if one.reaches is not None and one.reaches.partition(":")[0] not in jobs:
            yield f"expect.{subject}.reaches: replay.jobs has no {one.reaches.partition(':')[0]}"
    for variant, bad in file.bad.items():
        for job in bad.jobs:
            if job not in jobs:
                yield f"bad.{variant}.jobs: replay.jobs has no {job} (it has: {', '.join(jobs)})"
        for subject, broken in bad.breaks.items():
            has = given(file.expect[subject]) if subject in file.expect else []
            for field in broken:
                if field not in has:
                    yield f"bad.{variant}.breaks.{subject}.{field}: expect has no such expectation to break"


OF: Final[Mapping[str, frozenset[str]]] = {
    JOB: frozenset(
        {
            "waitsAtMost",
            "costsAtMost",
            "usedAtLeast",
            "neverStartsBecause",
            "preemptedBy",
            "preemptedAtMost",
            "losesAtMost",
            "reaches",
        }
    ),
    TEAM: frozenset({"waitsAtMost", "costsAtMost", "usedAtLeast", "preemptedAtMost", "losesAtMost"}),
    POOL: frozenset({"costsAtMost", "usedAtLeast"}),
    STACK: frozenset({"costsAtMost", "usedAtLeast", "preemptedAtMost", "losesAtMost"}),
}
"""Expectations by kind of subject."""


def given(one: ClockExpectation) -> list[str]:
    """The names of the expectations that are there, as the file writes them."""
    return [to_camel(name) for name in type(one).model_fields if getattr(one, name) is not None]
