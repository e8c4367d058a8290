"""The columns of the table: the plan of the second baseline, figures from events, and the tables themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from slipway.replay.plan import Plan
from spec.pools.keys import GPU
from spec.settings import Platform
from tests.slipway.conftest import binary
from tests.slipway.replay import examples
from tests.support.generated import FIGURES, check_part
from tests.support.stacks import platform_of
from tools.figures.__main__ import CHECK_SEEDS, MEASURED, PAGE, PARTS
from tools.figures.filling import FILLED, WHOLE, arrivals, filled, milli
from tools.figures.filling import PARTS as PARTS_OF_GPUS
from tools.figures.outcome import Outcome, Paid, Watch, figures
from tools.figures.plain import fifo, plain
from tools.figures.table import dominating, tables

__all__ = ["binary"]


@pytest.mark.parametrize(("baseline", "limited"), [(plain, False), (fifo, True)])
def test_a_baseline_gives_whole_gpus_at_the_prices_of_the_stack(
    baseline: Callable[[Plan, Platform], Plan], *, limited: bool
) -> None:
    shipped = examples.planned()
    found = baseline(shipped, platform_of("dev"))
    jobs = {found.jobs[one["name"]].job.name: one for one in found.document["jobs"]}
    # A quarter of a GPU on the stack: a time-sliced L4.
    notebook = jobs["notebook"]["podSets"][0]
    assert notebook["requests"][GPU] == "1"
    assert notebook["nodeSelector"] == {"platform.slipway/pool": "gpu-spot"}
    assert GPU not in jobs["data"]["podSets"][0]["requests"]
    # As on the stack, which has no GPU with the memory of a B200.
    assert "huge" not in jobs
    assert [one["name"] for one in found.document["jobs"]] == [one["name"] for one in shipped.document["jobs"]]
    most = (
        {"cpu": 6, "a100": 1, "h100": 3, "gpu-spot": 4}
        if limited
        else dict.fromkeys(("cpu", "a100", "h100", "gpu-spot"))
    )
    assert {pool["name"]: pool["max"] for pool in found.document["pools"]} == most
    for pool, own in zip(found.document["pools"], shipped.document["pools"], strict=True):
        assert (pool["limits"], pool["min"]) == ({}, 0)
        prices = [{(one["instanceType"], one["usdPerHour"]) for one in of["offerings"]} for of in (pool, own)]
        assert prices[0] == prices[1]
    (spot,) = (one for one in found.document["pools"] if one["name"] == "gpu-spot")
    assert {one["allocatable"][GPU] for one in spot["offerings"]} == {"1"}
    (a100,) = (one for one in found.document["pools"] if one["name"] == "a100")
    assert {key: value for key, value in a100["offerings"][0]["allocatable"].items() if "nvidia" in key} == {GPU: "8"}
    kinds = [one["kind"] for one in found.document["kueue"]["objects"]]
    assert kinds.count("ClusterQueue") == 1
    (queue,) = (one for one in found.document["kueue"]["objects"] if one["kind"] == "ClusterQueue")
    of = {one["name"]: one["resources"] for one in queue["spec"]["resourceGroups"][0]["flavors"]}
    quotas = {name: {one["name"]: one["nominalQuota"] for one in found}[GPU] for name, found in of.items()}
    assert quotas["a100"] == ("8" if limited else "1000000000")
    assert "WorkloadPriorityClass" not in kinds


NODES = [{"sn": f"node-{number}", "cpu_milli": "8000", "memory_mib": "65536", "gpu": "2"} for number in range(2)]


def asking(gpus: int, milli: int = 1000) -> dict[str, str]:
    return {"num_gpu": str(gpus), "gpu_milli": str(milli), "cpu_milli": "1000", "memory_mib": "1024"}


def test_the_filling_test_goes_on_until_130_percent_are_asked_for() -> None:
    pods = [asking(1), asking(1, 500), asking(2), asking(0)]
    found = arrivals(pods, 4, seed=1)
    assert all(found[: len(pods)].count(one) == 1 for one in pods), "each pod comes once before any comes again"
    assert sum(map(milli, found[:-1])) < 1.3 * 4000 <= sum(map(milli, found))
    assert found == arrivals(pods, 4, seed=1)


@pytest.mark.usefixtures("binary")
def test_the_filling_test_counts_what_placed_pods_ask_for() -> None:
    halves = [asking(1, 500)] * 6
    assert filled(NODES, halves, WHOLE) == 4 * 0.5 / 4
    assert filled(NODES, halves, PARTS_OF_GPUS) == 6 * 0.5 / 4
    # Spread over both nodes, the small ones leave no room for the large one: 2 of 4 GPUs.
    assert filled(NODES, [asking(1), asking(1), asking(2)], WHOLE) == 0.5
    assert filled(NODES, [asking(1), asking(1), asking(2)], FILLED) == 1


def test_outcomes_come_from_events() -> None:
    planned = examples.planned()
    watch = Watch(planned)
    train = next(name for name, one in planned.jobs.items() if one.job.name == "train")
    sweep = next(name for name, one in planned.jobs.items() if one.job.name == "sweep")
    for event in (
        {"t": 0, "kind": "submitted", "job": train},
        {"t": 10, "kind": "running", "job": train, "nodes": []},
        {"t": 20, "kind": "submitted", "job": sweep},
        {"t": 3610, "kind": "evicted", "job": train, "reason": "Preempted", "by": sweep, "lostSeconds": 3600},
        {"t": 3620, "kind": "running", "job": sweep, "nodes": []},
        {"t": 7220, "kind": "finished", "job": sweep},
        {"t": 7230, "kind": "running", "job": train, "nodes": []},
        {"t": 10830, "kind": "summary"},
    ):
        watch.add(event)
    first, second = watch.outcomes()
    assert (first.started, first.ran, first.lost, first.finished) == (10, 7200, 3600, False)
    assert (second.started, second.ran, second.lost, second.finished) == (3620, 3600, 0, True)
    assert watch.preemptions == 1
    paid = Paid(gpu_hours=10, allocated=5, usd=40, node_hours=2)
    found = figures([first, second], paid, watch.end, watch.preemptions)
    # Two GPUs for two hours, one of them in vain, and one GPU for an hour.
    assert (found["askedShare"], found["allocatedShare"], found["lostGpuHours"]) == (0.5, 0.5, 2)
    assert (found["workGpuHours"], found["usdPerGpuHour"], found["finished"]) == (3, 13.33, 1)
    assert found["waits"]["training"] == {"median": 10, "p95": 10}
    assert found["waits"]["experiment"] == {"median": 3600, "p95": 3600}


def test_a_job_that_was_given_up_waits_until_the_end() -> None:
    one = Outcome(kind="training", pool="a100", gpus=1, submitted=100, refused=True)
    found = figures([one], Paid(gpu_hours=0, allocated=0, usd=0, node_hours=0), 1100)
    assert found["waits"]["all"]["p95"] == 1000
    assert (found["givenUp"], found["usdPerGpuHour"], found["askedShare"]) == (1, 0, 0)


def run(seed: int, price: float, *cut: str, plain_waits: float = 7200) -> dict[str, Any]:
    def column(usd_per_hour: float, p95: float = 3600) -> dict[str, Any]:
        waits = {name: {"median": 30, "p95": p95} for name in ("all", "interactive", "training", "experiment")}
        return {
            "givenUp": 0, "waits": waits, "allocatedShare": 0.5, "workGpuHours": 10.0, "lostGpuHours": 2.0, "usd": 50,
            "usdPerGpuHour": usd_per_hour,
        }  # fmt: skip

    return {
        "stack": "dev", "load": 0.7, "seed": seed, "jobs": 100, "days": 3.5, "cut": list(cut), "fleet": {"a100": seed},
        "columns": {
            "static": column(10), "plain": column(4, plain_waits), "fifo": column(6), "shipped": column(price),
        },
        "decided": ["kueue: v1"], "measured": "2026-11-23",
    }  # fmt: skip


def test_a_table_has_ranges_over_seeds_and_says_what_was_cut() -> None:
    said = tables({"runs": [run(3, 6, "shipped"), run(1, 5)]})
    assert "**Stack dev**: 100 jobs, measured on 2026-11-23." in said
    assert "Load 0.7, seed 3 was cut: shipped stack after 3.5 days, and so are the other rows." in said
    assert (
        "| 0.7: 1, 3 | static fleet of equal waits | $10.00 | 1 h | 1 h | 1 h | 0 | 10 | 2 | 50.0 % | $50 | 100 % |"
        in said
    )
    assert "| 0.7: 1, 3 | shipped stack | $5.00 to $6.00 | 1 h |" in said
    assert "| 50 % to 60 % |" in said


def test_what_is_cheaper_and_no_slower_dominates() -> None:
    assert dominating(run(1, 5)) == []  # Karpenter is cheaper and slower
    assert dominating(run(1, 5, plain_waits=3600)) == ["plain"]
    assert dominating(run(1, 7)) == ["fifo"]
    assert dominating(run(1, 6)) == []


@pytest.mark.parametrize("name", PARTS)
def test_the_page_has_the_measured_figures(name: str) -> None:
    document = json.loads(MEASURED.read_text(encoding="utf-8"))
    check_part(PAGE, name, PARTS[name](document), FIGURES)


def test_no_baseline_is_cheaper_and_no_slower_than_a_shipped_stack() -> None:
    runs = json.loads(MEASURED.read_text(encoding="utf-8"))["runs"]
    assert [one["stack"] for one in runs if dominating(one)] == []


def test_published_figures_are_of_the_seeds_for_the_check() -> None:
    runs = json.loads(MEASURED.read_text(encoding="utf-8"))["runs"]
    assert runs
    assert {one["seed"] for one in runs} <= set(CHECK_SEEDS)
