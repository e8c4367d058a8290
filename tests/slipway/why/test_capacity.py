"""Why no node appears: events of Karpenter v1.14.1 and of the Cluster Autoscaler, and NodeClaims."""

from dataclasses import replace
from typing import Any

import pytest

from components.workloads.target import Target
from slipway.why.answer import Layer
from slipway.why.bundle import Bundle
from slipway.why.explain import explain
from tests.slipway.why.objects import DEV, MANAGED, POOL, Object, bundle, cases, condition, event, obj, unscheduled

A100 = {
    "nodeSelector": {POOL: "a100"},
    "tolerations": [{"operator": "Exists"}],
    "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "1"}}}],
}
PENDING = unscheduled("0/3 nodes are available: 3 Insufficient nvidia.com/mig-1g.5gb.", spec=A100)
SMALL = "Failed to schedule pod, no instance type has enough resources, requirements=x In [y], resources={}"
CLAIM = obj("NodeClaim", "a100-x7b2f")
FLEET = "NodeClaim a100-x7b2f event: creating instance, insufficient capacity, with fleet error(s), "
NO_QUOTA = FLEET + "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 0 allows"
OFFERING = "Failed to schedule pod, no instance type has the required offering, requirements=x In [y], resources={}"


NO_GROUP = "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector"


def karpenter(message: str, reason: str = "FailedScheduling") -> Object:
    return event(PENDING, reason, message, by="karpenter")


def of_row(row: dict[str, Any]) -> Bundle:
    """What is read about the pod, of a row of `cases.yaml`."""
    events = []
    if "nominated" in row:
        events.append(karpenter(f"Pod should schedule on: {row['nominated']}", "Nominated"))
    if "refused" in row:
        about = obj("NodeClaim", row.get("of", CLAIM["metadata"]["name"]))
        events.append(event(about, "InsufficientCapacityError", FLEET + row["refused"]))
    if "karpenter" in row:
        events.append(karpenter(f"Failed to schedule pod, {row['karpenter']}"))
    if "autoscaler" in row:
        events.append(event(PENDING, *row["autoscaler"], by="cluster-autoscaler"))
    steps = [condition(step, *rest) for step, rest in row.get("claim", {}).items()]
    objects = [{**CLAIM, "status": {"conditions": steps}}] if "claim" in row else []
    return bundle(PENDING, *objects, events=tuple(events), target=MANAGED if "autoscaler" in row else DEV)


@cases("capacity")
def test_the_answer_names_what_keeps_the_node_away(row: dict[str, Any]) -> None:
    answer = explain(of_row(row))
    assert (answer.part.layer, row["says"] in answer.part.cause) == (row["layer"], True), answer
    assert answer.part.fix
    assert len(answer.part.evidence) >= 2


def test_a_node_that_is_launched_is_expected_when_those_of_its_pool_usually_are() -> None:
    labels = {"labels": {"karpenter.sh/nodepool": "a100"}, "creationTimestamp": "2026-11-22T12:00:00Z"}
    claim = obj("NodeClaim", "a100-x7b2f", metadata=labels, status={"conditions": []})
    nominated = karpenter("Pod should schedule on: nodeclaim/a100-x7b2f", "Nominated")
    part = explain(bundle(PENDING, claim, events=(nominated,), target=DEV)).part
    assert part.numbers["expected"] == "2026-11-22T12:04:30Z"
    assert part.fix.endswith("its node usually takes pods from 12:04:30Z on, 4 min 30 s after its launch")


def test_the_newest_event_counts() -> None:
    limit = karpenter(LIMIT)
    later = karpenter("Pod should schedule on: nodeclaim/a100-x7b2f", "Nominated")
    assert explain(bundle(PENDING, events=(later, limit))).part.layer is Layer.NODE


LIMIT = "Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=a100)"


@pytest.mark.parametrize(
    ("target", "objects", "layer"),
    [
        (DEV, (), Layer.POOL_LIMIT),
        (None, (), Layer.POOL_LIMIT),
        (None, (obj("NodePool", "a100"),), Layer.POOL_LIMIT),
        (MANAGED, (), Layer.SCHEDULER),
    ],
)
def test_the_autoscaler_of_its_pool_counts(target: Target | None, objects: tuple[Object, ...], layer: Layer) -> None:
    mine, other = karpenter(LIMIT), event(PENDING, "NotTriggerScaleUp", NO_GROUP, by="cluster-autoscaler")
    part = explain(bundle(PENDING, *objects, events=(mine, other), target=target)).part
    assert (part.layer, part.never) == (layer, layer is Layer.SCHEDULER)
    if target is not MANAGED and (target or objects):
        # Before Karpenter has said anything, nothing is known.
        assert not explain(bundle(PENDING, *objects, events=(other,), target=target)).part.never


@pytest.mark.parametrize(("pods", "never"), [(1, False), (2, True)])
def test_a_full_pool_is_no_matter_of_waiting_for_a_job_that_needs_more_nodes_than_it_may_have(
    pods: int, never: bool
) -> None:
    container = {"name": "main", "image": "a:1", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "56", "cpu": "1"}}}
    one = {**A100, "containers": [container]}
    job = obj("Job", "train", spec={"parallelism": pods, "template": {"spec": one}})
    waits = unscheduled("0/3 nodes are available: 3 x.", spec=one, owner=job)
    target = replace(DEV, shares=None)
    part = explain(
        bundle(waits, job, events=(event(waits, "FailedScheduling", LIMIT, by="karpenter"),), target=target)
    ).part
    assert (part.layer, part.never, "wait" in part.fix) == (Layer.POOL_LIMIT, never, not never)


def test_a_failed_launch_before_the_pod_existed_is_another_story() -> None:
    old = event(CLAIM, "InsufficientCapacityError", NO_QUOTA) | {"lastTimestamp": "2026-11-22T11:00:00Z"}
    assert "EC2 has just refused" in explain(bundle(PENDING, events=(old, karpenter(OFFERING)))).part.cause


def test_a_pod_that_is_too_large_for_the_pool_is_not_a_matter_of_capacity() -> None:
    container = {"name": "main", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "57"}}}
    huge = unscheduled("0/3 nodes are available: 3 x.", spec={**A100, "containers": [container]})
    answer = explain(bundle(huge, events=(event(huge, "FailedScheduling", SMALL, by="karpenter"),)))
    assert answer.part.layer is Layer.SCHEDULER


def test_a_failed_launch_shortly_before_the_pod_existed_is_why_it_waits() -> None:
    recent = event(CLAIM, "InsufficientCapacityError", NO_QUOTA) | {"lastTimestamp": "2026-11-22T11:58:00Z"}
    assert explain(bundle(PENDING, events=(recent, karpenter(OFFERING)))).part.layer is Layer.AWS_QUOTA
