"""Jobs by seed: a trace resampled to a load of the stack's pools, and a synthetic trace where there is none (ADR 0133).

The same seed gives the same jobs on every machine: only `Random.random` is used, whose sequence Python keeps.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Final, TypeVar

from slipway.replay.jobs import Job, Trace
from slipway.replay.places import Place
from spec.errors import refuse
from spec.quantities import CPU, MEMORY
from spec.teams.shares import amounts

_T = TypeVar("_T")
DAY: Final = 86_400
SOURCE_DAYS: Final = 37  # the last days of a trace that are resampled: in those are 99 % of openb's jobs
GANG_SHARE: Final = 0.05
GANG_NODES: Final = ((2, 0.5), (4, 0.25), (8, 0.15), (16, 0.1))  # nodes of a gang, and how many of the gangs have them
LONGEST: Final = 2 * DAY
"""Seconds of the longest job, so that a week has an end: longer ones are several, from checkpoint to checkpoint. Where
the jobs of a pool can't be its load then, the longest is as many whole days as they need, at most the trace's."""
JITTER: Final = 1800  # seconds by which a resampled job is moved, so that two copies of one job don't come together


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """What a pool can have at most, as the generator needs it."""

    model: str  # GPU model, which a job names; empty for a CPU pool
    nodes: int  # maximum number of nodes
    gpus: int  # GPUs of a node; of a CPU pool, CPUs that pods can request
    part: Fraction  # largest part of a GPU that one pod gets: 1 unless they are partitioned or shared
    cpu_millis: int  # thousandths of a CPU that belong to one GPU; of a CPU pool, those of a node
    memory_mib: int  # memory that belongs to one GPU; of a CPU pool, that of a node
    shares: Mapping[str, tuple[int, int]]  # guaranteed and maximum share of each team, in GPUs or CPUs

    @property
    def gang(self) -> bool:
        """Whether a team may run a job on two of its nodes, with all of their GPUs."""
        shares = (most for _, most in self.shares.values())
        return bool(self.model) and self.part == 1 and self.nodes > 1 and max(shares, default=0) >= 2 * self.gpus

    @property
    def most(self) -> int:
        """GPUs of all its nodes."""
        return self.nodes * self.gpus


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What is generated."""

    seed: int  # decides everything that is drawn
    load: float  # GPU time that the jobs ask for, as a share of what the pools can have
    jobs: int = 10_000
    days: int = 7  # days in which they are submitted


def ceilings(places: Sequence[Place], nominal: Callable[[str, str], int]) -> tuple[Ceiling, ...]:
    """What the pools of a stack can have at most.

    Args:
        nominal: Guaranteed share of a team in a pool.
    """
    return tuple(_ceiling(place, nominal) for place in places if place.shares)


def _ceiling(place: Place, nominal: Callable[[str, str], int]) -> Ceiling:
    spec = place.spec
    gpus = spec.gpu_count or place.cpu_millis // 1000
    of_one = amounts(spec, 1) if spec.gpu else {CPU: place.cpu_millis, MEMORY: place.memory_mib}
    return Ceiling(
        model=spec.gpu.name if spec.gpu else "",
        nodes=place.nodes,
        gpus=gpus,
        part=max((part for _, part in place.parts), default=Fraction(1)),
        cpu_millis=of_one[CPU],
        memory_mib=of_one[MEMORY],
        shares={team: (nominal(team, place.name), most) for team, most in sorted(place.shares.items())},
    )


