"""Deadlines against the drain of a pool's nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from components.workloads import (
    Target,
    TrainingJobArgs,
    WorkloadRefused,
    distributed_training,
    notebook,
    pipeline,
    sweep,
    training_job,
)
from components.workloads.checks.bounds import DAY, LONGEST
from spec.settings.presets import PRESETS
from tests.components.pools.samples import platform
from tests.components.workloads.samples import CPU, DISTRIBUTED, NODE, NOTEBOOK, PIPELINE, SHARE, SPOT, SWEEP

GRACE = CPU.grace_seconds
SHORT = {"disruption": {"terminationGracePeriod": "48h"}}


def target_of(pools: dict[str, Any]) -> Target:
    target = Target.of(platform(pools), namespace="research")
    return replace(target, addons=None, queue="default", queued=None)


def job(deadline: int, pod: Any = CPU, **pools: Any) -> None:
    target = target_of({"cpu": {"preset": "cpu"}, **pools})
    training_job("job", TrainingJobArgs(target=target, pod=pod, deadline_seconds=deadline))


def test_a_job_may_run_as_long_as_the_drain_and_not_a_second_longer() -> None:
    job(2 * DAY - GRACE)
    with pytest.raises(WorkloadRefused) as refused:
        job(2 * DAY - GRACE + 1)
    (problem,) = refused.value.problems
    assert problem.fix == (
        f"Set at most {2 * DAY - GRACE}, or raise pools.cpu.disruption.terminationGracePeriod to 49h."
    )


def test_the_fix_of_the_message_works() -> None:
    job(2 * DAY, cpu={"preset": "cpu", "disruption": {"terminationGracePeriod": "49h"}})


def test_nodes_that_never_expire_still_drift() -> None:
    with pytest.raises(WorkloadRefused):
        job(3 * DAY, cpu={"preset": "cpu", "disruption": {"expireAfter": "Never"}})


def test_each_pool_of_a_job_counts() -> None:
    pod = replace(SHARE, pools=("long", "short"))
    long, short = ({"preset": "h100"}, {"preset": "h100", "disruption": {"terminationGracePeriod": "1h"}})
    with pytest.raises(WorkloadRefused, match=r"nodes of pool short"):
        job(DAY, pod, long=long, short=short)


def distributed() -> None:
    target = target_of({"short": {"preset": "h100", **SHORT}})
    pod = replace(NODE, pools=("short",), resources=replace(NODE.resources, efa=0))
    distributed_training(
        "llm", replace(DISTRIBUTED, target=target, pod=pod, topology=None, nodes=1, deadline_seconds=3 * DAY)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: pipeline("weekly", replace(PIPELINE, deadline_seconds=3 * DAY)),
        lambda: sweep("grid", replace(SWEEP, pod=CPU, deadline_seconds=3 * DAY)),
        lambda: notebook("lab", replace(NOTEBOOK, longest_seconds=3 * DAY)),
        distributed,
    ],
    ids=["pipeline", "sweep", "notebook", "distributed"],
)
def test_every_kind_of_job_is_checked(make: Callable[[], object]) -> None:
    with pytest.raises(WorkloadRefused, match=r"(deadline|longest)_seconds: nodes of pool \w+ are replaced"):
        make()


def test_spot_pools_promise_nothing() -> None:
    job(LONGEST, SPOT, spot={"preset": "gpu-spot"})


@pytest.mark.parametrize("preset", ["a100", "h100"])
def test_training_presets_drain_as_long_as_the_longest_job(preset: str) -> None:
    pod = replace(SHARE, pools=("gpus",))
    job(LONGEST, pod, gpus={"preset": preset, "role": "training"})
    assert PRESETS[preset]["role"] == "training"
