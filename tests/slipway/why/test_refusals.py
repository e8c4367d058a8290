"""What refuses an object, and the messages that are taken apart."""

import pytest

from components.admission import StackContext, rules
from slipway.why import messages
from slipway.why.answer import Layer
from slipway.why.messages import FlavorReason, Unschedulable
from slipway.why.refusals import refusal

# What refuses an object, from messages of API servers.


POLICY = (
    "jobs.batch \"a\" is forbidden: ValidatingAdmissionPolicy '{0}.platform.slipway' with binding "
    "'{0}.platform.slipway' denied request: {1}"
)
PRIORITY = "the priority class urgent is not for teams: use one of production-inference, experiment"
GPU = (
    "no pool fits this pod, it would stay pending forever: it requests nvidia.com/gpu 8. Nodes offer: h100 "
    "(nvidia.com/gpu 1). Select the pool"
)
CASES = {
    "a rule": (
        POLICY.format("gpu-pool", GPU),
        Layer.ADMISSION,
        "rule gpuPool: no pool fits this pod, it would stay pending forever: it requests nvidia.com/gpu 8",
        "nodes offer: h100 (nvidia.com/gpu 1). Select the pool",
    ),
    "a rule whose fix continues the sentence": (
        POLICY.format("priority-class", PRIORITY),
        Layer.ADMISSION,
        "rule priorityClass: the priority class urgent is not for teams",
        "use one of production-inference, experiment",
    ),
    "a policy of somebody else": (
        POLICY.format("other", "no"),
        Layer.ADMISSION,
        "rule other: no",
        "change it as the rule says",
    ),
    "a ResourceQuota": (
        (
            'pods "a-x" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=8, '
            "used: requests.nvidia.com/gpu=12, limited: requests.nvidia.com/gpu=16"
        ),
        Layer.QUOTA,
        "ResourceQuota team of the namespace: 8 of requests.nvidia.com/gpu requested, 12 of 16 used",
        "wait until other pods of the namespace end",
    ),
    "a ResourceQuota of zero": (
        'pods "a-x" is forbidden: exceeded quota: priorities, requested: pods=1, used: pods=0, limited: pods=0',
        Layer.QUOTA,
        "ResourceQuota priorities of the namespace: 1 of pods requested, 0 of 0 used",
        "use another resource or priority class",
    ),
    "a LimitRange": (
        (
            'Error creating: pods "big-node-cpu-8lhg7" is forbidden: maximum cpu usage per Container is 95190m, '
            "but limit is 500"
        ),
        Layer.QUOTA,
        "at most 95190m of cpu for each Container, but limit is 500; no node that the team may use is larger",
        "request at most 95190m",
    ),
    "a service account": (
        'Error creating: pods "sa-" is forbidden: error looking up service account vision/nope: it is not found',
        Layer.ADMISSION,
        "service account vision/nope does not exist",
        "use the service account `workload`",
    ),
    "Pod Security": (
        (
            'pods "a" is forbidden: violates PodSecurity "baseline:latest": privileged (container "main" must not set '
            "securityContext.privileged=true)"
        ),
        Layer.ADMISSION,
        'Pod Security baseline:latest: privileged (container "main" must not',
        "remove these fields",
    ),
    "a priority class": (
        'pods "a" is forbidden: no PriorityClass with name urgent was found',
        Layer.ADMISSION,
        "priority class urgent does not exist",
        "kubectl get priorityclass",
    ),
    "a webhook": (
        'admission webhook "vjob.kb.io" denied the request: metadata.labels[queue-name]: invalid',
        Layer.ADMISSION,
        "webhook vjob.kb.io: metadata.labels[queue-name]: invalid",
        "change it as the webhook says",
    ),
    "a webhook that is down": (
        'Internal error occurred: failed calling webhook "mpod.kb.io": failed to call webhook: connection refused',
        Layer.ADMISSION,
        "webhook mpod.kb.io does not answer",
        "look at the pods of the webhook's controller",
    ),
    "a missing permission": (
        'jobs.batch is forbidden: User "ada" cannot create resource "jobs" in API group "batch" in the namespace "x"',
        Layer.ADMISSION,
        'ada may not create resource "jobs"',
        "ask for the role `edit`",
    ),
    "an invalid object": (
        'Job.batch "a" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "Never"',
        Layer.ADMISSION,
        "the API server finds it invalid: spec.template.spec.restartPolicy: Required value",
        "correct the field",
    ),
    "an unknown field": (
        'Job in version "v1" cannot be handled as a Job: strict decoding error: unknown field "spec.paralelism"',
        Layer.ADMISSION,
        'unknown field "spec.paralelism"',
        "correct the field",
    ),
    "a missing namespace": (
        'namespaces "visoin" not found',
        Layer.ADMISSION,
        "namespace visoin does not exist",
        "use a namespace of a team",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_message_names_its_layer_cause_and_fix(case: str) -> None:
    message, layer, cause, fix = CASES[case]
    found = refusal(message)
    assert found is not None
    assert (found.layer, cause in found.cause, fix in found.fix) == (layer, True, True), found


def test_a_message_of_another_kind_is_no_refusal() -> None:
    assert refusal("Created pod: train-1") is None


def test_the_numbers_of_a_quota() -> None:
    found = refusal(CASES["a ResourceQuota"][0])
    assert found is not None
    assert found.numbers == {
        "resource": "requests.nvidia.com/gpu", "requested": "8", "used": "12", "limit": "16",
    }  # fmt: skip


@pytest.mark.parametrize("rule", rules(StackContext(pools={}, queues=True, max_replicas=7)), ids=lambda rule: rule.name)
def test_the_message_of_every_rule_is_split_into_cause_and_fix(rule: object) -> None:
    name, message = getattr(rule, "name"), getattr(rule, "message")  # noqa: B009 - a rule is an object here
    text = f"{message.wrong}{'VALUE' if message.found else ''}{message.fix}"
    found = refusal(POLICY.format(name, text))
    assert found is not None
    assert found.fix != "change it as the rule says", found
    whole = f"{found.cause} {found.fix}".lower()
    assert all(word in whole for word in text.lower().rstrip(".").replace(". ", " ").replace(": ", " ").split())


# Messages of the scheduler, of Kueue and of Karpenter, taken apart.


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
