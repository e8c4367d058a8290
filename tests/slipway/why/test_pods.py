"""What the scheduler reports on a pod, joined with the pools of the stack."""

from __future__ import annotations

from dataclasses import replace

from slipway.why.answer import Layer
from slipway.why.explain import explain
from tests.slipway.why.objects import DEV, POOL, bundle, obj, unscheduled

JOB = obj("Job", "train", status={})
NO_CPU = (
    "0/7 nodes are available: 3 Insufficient memory, 3 node(s) had untolerated taint(s), 4 Insufficient cpu. "
    "no new claims to deallocate, preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."
)


def test_the_scheduler_joined_with_the_pools_of_the_stack() -> None:
    nodes = [obj("Node", f"cpu-{number}", metadata={"labels": {POOL: "cpu"}}) for number in range(6)]
    read = bundle(JOB, unscheduled(NO_CPU, owner=JOB, spec={"nodeSelector": {POOL: "cpu"}}), *nodes[:1])
    assert explain(read).sentence == (
        "job/train has no node that the scheduler accepts: no node that exists can take it (short of cpu, memory), and "
        "its pools may have more: cpu (1 of 6 nodes); next: wait for the autoscaler; if it has not reacted in five "
        "minutes, look at its log."
    )
    full = explain(replace(read, objects=(*read.objects, *nodes[1:])))
    assert full.part.layer is Layer.POOL_LIMIT
    assert full.part.numbers["limit"] == "6"
    assert "pools.cpu.max" in full.part.fix


def test_a_pod_larger_than_every_node_names_the_node() -> None:
    huge = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "90"}}}], "nodeSelector": {POOL: "cpu"}}
    answer = explain(bundle(unscheduled(NO_CPU, spec=huge)))
    assert answer.part.layer is Layer.SCHEDULER
    assert "of pool cpu has 15.39 of cpu for pods" in answer.part.cause
    assert answer.part.numbers == {"pool": "cpu", "given": "90"}


def test_an_untolerated_taint_names_pool_and_taint() -> None:
    answer = explain(bundle(unscheduled(NO_CPU, spec={"nodeSelector": {POOL: "h100"}})))
    assert "must tolerate its taint nvidia.com/gpu=true:NoSchedule" in answer.part.cause


def test_without_a_stack_the_numbers_of_nodes_are_the_answer() -> None:
    answer = explain(bundle(unscheduled(NO_CPU), target=None))
    assert answer.part.cause.startswith("of 7 nodes 4 Insufficient cpu, 3 ")
    assert answer.part.fix == "request less, or wait until other pods end"


def test_the_target_of_these_tests_is_dev() -> None:
    assert DEV.pools["cpu"].settings.max == 6
