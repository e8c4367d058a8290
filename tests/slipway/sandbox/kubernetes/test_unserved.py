from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm.binary import available
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.kubernetes.unserved import left_out
from tests.slipway.sandbox.kubernetes.helm.charts import CONFIG_MAP, write_chart
from tests.slipway.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.slipway.sandbox.plane import ControlPlane
from tests.support.quotas import until_refused

VALIDATING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration"
SERVICE = {"service": {"namespace": "kueue-system", "name": "kueue-webhook"}}


def configuration(name: str, config: dict[str, Any], kind: str = "ValidatingWebhookConfiguration") -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    hook = {
        "name": "deny.example.com",
        "clientConfig": config,
        "failurePolicy": "Fail",
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    api = "admissionregistration.k8s.io/v1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "webhooks": [hook]}


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (SERVICE, "webhooks of service kueue-system/kueue-webhook"),
        ({"url": "https://hooks.example.com/deny"}, "webhooks of hooks.example.com"),
        ({"url": "https://127.0.0.1:9443/deny"}, ""),
        ({"url": "https://localhost:9443/deny"}, ""),
    ],
)
def test_webhooks_whose_server_does_not_run_are_left_out(kind: str, config: dict[str, Any], reason: str) -> None:
    assert left_out(configuration("it", config, kind)) == reason


def test_an_aggregated_api_is_left_out_and_a_local_one_is_not() -> None:
    api = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.external"}}
    service = {"service": {"namespace": "keda", "name": "keda-metrics"}}
    assert left_out({**api, "spec": service}) == "API of service keda/keda-metrics"
    assert left_out({**api, "spec": {}}) == ""


@pytest.mark.parametrize("kind", ["ConfigMap", "ValidatingAdmissionPolicy"])
def test_other_objects_are_applied(kind: str) -> None:
    assert left_out({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, **SERVICE}) == ""


@pytest.mark.sandbox
def test_a_manifest_with_webhooks_exists_in_the_state_alone_and_is_noted(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    inputs = configuration("left-out", SERVICE)
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
    inputs = configuration("asked", {"url": "https://127.0.0.1:1/deny"})
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
@pytest.mark.skipif(available() is None, reason="no helm here: run `python -m slipway.toolchain ensure helm`")
def test_webhooks_of_a_release_are_left_out_and_noted(
    plane: ControlPlane, client: KubeClient, namespace: str, tmp_path: Path
) -> None:
    name = f"webhooks-of-{namespace}"
    charts = tmp_path / "charts"
    template = yaml.safe_dump(configuration(name, SERVICE))
    write_chart(charts, templates={"webhook.yaml": template, "config.yaml": CONFIG_MAP})
    hooks = make_hooks(plane, tmp_path, charts)
    created = hooks.create(RELEASE, {"chart": "widget", "name": "widget", "namespace": namespace})
    assert client.get(Ref("v1", "ConfigMap", "widget-config", namespace)) is not None
    assert client.get(Ref.of(configuration(name, SERVICE))) is None
    assert hooks.noted()["left out"] == "webhooks of service kueue-system/kueue-webhook"
    hooks.delete(RELEASE, *created)
