"""Webhooks and APIs whose server does not run yet, or never."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

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
from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.objects import Ref
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, write_chart
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.plane import ControlPlane
from tests.support.quotas import until_refused

SERVICE = ("kueue-system", "kueue-webhook-service")
OTHER = {"service": {"namespace": "elb", "name": "aws-load-balancer-webhook-service"}}
OWN_CONDITION = {"name": "own", "expression": "true"}


def configuration(*configs: dict[str, Any]) -> dict[str, Any]:
    hooks = [{"name": f"h{index}", "clientConfig": config} for index, config in enumerate(configs)]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "kueue"},
        "webhooks": hooks,
    }


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
    api = "admissionregistration.k8s.io/v1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "webhooks": [hook]}


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
    found = hooks.read(VALIDATING, id, outputs, checked)
    assert found is not None
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
        until_refused(
            client,
            Ref("v1", "ConfigMap", "refused", namespace).as_object(),
            'failed calling webhook "deny.example.com"',
        )
    finally:
        hooks.delete(VALIDATING, id, outputs, checked)


@pytest.mark.sandbox
@pytest.mark.skipif(available() is None, reason="no helm here: run `python -m sandbox.toolchain ensure helm`")
def test_webhooks_of_a_release_are_left_out_and_noted(
    plane: ControlPlane, client: KubeClient, namespace: str, tmp_path: Path
) -> None:
    name = f"webhooks-of-{namespace}"
    charts = tmp_path / "charts"
    template = yaml.safe_dump(unserved_configuration(name, UNSERVED_SERVICE))
    write_chart(charts, templates={"webhook.yaml": template, "config.yaml": CONFIG_MAP})
    hooks = make_hooks(plane, tmp_path, charts)
    created = hooks.create(RELEASE, {"chart": "widget", "name": "widget", "namespace": namespace})
    assert client.get(Ref("v1", "ConfigMap", "widget-config", namespace)) is not None
    assert client.get(Ref.of(unserved_configuration(name, UNSERVED_SERVICE))) is None
    assert hooks.noted()["left out"] == "webhooks of service kueue-system/kueue-webhook"
    hooks.delete(RELEASE, *created)
