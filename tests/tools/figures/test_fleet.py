"""The static fleet, on cases that were worked out by hand."""

from __future__ import annotations

from math import inf

import pytest

from tools.figures.fleet import Request, smallest, starts, wait_p95

NODE = (8,)
WEEK = 604_800.0


def job(submitted: float, duration: float, gpus: int, pods: int = 1, kind: str = "") -> Request:
    return Request(submitted=submitted, duration=duration, pods=pods, each=(gpus,), kind=kind)


@pytest.mark.parametrize(
    ("jobs", "nodes", "expected"),
    [
        pytest.param([job(0, 100, 4), job(1, 100, 4), job(2, 100, 1)], 1, [0, 1, 100], id="the third waits for room"),
        pytest.param([job(0, 100, 8), job(10, 50, 8), job(20, 10, 1)], 1, [0, 100, 150], id="nobody overtakes"),
        pytest.param([job(0, 100, 8), job(10, 50, 8), job(20, 10, 1)], 2, [0, 10, 60], id="a second node"),
        pytest.param([job(0, 100, 4), job(0, 60, 4), job(5, 10, 5)], 1, [0, 0, 100], id="room of one node alone"),
        pytest.param([job(0, 100, 5), job(0, 60, 5), job(5, 10, 3, pods=2)], 2, [0, 0, 5], id="pods on two nodes"),
        pytest.param([job(0, 100, 8, pods=3), job(1, 10, 1)], 2, [inf, inf], id="a gang that never fits holds all"),
        pytest.param([job(0, WEEK, 8), job(1, 10, 8)], 1, [0, inf], id="the end comes first"),
    ],
)
def test_jobs_start_in_the_order_in_which_they_came(jobs: list[Request], nodes: int, expected: list[float]) -> None:
    assert starts(jobs, nodes, NODE, WEEK) == expected


def test_a_pod_takes_each_of_its_resources() -> None:
    jobs = [Request(submitted=0, duration=10, pods=1, each=each) for each in ((1000, 60), (1000, 60), (3000, 10))]
    assert starts(jobs, 1, (4000, 100), WEEK) == [0, 10, 10]


def test_a_wait_lasts_until_the_end_at_most() -> None:
    jobs = [job(0, WEEK, 8), job(100, 10, 8)]
    assert wait_p95(jobs, [0.0, inf], WEEK) == WEEK - 100


@pytest.mark.parametrize(("target", "nodes"), [(0.0, 3), (99.0, 3), (100.0, 2), (200.0, 1)])
def test_the_smallest_fleet_for_a_wait(target: float, nodes: int) -> None:
    # Three whole nodes at once: on two nodes the last one waits 100 s, on one node 200 s.
    assert smallest([job(0, 100, 8)] * 3, NODE, {"": target}, WEEK) == nodes


@pytest.mark.parametrize(("training", "nodes"), [(100.0, 2), (99.0, 3)])
def test_no_class_waits_longer_than_its_own_target(training: float, nodes: int) -> None:
    jobs = [*[job(0, 100, 8, kind="experiment")] * 2, job(0, 100, 8, kind="training")]
    assert smallest(jobs, NODE, {"experiment": 0.0, "training": training}, WEEK) == nodes


def test_without_jobs_there_is_no_fleet() -> None:
    assert smallest([], NODE, {}, WEEK) == 0


def test_a_pod_that_no_node_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="larger than a node"):
        smallest([job(0, 1, 9)], NODE, {"": 0.0}, WEEK)