def resample(trace: Trace, every: Sequence[Ceiling], shape: Shape) -> Trace:
    """Jobs of a trace, drawn by seed and packed into a week, on GPUs of the stack's pools at a load."""
    rng = Random(shape.seed)  # noqa: S311 - a simulation
    first = max(0.0, trace.seconds - SOURCE_DAYS * DAY)
    source = [job for job in trace.jobs if job.submitted >= first]
    span = max(1.0, trace.seconds - first)
    kinds = {
        "gang": [one for one in every if one.gang],
        "gpu": [one for one in every if one.model],
        "cpu": [one for one in every if not one.model],
    }
    drawn: dict[int, list[Job]] = {id(one): [] for one in every}
    left_out: Counter[str] = Counter()
    for number in range(shape.jobs):
        job = source[int(rng.random() * len(source))]
        moved = (rng.random() - 0.5) * 2 * JITTER
        gang = rng.random() < GANG_SHARE and bool(kinds["gang"])
        nodes = _weighted(rng, GANG_NODES) or 1
        kind = "gang" if gang else "gpu" if job.gpu_millis else "cpu"
        pool = _weighted(rng, [(one, one.most) for one in kinds[kind]])
        if pool is None:
            left_out[f"no pool of the stack has {kind.upper()}s for teams"] += 1
            continue
        at = _packed(job.submitted - first, span, shape.days) + moved
        named = replace(job, name=f"g{number:06d}", submitted=min(max(at, 0.0), shape.days * DAY - 1.0), spot=None)
        drawn[id(pool)].append(_fitted(named, pool, nodes if gang else 1))
    jobs, notes = [], [f"{count:,} jobs of it are never drawn: {why}" for why, count in trace.left_out.items()]
    notes += [f"seed {shape.seed}: {shape.jobs:,} jobs drawn from the last {span / DAY:.0f} days"]
    for pool in every:
        found = drawn[id(pool)]
        if not pool.model or not found:
            jobs += [replace(one, duration=round(min(one.duration, LONGEST), 3)) for one in found]
            continue
        factor, longest = _scaled(found, shape.load * pool.most * shape.days * DAY, pool.model, shape.days)
        jobs += [replace(one, duration=round(min(factor * one.duration, longest), 3)) for one in found]
        notes.append(
            f"load {shape.load:g} of {pool.most:,} {pool.model}: durations times {factor:.4g}"
            + (f", at most {longest // 3600} hours" if longest > LONGEST else "")
        )
    first_job = min((one.submitted for one in jobs), default=0.0)
    # What the source's job waited says nothing of one that is drawn.
    moved_jobs = (replace(one, submitted=round(one.submitted - first_job, 3), waited=None) for one in jobs)
    ordered = tuple(sorted(moved_jobs, key=lambda one: (one.submitted, one.name)))
    if not ordered:
        refuse("no job of the trace is of a kind that the stack's pools take: has it GPUs, and shares of teams?")
    return Trace(jobs=ordered, format=f"{trace.format}, resampled", left_out=left_out, notes=(*trace.notes, *notes))


def _packed(at: float, span: float, days: int) -> float:
    """A moment of the source in fewer days: the day by its place in the source, the time of day as it was."""
    day = min(days - 1, int(at / span * days))
    return day * DAY + at % DAY


def _weighted(rng: Random, choices: Sequence[tuple[_T, float]]) -> _T | None:
    """One of some choices, by weight; the generator always moves on by one number."""
    at = rng.random() * math.fsum(weight for _, weight in choices)
    for value, weight in choices:
        at -= weight
        if at < 0:
            return value
    return choices[-1][0] if choices else None


