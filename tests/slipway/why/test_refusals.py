"""What refuses an object, from messages of API servers."""

from __future__ import annotations

import pytest

from components.admission import StackContext, rules
from slipway.why.answer import Layer
from slipway.why.refusals import refusal

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
