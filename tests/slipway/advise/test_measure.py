"""Figures of a replay that was recorded, by hand; and what is an objection."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.advise.measure import Figures, Wait, demand, figures, objections, saved, steady
from tests.slipway.replay.examples import planned, result


def made(**fields: Any) -> Figures:
    mean, p95, team = fields.pop("mean", 1000.0), fields.pop("p95", 9000.0), fields.pop("team", 1000.0)
    usd, work = fields.pop("usd", 500.0), fields.pop("work", 100.0)
    waits = {"all": Wait(jobs=100, mean=mean, p95=p95), "team a": Wait(jobs=50, mean=team, p95=p95)}
    rest = {"given_up": 5, "short": 5, "preemptions": 0, **fields}
    return Figures(usd=usd, work=work, usd_per_hour_of_work=usd / work, waits=waits, **rest)


def test_figures_of_a_recorded_replay() -> None:
    found = figures(result(), planned())
    # train: 2 GPUs for an hour; notebook: a quarter of one for two; sweep: one for ten minutes. `huge` has no place.
    assert found.work == pytest.approx(2 * 1 + 0.25 * 2 + 1 / 6)
    assert found.usd_per_hour_of_work == pytest.approx(result().usd / found.work)
    assert (found.given_up, found.short) == (1, 0)
    assert found.waits["all"].jobs == 5
    assert found.waits["team language"].p95 == 1831


def test_a_job_that_gets_less_than_it_asks_for_is_counted() -> None:
    header = "job,team,submitted,duration,cpu,memory,gpus,gpu_type\n"
    plan = planned(f"{header}part,vision,0,60,1,1Gi,0.1,A100\nmost,vision,0,60,1,1Gi,0.9,A100\n")
    assert [one.refused for one in plan.jobs.values()] == ["", ""]
    empty = result().model_copy(update={"outcomes": result().outcomes[:2]})
    assert figures(empty, plan).short == 1, "a seventh of an A100 is more than 0.1, and less than 0.9"


def test_demand_is_in_gpu_hours_by_pool_and_team() -> None:
    assert demand(planned())["h100"] == {"language": pytest.approx(2 + 1 / 6)}


def test_nodes_that_run_most_of_the_time_are_named_where_they_are_on_demand() -> None:
    nodes = {"h100": [2.0, 2.0, 1.0, 1.0, 1.0, 1.0], "gpu-spot": [3.0] * 6, "cpu": [0.0] * 6}
    found = result().model_copy(update={"timeline": result().timeline.model_copy(update={"nodes": nodes})})
    assert steady(found, planned()) == {"h100": (1, 1.0)}


AGAINST = [
    ({"usd": 400.0}, []),
    ({"mean": 1060.0, "team": 1060.0, "p95": 9060.0}, []),
    ({"mean": 1061.0}, ["the mean wait of all is longer"]),
    ({"team": 1061.0}, ["the mean wait of team a is longer"]),
    ({"p95": 9061.0}, ["the 95th percentile of all waits is longer"]),
    ({"work": 98.0}, []),
    ({"work": 97.0}, ["3.0% less work is done"]),
    ({"given_up": 6, "short": 6}, []),
    ({"given_up": 7}, ["2 more jobs can't run"]),
    ({"short": 25}, ["20 more jobs get less than they ask for"]),
]


@pytest.mark.parametrize(("fields", "says"), AGAINST, ids=[str(fields) for fields, _ in AGAINST])
def test_objections(fields: dict[str, Any], says: list[str]) -> None:
    assert list(objections(made(), made(**fields), longer=0.0)) == says


def test_waits_may_become_longer_by_a_part_that_the_user_gives() -> None:
    assert list(objections(made(), made(mean=1160.0), longer=0.1)) == []
    assert list(objections(made(), made(mean=1161.0), longer=0.1)) != []


def test_saved_is_of_an_hour_of_work() -> None:
    assert saved(made(), made(usd=400.0)) == pytest.approx(0.2)
    assert saved(made(), made(usd=1000.0, work=200.0)) == 0, "twice the work for twice the cost"