def _fitted(job: Job, pool: Ceiling, nodes: int) -> Job:
    """A job as large as its pool, and the share of its team, allow."""
    team, most = _team(job.name, pool, 2 * pool.gpus if nodes > 1 else 1)
    if not pool.model:
        cpu = min(job.cpu_millis, pool.cpu_millis, most * 1000)
        return replace(job, team=team, cpu_millis=cpu, memory_mib=min(job.memory_mib, pool.memory_mib))
    pods, millis = 1, min(job.gpu_millis, int(pool.part * 1000), pool.gpus * 1000, most * 1000)
    if nodes > 1:
        pods, millis = min(nodes, pool.nodes, most // pool.gpus), pool.gpus * 1000
    return replace(
        job,
        team=team,
        kind="training" if pods > 1 else job.kind,
        pods=pods,
        gpu_millis=millis,
        cpu_millis=min(job.cpu_millis, pool.cpu_millis * _up(millis) // 1000),
        memory_mib=min(job.memory_mib, pool.memory_mib * _up(millis) // 1000),
        gpu_types=(pool.model,),
    )


def _up(millis: int) -> int:
    """A part of a GPU has that part of its CPU and memory, several GPUs that of whole ones."""
    return millis if millis <= 1000 else -(-millis // 1000) * 1000


def _team(name: str, pool: Ceiling, least: int) -> tuple[str, int]:
    """The team of a job by the hash of its name, each as often as its guaranteed share; and its maximum.

    Only teams whose maximum is at least so much.
    """
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**48
    weights = {team: nominal or 1 for team, (nominal, most) in pool.shares.items() if most >= least}
    at = digest * sum(weights.values())
    for team, weight in weights.items():
        at -= weight
        if at < 0:
            return team, pool.shares[team][1]
    last = next(reversed(weights))
    return last, pool.shares[last][1]


def _scaled(jobs: Sequence[Job], wanted: float, model: str, days: int) -> tuple[float, int]:
    """By how much durations are multiplied so that the jobs ask for that much GPU time, and the longest one then."""

    def offered(factor: float, longest: int) -> float:
        return math.fsum(one.gpus * min(factor * one.duration, longest) for one in jobs)

    allowed = range(LONGEST, max(LONGEST, days * DAY) + 1, DAY)
    longest = next((one for one in allowed if offered(math.inf, one) >= wanted), None)
    if longest is None:
        share = offered(math.inf, allowed[-1]) / wanted
        refuse(
            f"{len(jobs):,} jobs of at most {allowed[-1] // 3600} hours can't be that load of the stack's {model}: "
            f"they ask for {share:.0%} of it. Use a larger --jobs, or a lower --load."
        )
    low, high = 0.0, 1.0
    while offered(high, longest) < wanted:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if offered(middle, longest) < wanted else (low, middle)
    return high, longest


# A trace where there is none. The numbers are chosen near openb's: half of the jobs run less than ten minutes.
_MEDIAN: Final = 600.0
_SIGMA: Final = 1.8
_KINDS: Final = (("interactive", 0.45), ("experiment", 0.4), ("training", 0.15))
_GPUS: Final = ((0, 0.13), (250, 0.15), (500, 0.2), (1000, 0.5), (8000, 0.02))
"""Thousandths of a GPU of a pod, and how many jobs have them."""
_HOURS: Final = ((8, 20, 0.7), (0, 24, 0.3))  # hours of the day, and how many jobs come in them
_WEEKEND: Final = 0.35  # Jobs of a day of the weekend, as a share of those of a weekday


def synthetic(shape: Shape) -> Trace:
    """Jobs with days, nights and weekends, that `resample` puts on a stack."""
    rng = Random(f"synthetic {shape.seed}")  # noqa: S311 - a simulation
    return Trace(jobs=tuple(sorted(_made(rng, shape), key=lambda one: (one.submitted, one.name))), format="generated")


def _made(rng: Random, shape: Shape) -> Iterator[Job]:
    days = [(day, 1.0 if day % 7 < 5 else _WEEKEND) for day in range(shape.days)]
    for number in range(shape.jobs):
        hours = _weighted(rng, [((first, last), share) for first, last, share in _HOURS]) or (0, 24)
        at = (_weighted(rng, days) or 0) * DAY + (hours[0] + rng.random() * (hours[1] - hours[0])) * 3600
        normal = math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())
        gpu = _weighted(rng, _GPUS) or 0
        yield Job(
            name=f"s{number:06d}",
            kind=_weighted(rng, _KINDS) or "",
            submitted=round(at, 3),
            duration=round(_MEDIAN * math.exp(_SIGMA * normal), 3),
            cpu_millis=4000 * max(1, gpu // 1000),
            memory_mib=16_384 * max(1, gpu // 1000),
            gpu_millis=gpu,
        )
