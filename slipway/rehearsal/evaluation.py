"""Whether a replayed variant does what is expected of it: a pure function of its result."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from slipway.rehearsal.play import copy
from slipway.replay.result import Held, Outcome, PoolUse, Result
from slipway.trial.clock import POOL, STACK, TEAM, ClockExpectation, Variant, given
from slipway.trial.evaluation import Check, Status
from spec.quantities import duration, seconds

Verdict = tuple[bool, str]  # whether an expectation is met, and what was found, in the words of the layer that decides


@dataclass(frozen=True)
class Subject:
    """What one expectation is about."""

    result: Result  # the replay
    kind: str  # `job`, `team`, `pool` or `stack`
    jobs: tuple[Outcome, ...]
    pools: tuple[PoolUse, ...]  # its pools: of jobs and teams none
    blocked: str = ""  # why the network policies keep it from the job that it is to reach

    @cached_property
    def held(self) -> Mapping[str, Held]:
        """What was said of each job that waited."""
        return {one.job: one for one in self.result.longest}

    def words(self, job: Outcome) -> str:
        """Why a job waited: what `slipway why` says, else the words of the layer."""
        held = self.held.get(job.job)
        said = (held.why or held.message) if held else ""
        return "; before: ".join(text for text in (job.refused, said) if text) or "its nodes had to start"

    @property
    def usd(self) -> float:
        """Cost of its nodes, or of what its jobs had."""
        if self.kind in (POOL, STACK):
            return sum(one.usd for one in self.pools)
        return sum(used.usd for job in self.jobs for used in job.uses.values())

    @property
    def lost(self) -> float:
        """GPU hours that evictions threw away."""
        return sum(job.lost_gpu_hours for job in self.jobs)

    @property
    def preempted(self) -> int:
        """How often its jobs were preempted."""
        return sum(sum(job.preempted_by.values()) for job in self.jobs)


def checks(variant: Variant, result: Result, blocked: Mapping[str, str] | None = None) -> list[Check]:
    """Every expectation of a variant. Of a bad one, those that it breaks are met if they fail with the right words.

    Args:
        blocked: By job, why it does not reach the one that it is to reach.
    """
    every = variant.expect.items()
    return [check for name, one in every for check in _checks(variant, name, one, result, blocked or {})]


def _checks(
    variant: Variant, name: str, one: ClockExpectation, result: Result, blocked: Mapping[str, str]
) -> Iterator[Check]:
    subject = _subject(variant, name, result, blocked.get(name, ""))
    if subject is None:
        yield Check(name, "is there", Status.FAILED, f"the stack has no {name}")
        return
    broken = variant.breaks.get(name, {})
    for field in given(one):
        met, found = _VERDICTS[field](subject, one, variant)
        text = _TEXTS[field](one)
        if field not in broken:
            yield Check(name, text, Status.PASSED if met else Status.FAILED, found)
        elif met or broken[field] not in found:
            wanted = f" because {broken[field]}" if broken[field] else ""
            yield Check(name, f"does not hold: {text}{wanted}", Status.FAILED, found)
        else:
            yield Check(name, f"does not hold: {text}", Status.PASSED, found)


def _subject(variant: Variant, name: str, result: Result, blocked: str) -> Subject | None:
    kind, _, of = name.partition("/")
    if kind == STACK:
        return Subject(result, kind, tuple(result.outcomes), tuple(result.pools))
    if kind == POOL:
        pools = tuple(one for one in result.pools if one.name == of)
        return Subject(result, kind, (), pools) if pools else None
    if kind == TEAM:
        jobs = tuple(one for one in result.outcomes if one.team == of)
    else:
        names = {copy(of, number, variant.jobs[of]) for number in range(variant.jobs[of].count)}
        jobs = tuple(one for one in result.outcomes if one.job in names)
    return Subject(result, kind, jobs, (), blocked) if jobs else None


def _waits(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    job = max(subject.jobs, key=lambda job: (not job.started, job.waited))
    met = job.started and job.waited <= seconds(one.waits_at_most or "0s")
    still = "" if job.started else ", and still waits"
    why = f": {subject.words(job)}" if job.waited else ""
    return met, f"{job.job} waited {duration(job.waited)}{still}{why}"


def _costs(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    if subject.kind in (POOL, STACK):
        hours = sum(pool.node_hours for pool in subject.pools)
        idle = sum(one.idle_usd for one in subject.pools)
        detail = f"{hours:,.1f} node hours, of which {idle:,.2f} USD idle"
    else:
        pools = sorted({pool for job in subject.jobs for pool in job.uses})
        hours = sum(used.gpu_hours for job in subject.jobs for used in job.uses.values())
        detail = f"{hours:,.1f} GPU hours on {', '.join(pools) or 'no pool'}"
    return subject.usd <= (one.costs_at_most or 0), f"{subject.usd:,.2f} USD for {detail}"


def _used(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    least = one.used_at_least or 0
    if subject.kind in (POOL, STACK):
        idle = sum(pool.idle_usd for pool in subject.pools)
        share = 1 - idle / subject.usd if subject.usd else 0.0
        return share >= least, f"{share:.0%} of {subject.usd:,.2f} USD was used, {idle:,.2f} USD idle"
    whole = sum(used.usd for job in subject.result.outcomes for used in job.uses.values())
    share = subject.usd / whole if whole else 0.0
    last = max(subject.jobs, key=lambda job: (not job.started, job.waited))
    return share >= least, f"{share:.0%} of {whole:,.2f} USD that all jobs used; {last.job}: {subject.words(last)}"


def _never(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    started = [job for job in subject.jobs if job.started]
    if started:
        return False, f"{started[0].job} started after {duration(started[0].waited)}"
    found = subject.jobs[0]
    said = [subject.words(found), subject.held[found.job].message if found.job in subject.held else ""]
    return any((one.never_starts_because or "") in text for text in said), said[0]


def _preempted(subject: Subject, one: ClockExpectation, variant: Variant) -> Verdict:
    by = one.preempted_by or ""
    names = (
        {copy(by, number, variant.jobs[by]) for number in range(variant.jobs[by].count)} if by in variant.jobs else ()
    )
    found = [job for job in subject.jobs if set(job.preempted_by) & set(names)]
    if found:
        return True, f"{found[0].job}: {found[0].eviction}"
    other = next((job for job in subject.jobs if job.preempted_by), None)
    if other is not None:
        return False, f"{other.job} was preempted by {', '.join(other.preempted_by)}: {other.eviction}"
    return False, "nothing preempted it"


def _often(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    return subject.preempted <= (one.preempted_at_most or 0), f"{subject.preempted:,} times{_last(subject)}"


def _loses(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    return subject.lost <= (one.loses_at_most or 0), f"{subject.lost:,.1f} GPU hours{_last(subject)}"


def _reaches(subject: Subject, one: ClockExpectation, _: Variant) -> Verdict:
    return not subject.blocked, subject.blocked or f"allowed to {one.reaches}"


def _last(subject: Subject) -> str:
    """Words of the last eviction of the job that was evicted most."""
    job = max(subject.jobs, key=lambda job: (sum(job.preempted_by.values()), job.lost_gpu_hours))
    return f"; {job.job}: {job.eviction}" if job.eviction else ""


_VERDICTS: Final[Mapping[str, Callable[[Subject, ClockExpectation, Variant], Verdict]]] = {
    "waitsAtMost": _waits,
    "costsAtMost": _costs,
    "usedAtLeast": _used,
    "neverStartsBecause": _never,
    "preemptedBy": _preempted,
    "preemptedAtMost": _often,
    "losesAtMost": _loses,
    "reaches": _reaches,
}
_TEXTS: Final[Mapping[str, Callable[[ClockExpectation], str]]] = {
    "waitsAtMost": lambda one: f"waits at most {one.waits_at_most}",
    "costsAtMost": lambda one: f"costs at most {one.costs_at_most:g} USD",
    "usedAtLeast": lambda one: f"used at least {one.used_at_least:.0%}",
    "neverStartsBecause": lambda one: f"never starts because {one.never_starts_because}",
    "preemptedBy": lambda one: f"preempted by {one.preempted_by}",
    "preemptedAtMost": lambda one: f"preempted at most {one.preempted_at_most} times",
    "reaches": lambda one: f"reaches {one.reaches}",
    "losesAtMost": lambda one: f"loses at most {one.loses_at_most:g} GPU hours",
}
