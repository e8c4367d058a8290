"""Why no node appears: events of Karpenter v1.14.1 and of the Cluster Autoscaler, and NodeClaims."""

import pytest

from slipway.why.answer import Layer
from slipway.why.explain import explain
from tests.slipway.why.objects import POOL, Object, bundle, condition, event, obj, unscheduled

A100 = {
    "nodeSelector": {POOL: "a100"},
    "tolerations": [{"operator": "Exists"}],
    "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/mig-1g.5gb": "1"}}}],
}
PENDING = unscheduled("0/3 nodes are available: 3 Insufficient nvidia.com/mig-1g.5gb.", spec=A100)
SMALL = "Failed to schedule pod, no instance type has enough resources, requirements=x In [y], resources={}"
CLAIM = obj("NodeClaim", "a100-x7b2f")
FLEET = "NodeClaim a100-x7b2f event: creating instance, insufficient capacity, with fleet error(s), "
NO_CAPACITY = FLEET + "InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity"
NO_QUOTA = FLEET + "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 0 allows"
OFFERING = "Failed to schedule pod, no instance type has the required offering, requirements=x In [y], resources={}"


def karpenter(message: str, reason: str = "FailedScheduling") -> Object:
    return event(PENDING, reason, message, by="karpenter")


def claim(**steps: tuple[str, str, str]) -> Object:
    return {**CLAIM, "status": {"conditions": [condition(step, *rest) for step, rest in steps.items()]}}


LAUNCHED = {"Launched": ("True", "", "")}
REGISTERED = {**LAUNCHED, "Registered": ("True", "", "")}
NOMINATED = karpenter("Pod should schedule on: nodeclaim/a100-x7b2f", "Nominated")
CASES: dict[str, tuple[tuple[Object, ...], tuple[Object, ...], Layer, str]] = {
    "limits": (
        (karpenter("Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=a100)"),),
        (),
        Layer.POOL_LIMIT,
        "the limits of pool a100 are reached (1 nodes)",
    ),
    "limits of a pool that it can't use": (
        (
            karpenter(
                "Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=cpu); no instance type "
                "has enough resources, requirements=x In [y], resources={}"
            ),
        ),
        (),
        Layer.EC2_CAPACITY,
        "EC2 has just refused the types of pool a100",
    ),
    "an offering that EC2 refused": ((karpenter(OFFERING),), (), Layer.EC2_CAPACITY, "EC2 has just refused"),
    "no capacity": (
        (event(CLAIM, "InsufficientCapacityError", NO_CAPACITY), karpenter(OFFERING)),
        (),
        Layer.EC2_CAPACITY,
        "EC2 refuses the launch: InsufficientInstanceCapacity: We currently do not have",
    ),
    "a quota of the account": (
        (event(CLAIM, "InsufficientCapacityError", NO_QUOTA), karpenter(OFFERING)),
        (),
        Layer.AWS_QUOTA,
        "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 0",
    ),
    "capacity of another pool": (
        (event(obj("NodeClaim", "h100-1"), "InsufficientCapacityError", NO_QUOTA), karpenter(OFFERING)),
        (),
        Layer.EC2_CAPACITY,
        "EC2 has just refused",
    ),
    "types that EC2 has refused, of the smaller ones that are left": (
        (karpenter(SMALL),),
        (),
        Layer.EC2_CAPACITY,
        "EC2 has just refused the types of pool a100 that are large enough",
    ),
    "the same with the error": (
        (event(CLAIM, "InsufficientCapacityError", NO_CAPACITY), karpenter(SMALL)),
        (),
        Layer.EC2_CAPACITY,
        "InsufficientInstanceCapacity",
    ),
    "a launch that can't be seen": ((NOMINATED,), (), Layer.NODE, "Karpenter launches node claim a100-x7b2f"),
    "a launch that has failed": (
        (NOMINATED, event(CLAIM, "InsufficientCapacityError", NO_CAPACITY)),
        (),
        Layer.EC2_CAPACITY,
        "InsufficientInstanceCapacity",
    ),
    "an instance that is requested": ((NOMINATED,), (claim(),), Layer.NODE, "Karpenter requests an instance"),
    "an instance that has not joined": (
        (NOMINATED,),
        (claim(**LAUNCHED, Registered=("Unknown", "NodeNotFound", "Node not registered with cluster")),),
        Layer.NODE,
        "runs and has not joined the cluster",
    ),
    "GPUs that are not advertised": (
        (NOMINATED,),
        (
            claim(
                **REGISTERED,
                Initialized=(
                    "Unknown", "ResourceNotRegistered", 'Resource "nvidia.com/gpu" was requested but not registered',
                ),
            ),
        ),
        Layer.NODE,
        'is not ready: Resource "nvidia.com/gpu" was requested but not registered',
    ),
    "a node that is free soon": (
        (karpenter("Pod should schedule on: node/ip-10-0-0-1", "Nominated"),), (), Layer.NODE, "on node ip-10-0-0-1",
    ),
    "a group that grows": (
        (event(PENDING, "TriggeredScaleUp", "pod triggered scale-up: [{a 0->1 (max: 2)}]", by="cluster-autoscaler"),),
        (),
        Layer.NODE,
        "0->1 (max: 2)",
    ),
    "a group at its maximum": (
        (
            event(
                PENDING, "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached",
                by="cluster-autoscaler",
            ),
        ),
        (),
        Layer.POOL_LIMIT,
        "1 max node group size reached",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_answer_names_what_keeps_the_node_away(case: str) -> None:
    events, objects, layer, cause = CASES[case]
    answer = explain(bundle(PENDING, *objects, events=events))
    assert (answer.part.layer, cause in answer.part.cause) == (layer, True), answer
    assert answer.part.fix
    assert len(answer.part.evidence) >= 2


def test_the_newest_event_counts() -> None:
    limit = karpenter("Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=a100)")
    later = karpenter("Pod should schedule on: nodeclaim/a100-x7b2f", "Nominated")
    assert explain(bundle(PENDING, events=(later, limit))).part.layer is Layer.NODE


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
