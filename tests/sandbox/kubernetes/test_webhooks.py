"""Webhooks and APIs whose server does not run yet, or never."""

import json
from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.webhooks import (
    CLOSED,
    CONVERSION,
    WAITS_FOR,
    as_applied,
    left_out,
    settled,
    with_conversion,
    without_conversion,
)
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.serving import called, unanswered
from tests.sandbox.kubernetes.hooks import Hooks
from tests.support.quotas import until_refused

SERVICE = ("kueue-system", "kueue-webhook-service")
OTHER = {"service": {"namespace": "elb", "name": "aws-load-balancer-webhook-service"}}
OWN_CONDITION = {"name": "own", "expression": "true"}


def configuration(*configs: dict[str, Any]) -> dict[str, Any]:
    hooks = [{"name": f"h{index}", "clientConfig": config} for index, config in enumerate(configs)]
    of = Ref("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "kueue")
    return {**of.as_object(), "webhooks": hooks}


def of_kueue(path: str = "/mutate") -> dict[str, Any]:
    return {"service": {"namespace": SERVICE[0], "name": SERVICE[1], "path": path}}


def test_webhooks_of_a_controller_that_runs_stay_as_they_are() -> None:
    obj = configuration(of_kueue(), of_kueue("/other"))
    assert left_out(obj, {"kueue": True}) == ""
    assert as_applied(obj, {"kueue": True}) == obj


def test_webhooks_of_a_controller_that_is_not_built_are_closed() -> None:
    obj = configuration(of_kueue())
    obj["webhooks"][0]["matchConditions"] = [OWN_CONDITION]
    assert left_out(obj, {"kueue": False}) == ""
    (hook,) = as_applied(obj, {"kueue": False})["webhooks"]
    assert hook["matchConditions"] == [OWN_CONDITION, {"name": CLOSED, "expression": "false"}]


def test_webhooks_of_anything_else_are_left_out() -> None:
    assert left_out(configuration(of_kueue()), {}) == "webhooks of service kueue-system/kueue-webhook-service"
    assert left_out(configuration(of_kueue()), {"jobset": True}) != ""
    both = configuration(of_kueue(), OTHER)
    assert "aws-load-balancer" in left_out(both, {"kueue": True})
    assert left_out({**both, "webhooks": []}, {"kueue": True}) == ""


def test_a_running_controller_opens_its_webhooks_alone() -> None:
    closed = as_applied(configuration(of_kueue()), {"kueue": False})
    closed["webhooks"].append({"name": "other", "clientConfig": OTHER, "matchConditions": [OWN_CONDITION]})
    hooks = settled(closed, lambda service: service == SERVICE, lambda _: False, lambda _: "")
    assert hooks[0] == {"name": "h0", "clientConfig": of_kueue()}
    assert hooks[1] == closed["webhooks"][1]
    assert settled(closed, lambda _: False, lambda _: False, lambda _: "") == closed["webhooks"]


def test_webhooks_that_nothing_here_answers_are_closed_once() -> None:
    remote, local = {"url": "https://hooks.example.com/deny"}, {"url": "https://127.0.0.1:9443/deny"}
    obj = configuration(of_kueue(), OTHER, remote, local)
    hooks = settled(obj, lambda _: False, lambda service: service != SERVICE, lambda _: "")
    assert ["matchConditions" in each for each in hooks] == [False, True, True, False]
    again = {**obj, "webhooks": hooks}
    assert settled(again, lambda _: False, lambda service: service != SERVICE, lambda _: "") == hooks


def test_the_bundle_of_a_certificate_that_the_sandbox_issued_is_set() -> None:
    obj = configuration(of_kueue())
    obj["webhooks"][0]["clientConfig"]["caBundle"] = "old"
    (hook,) = settled(obj, lambda _: True, lambda _: False, lambda _: "new")
    assert hook["clientConfig"]["caBundle"] == "new"
    (hook,) = settled(obj, lambda _: True, lambda _: False, lambda _: "")
    assert hook["clientConfig"]["caBundle"] == "old"


def test_a_closed_conversion_opens_again() -> None:
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": of_kueue("/convert")}}
    crd = {"metadata": {"name": "queues", "labels": {"a": "b"}}, "spec": {"group": "x", "conversion": conversion}}
    closed = without_conversion(crd, "kueue")
    assert closed["spec"] == {"group": "x"}
    assert closed["metadata"]["labels"] == {"a": "b", WAITS_FOR: "kueue"}
    assert json.loads(closed["metadata"]["annotations"][CONVERSION]) == conversion
    patch = with_conversion(closed["metadata"])
    assert patch["spec"] == {"conversion": conversion}
    assert patch["metadata"] == {"labels": {WAITS_FOR: None}, "annotations": {CONVERSION: None}}


VALIDATING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration"
UNSERVED_SERVICE = {"service": {"namespace": "kueue-system", "name": "kueue-webhook"}}


def unserved_configuration(
    name: str, config: dict[str, Any], kind: str = "ValidatingWebhookConfiguration"
) -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    hook = {"name": "deny.example.com", "clientConfig": config, "failurePolicy": "Fail", "rules": [rule],
        "sideEffects": "None", "admissionReviewVersions": ["v1"]}  # fmt: skip
    return {**Ref("admissionregistration.k8s.io/v1", kind, name).as_object(), "webhooks": [hook]}


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
@pytest.mark.parametrize(("config", "reason"), [
    (UNSERVED_SERVICE, "webhooks of service kueue-system/kueue-webhook"),
    ({"url": "https://hooks.example.com/deny"}, "webhooks of hooks.example.com"),
    ({"url": "https://127.0.0.1:9443/deny"}, ""),
    ({"url": "https://localhost:9443/deny"}, ""),
])  # fmt: skip
def test_webhooks_whose_server_does_not_run_are_left_out(kind: str, config: dict[str, Any], reason: str) -> None:
    assert left_out(unserved_configuration("it", config, kind)) == reason


def test_an_aggregated_api_is_left_out_and_a_local_one_is_not() -> None:
    api = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.external"}}
    service = {"service": {"namespace": "keda", "name": "keda-metrics"}}
    assert left_out({**api, "spec": service}) == "API of service keda/keda-metrics"
    assert left_out({**api, "spec": {}}) == ""


@pytest.mark.parametrize("kind", ["ConfigMap", "ValidatingAdmissionPolicy"])
def test_other_objects_are_applied(kind: str) -> None:
    assert left_out({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, **UNSERVED_SERVICE}) == ""


@pytest.mark.sandbox
def test_a_manifest_with_webhooks_exists_in_the_state_alone_and_is_noted(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    inputs = unserved_configuration("left-out", UNSERVED_SERVICE)
    id, outputs, checked = hooks.create(VALIDATING, inputs)
    assert client.get(Ref.of(inputs)) is None
    assert hooks.noted() == {"left out": left_out(inputs)}
    # Otherwise this would be refused.
    client.apply(Ref("v1", "ConfigMap", "free", namespace).as_object(), "test")
    found = hooks.found(VALIDATING, id, outputs, checked)
    assert (found.id, found.inputs) == (id, checked)
    assert hooks.update(VALIDATING, id, outputs, checked, checked)["metadata"]["name"] == "left-out"
    hooks.delete(VALIDATING, id, outputs, checked)
    assert hooks.noted() == {}


@pytest.mark.sandbox
def test_webhooks_that_the_api_server_can_ask_are_asked(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    """A server of the user on loopback; here none answers, so the API server refuses."""
    inputs = unserved_configuration("asked", {"url": "https://127.0.0.1:1/deny"})
    inputs["webhooks"][0]["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    id, outputs, checked = hooks.create(VALIDATING, inputs)
    try:
        refused = Ref("v1", "ConfigMap", "refused", namespace).as_object()
        until_refused(client, refused, 'failed calling webhook "deny.example.com"')
    finally:
        hooks.delete(VALIDATING, id, outputs, checked)


# Why a Service answers nothing.


OF_KUEUE = {"metadata": {"name": "hooks", "namespace": "kueue-system"}, "spec": {"selector": {"app": "kueue"}}}
DOWN = (
    'failed calling webhook "mjob.kb.io": failed to call webhook: Post '
    '"https://hooks.kueue-system.svc:443/mutate-batch-v1-job?timeout=10s": no endpoints available for service "hooks"'
)


def deployment(replicas: int, ready: int = 0, app: str = "kueue") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": app, "more": "yes"}}}
    return {
        "metadata": {"name": "manager", "namespace": "kueue-system"},
        "spec": {"replicas": replicas, "template": template},
        "status": {"readyReplicas": ready} if ready else {},
    }


def test_the_service_of_a_failed_call() -> None:
    assert called(DOWN) == ("kueue-system", "hooks")
    assert called('Post "https://127.0.0.1:9443/deny": connection refused') is None


@pytest.mark.parametrize(
    ("found", "why", "command"),
    [
        (deployment(0), "Deployment kueue-system/manager is scaled to zero", "scale deployment manager --replicas=1`"),
        (
            deployment(1),
            "Deployment kueue-system/manager has no ready pod",
            "describe pods -l 'app=kueue'` says what holds them",
        ),
        (
            deployment(1, 1, app="other"),
            "no Deployment of namespace kueue-system is behind Service hooks",
            "get pods -l 'app=kueue'` lists its pods",
        ),
    ],
)
def test_why_a_service_does_not_answer(found: dict[str, Any], why: str, command: str) -> None:
    assert str(unanswered(OF_KUEUE, [found])) == f"{why}: `kubectl -n kueue-system {command}"
    assert unanswered(OF_KUEUE, [deployment(0), deployment(2, 1)]) is None
