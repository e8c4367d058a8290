"""Messages of the scheduler, of Kueue and of Karpenter, taken apart."""

from __future__ import annotations

from slipway.why import messages
from slipway.why.messages import FlavorReason, Unschedulable

SCHEDULER = (
    "0/7 nodes are available: 3 Insufficient memory, 3 node(s) had untolerated taint(s), 4 Insufficient cpu. "
    "no new claims to deallocate, preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."
)


def test_reasons_of_the_scheduler_without_preemption() -> None:
    reasons = {"Insufficient memory": 3, "node(s) had untolerated taint(s)": 3, "Insufficient cpu": 4}
    assert messages.unschedulable(SCHEDULER) == Unschedulable(7, reasons)


def test_a_reason_that_concerns_the_pod_alone() -> None:
    message = '0/7 nodes are available: persistentvolumeclaim "x" not found. not found'
    assert messages.unschedulable(message) == Unschedulable(7, {}, 'persistentvolumeclaim "x" not found. not found')


def test_reasons_of_flavors() -> None:
    message = (
        "couldn't assign flavors to pod set main: flavor cpu doesn't match node affinity, "
        "insufficient quota for nvidia.com/gpu in flavor h100, previously considered podsets requests (0) + current "
        "podset request (32) > maximum capacity (16), insufficient unused quota for cpu in flavor gpu-spot, 8 more "
        "needed, untolerated taint {nvidia.com/gpu: true} in flavor a100"
    )
    assert sorted(messages.flavor_reasons(message), key=lambda one: one.flavor) == [
        FlavorReason("a100", taint="{nvidia.com/gpu: true}"),
        FlavorReason("cpu"),
        FlavorReason("gpu-spot", resource="cpu", missing="8"),
        FlavorReason("h100", resource="nvidia.com/gpu", requested="32", limit="16"),
    ]


def test_a_resource_without_a_flavor() -> None:
    message = "couldn't assign flavors to pod set main: resource nvidia.com/gpu unavailable in ClusterQueue"
    assert messages.unavailable(message) == "nvidia.com/gpu"
    assert messages.unavailable("anything else") == ""


def test_errors_of_karpenter() -> None:
    limit = (
        "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=h100); "
        "did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule)"
    )
    offering = "Failed to schedule pod, no instance type has the required offering, requirements=x In [y], resources={}"
    small = "Failed to schedule pod, no instance type has enough resources, requirements=x In [y], resources={}"
    assert messages.limits_reached(limit) == ["h100"]
    assert messages.limits_reached("node limits have been exhausted for nodepool (NodePool=cpu)") == ["cpu"]
    assert [messages.lacks_offering(each) for each in (limit, offering, small)] == [False, True, False]
    assert [messages.lacks_resources(each) for each in (limit, offering, small)] == [False, False, True]


def test_where_karpenter_wants_a_pod() -> None:
    assert messages.nominated("Pod should schedule on: nodeclaim/h100-x7b2f") == {"nodeclaim": "h100-x7b2f"}
    assert messages.nominated("Pod should schedule on: nodeclaim/a-1, node/ip-10") == {
        "nodeclaim": "a-1",
        "node": "ip-10",
    }
    assert messages.nominated("something else") == {}


def test_quotas_of_an_account_are_not_capacity() -> None:
    assert messages.quota_code("with fleet error(s), VcpuLimitExceeded: You have requested more") == "VcpuLimitExceeded"
    assert messages.quota_code("InsufficientInstanceCapacity: We currently do not have") == ""
