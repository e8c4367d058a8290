"""Jobs by seed: the parts of the trace that ADR 0133 fixes."""

import hashlib
import os
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from slipway.replay import generate, jobs
from slipway.replay.generate import DAY, LONGEST, Ceiling, Shape, resample, synthetic
from slipway.replay.jobs import Job, Trace
from slipway.replay.places import find, places
from slipway.replay.readers import read
from spec.errors import SlipwayError
from tests.support.stacks import platform_of

SHARED = os.environ.get("SLIPWAY_SHARED")
FLEET = (
    Ceiling(
        model="H100-80GB", nodes=8, gpus=8, part=Fraction(1), cpu_millis=23_000, memory_mib=240_000,
        shares={"red": (40, 64), "blue": (24, 32)},
    ),
    Ceiling(
        model="L4", nodes=16, gpus=1, part=Fraction(1, 4), cpu_millis=15_000, memory_mib=56_000,
        shares={"red": (8, 8), "blue": (8, 16)},
    ),
    Ceiling(
        model="", nodes=20, gpus=15, part=Fraction(1), cpu_millis=15_000, memory_mib=56_000, shares={"red": (150, 300)}
    ),
)  # fmt: skip
"""A fixed fleet: the digests below are of jobs for it."""
DIGESTS = {
    1: "adf0c9a96961ae8b",
    2: "3d79267d0d0f33d6",
}
PUBLISHED = "552349a70feb7cba"


def digest(trace: Trace) -> str:
    return hashlib.sha256(jobs.write(trace.jobs).encode()).hexdigest()[:16]


def made(seed: int, load: float = 1.0) -> Trace:
    shape = Shape(seed=seed, load=load)
    return resample(synthetic(shape), FLEET, shape)


@pytest.mark.parametrize("seed", DIGESTS)
def test_a_seed_gives_the_same_jobs_on_every_machine(seed: int) -> None:
    assert digest(made(seed)) == DIGESTS[seed]


@pytest.mark.skipif(not SHARED, reason="SLIPWAY_SHARED names no folder with the trace of openb")
def test_the_trace_of_all_figures_is_fixed() -> None:
    source = read(Path(str(SHARED)) / "traces/openb_pod_list_default.csv")
    assert digest(resample(source, FLEET, Shape(seed=1, load=1.0))) == PUBLISHED


@pytest.mark.parametrize("load", [0.7, 1.3])
def test_each_pool_is_asked_for_the_load(load: float) -> None:
    found = made(1, load).jobs
    for pool in FLEET[:2]:
        asked = sum(one.gpus * one.duration for one in found if one.gpu_types == (pool.model,))
        assert asked / (pool.most * 7 * DAY) == pytest.approx(load, rel=1e-6)
    assert max(one.duration for one in found) <= LONGEST


def test_jobs_are_longer_where_their_number_can_not_be_the_load() -> None:
    shape = Shape(seed=1, load=1.3, jobs=800)
    found = resample(synthetic(shape), FLEET, shape)
    for pool in FLEET[:2]:
        asked = sum(one.gpus * one.duration for one in found.jobs if one.gpu_types == (pool.model,))
        assert asked / (pool.most * 7 * DAY) == pytest.approx(1.3, rel=1e-6)
    longest = max(one.duration for one in found.jobs)
    assert LONGEST < longest <= 7 * DAY
    assert longest % DAY == 0
    assert any(f"at most {longest / 3600:.0f} hours" in note for note in found.notes)


def test_gangs_are_whole_nodes_and_five_percent() -> None:
    found = made(1).jobs
    gangs = [one for one in found if one.pods > 1]
    assert len(found) == 10_000
    assert len(gangs) / len(found) == pytest.approx(0.05, abs=0.006)
    assert {(one.gpu_millis, one.gpu_types, one.kind) for one in gangs} == {(8000, ("H100-80GB",), "training")}
    sizes = Counter(one.pods for one in gangs)
    assert set(sizes) == {2, 4, 8}, "the share of a team is at most eight nodes"
    assert sizes[2] > sizes[4]


def test_jobs_are_as_large_as_their_pools_allow() -> None:
    for one in made(1).jobs:
        pool = next(pool for pool in FLEET if (pool.model,) == (one.gpu_types or ("",)))
        assert one.gpus <= pool.shares[one.team][1]
        if pool.model == "L4":
            assert one.gpu_millis <= 250
        if pool.model:
            assert one.cpu_millis <= pool.cpu_millis * max(1, one.gpu_millis // 1000)


def test_teams_come_as_often_as_their_guaranteed_share() -> None:
    singles = [one for one in made(1).jobs if one.gpu_types == ("H100-80GB",) and one.pods == 1]
    assert sum(one.team == "red" for one in singles) / len(singles) == pytest.approx(40 / 64, abs=0.03)


def test_days_and_nights_are_kept() -> None:
    hours = Counter(int(one.submitted % DAY // 3600) for one in made(1).jobs)
    assert sum(hours[hour] for hour in range(9, 19)) > 0.55 * 10_000
    days = Counter(int(one.submitted // DAY) for one in synthetic(Shape(seed=1, load=1.0)).jobs)
    assert days[5] + days[6] < days[0]


def test_only_the_last_days_of_a_long_trace_are_drawn() -> None:
    old = Job(name="old", submitted=0.0, duration=10.0, gpu_millis=1000, kind="old")
    new = [replace(old, name=f"n{day}", kind="new", submitted=(60.0 + day) * DAY) for day in range(30)]
    found = resample(Trace(jobs=(old, *new), format="csv"), FLEET, Shape(seed=1, load=0.1, jobs=200))
    assert {one.kind for one in found.jobs if one.pods == 1} == {"new"}
    assert max(one.submitted for one in found.jobs) < 7 * DAY


def test_a_load_that_so_few_jobs_can_not_be_is_refused() -> None:
    source = Trace(jobs=(Job(name="a", submitted=0.0, duration=60.0, gpu_millis=1000),), format="csv")
    with pytest.raises(SlipwayError, match="jobs of at most 168 hours can't be that load"):
        resample(source, FLEET, Shape(seed=1, load=1.0, jobs=10))
    with pytest.raises(SlipwayError, match="no job of the trace is of a kind"):
        resample(source, FLEET[2:], Shape(seed=1, load=1.0, jobs=10))


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_every_generated_job_runs_on_its_stack(stack: str) -> None:
    platform = platform_of(stack)
    every = places(platform)
    fleet = generate.ceilings(every, lambda team, pool: platform.teams[team].shares[pool].nominal_quota)
    shape = Shape(seed=2, load=1.0, jobs=2000)
    for one in resample(synthetic(shape), fleet, shape).jobs:
        fit = find(one, one.team, every, {})
        assert fit.place.spec.gpu is None or one.gpu_types == (fit.place.spec.gpu.name,)
        assert fit.notes == ()
