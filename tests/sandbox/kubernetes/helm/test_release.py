import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.kubernetes import crds, waiting
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.kubernetes.helm.charts import (
    CONFIG_MAP,
    GAUGE,
    REFUSED,
    SECOND,
    TEMPLATES,
    needs_helm,
    release,
    write_chart,
)
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks
from tests.sandbox.plane import ControlPlane, crd, existing

pytestmark = pytest.mark.sandbox

DEFINITION = crd("helm.test", "Gauge", {"level": {"type": "integer"}})


def test_a_release_gets_a_generated_name_and_keeps_it(hooks: Hooks) -> None:
    first, _ = hooks.check(RELEASE, {"chart": "none"}, name="queue")
    assert first["name"].startswith("queue-")
    assert first["namespace"] == "default"
    assert hooks.check(RELEASE, {"chart": "none"}, first, name="queue")[0]["name"] == first["name"]


def test_a_release_without_a_chart_is_refused(hooks: Hooks) -> None:
    assert "a chart is required" in hooks.check(RELEASE, {})[1][0]


def test_a_wrong_value_is_refused_at_preview_with_its_path(hooks: Hooks, charts: Path, namespace: str) -> None:
    write_chart(charts)
    _, reasons = hooks.check(RELEASE, release(namespace, values={"controller": {"imagee": {}}, "replicas": UNKNOWN}))
    assert reasons == ['values.controller.imagee: chart widget 1.2.3 has no such value; did you mean "image"?']


def test_a_release_of_a_missing_chart_is_recorded_and_noted(hooks: Hooks, namespace: str) -> None:
    id, outputs, _ = hooks.create(RELEASE, release(namespace, values={"anything": 1}, version="4.5.6"))
    assert id == f"{namespace}/one"
    assert outputs["status"] == {"appVersion": "", "chart": "widget", "name": "one", "namespace": namespace,
        "revision": 1, "status": "deployed", "version": "4.5.6"}  # fmt: skip
    assert outputs["slipway"]["mode"] == "recorded"
    assert list(hooks.noted()) == ["recorded"]


def test_a_missing_namespace_is_refused_like_helm_unless_it_may_be_created(hooks: Hooks, client: KubeClient) -> None:
    with pytest.raises(ProviderError, match='namespaces "helm-made" not found'):
        hooks.create(RELEASE, release("helm-made"))
    hooks.create(RELEASE, release("helm-made", createNamespace=True))
    waiting.delete(client, Ref("v1", "Namespace", "helm-made"))


def test_crds_of_a_chart_are_installed_and_outlive_the_release(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, definitions=[DEFINITION])
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    assert outputs["slipway"]["mode"] == "checked"
    gauge = "kubernetes:helm.test/v1:Gauge"
    metadata = {"name": "g", "namespace": namespace}
    assert "not declared in schema" in hooks.check(gauge, {"metadata": metadata, "spec": {"lefel": 1}})[1][0]
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref.of(DEFINITION)) is not None
    waiting.delete(client, Ref.of(DEFINITION))


def test_a_preview_validates_custom_resources_by_the_charts_crds(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, definitions=[DEFINITION])
    assert hooks.check(RELEASE, release(namespace))[1] == []
    metadata = {"name": "g", "namespace": namespace}
    _, reasons = hooks.check("kubernetes:helm.test/v1:Gauge", {"metadata": metadata, "spec": {"lefel": 1}})
    assert "not declared in schema" in reasons[0]
    assert client.get(Ref.of(DEFINITION)) is None


@needs_helm
def test_a_release_is_installed_upgraded_and_removed(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    path = write_chart(charts, templates={**TEMPLATES, "second.yaml": SECOND})
    id, outputs, inputs = hooks.create(RELEASE, release(namespace, values={"replicas": 2}))
    config, second = Ref("v1", "ConfigMap", "one-config", namespace), Ref("v1", "Secret", "second", namespace)
    live = existing(client, config)
    assert live["data"]["replicas"] == "2"
    assert live["metadata"]["annotations"]["meta.helm.sh/release-name"] == "one"
    assert outputs["resourceNames"] == {"ConfigMap/v1": ["one-config"], "Secret/v1": ["second"]}
    assert outputs["status"]["revision"] == 1

    (path / "templates" / "second.yaml").unlink()
    news, reasons = hooks.check(RELEASE, release(namespace, values={"replicas": 3}), inputs)
    assert reasons == []
    updated = hooks.update(RELEASE, id, outputs, inputs, news)
    assert updated["status"]["revision"] == 2
    assert client.get(second) is None
    assert (client.get(config) or {})["data"]["replicas"] == "3"

    hooks.delete(RELEASE, id, updated, news)
    assert client.get(config) is None
    assert hooks.noted() == {}


@needs_helm
def test_a_refused_object_of_a_rendered_chart_is_reported_at_preview(
    hooks: Hooks, charts: Path, namespace: str
) -> None:
    write_chart(charts, templates={**TEMPLATES, "refused.yaml": REFUSED})
    _, reasons = hooks.check(RELEASE, release(namespace))
    assert len(reasons) == 1
    assert reasons[0].startswith(f"v1 Service {namespace}/refused: ")
    assert "99999" in reasons[0]


@needs_helm
def test_an_object_of_another_owner_is_not_taken_over(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, templates=TEMPLATES)
    client.apply(Ref("v1", "ConfigMap", "one-config", namespace).as_object(), "another-manager")
    with pytest.raises(ProviderError, match="invalid ownership metadata"):
        hooks.create(RELEASE, release(namespace))
    assert hooks.create(RELEASE, release(namespace, takeOwnership=True))[1]["status"]["status"] == "deployed"


@needs_helm
def test_objects_with_the_policy_keep_outlive_the_release(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    kept = CONFIG_MAP.replace("}-config}", '}-config, annotations: {"helm.sh/resource-policy": keep}}')
    write_chart(charts, templates={"config.yaml": kept})
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref("v1", "ConfigMap", "one-config", namespace)) is not None


@needs_helm
def test_webhooks_and_apis_that_nothing_serves_are_left_out_and_noted(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    service = {"service": {"name": "widget", "namespace": namespace}}
    api = {"group": "none.test", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, **service}
    described = crd("helm.test", "Meter", {"level": {"type": "integer", "description": "How much"}})
    described["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": service, "conversionReviewVersions": ["v1"]},
    }
    hook = {"name": "x.helm.test", "clientConfig": service, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
    templates: dict[str, Any] = {"api.yaml": {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1.none.test"}, "spec": api}, "hook.yaml": {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "widget"}, "webhooks": [hook]}, "meter.yaml": described}  # fmt: skip
    write_chart(charts, templates={name: yaml.safe_dump(obj) for name, obj in templates.items()})
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    assert client.get(Ref.of(templates["hook.yaml"])) is None
    assert hooks.noted()["left out"] == (
        "conversion webhook of meters.helm.test; "
        f"API of service {namespace}/widget; webhooks of service {namespace}/widget"
    )
    assert list(outputs["resourceNames"]) == ["CustomResourceDefinition.apiextensions.k8s.io/apiextensions.k8s.io/v1"]
    assert "How much" not in json.dumps(existing(client, Ref.of(described))["spec"])
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref.of(described)) is None


@needs_helm
def test_custom_resources_of_a_chart_without_crds_get_stand_ins(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, templates={"gauge.yaml": GAUGE})
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    assert "Gauge of helm.test/v1" in hooks.noted()["stand-in"]
    assert crds.is_served(client, Ref("helm.test/v1", "Gauge", "one-gauge"))
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(Ref.of(DEFINITION)) is None


def test_only_name_and_namespace_force_a_replacement(hooks: Hooks) -> None:
    olds = release("a", values={"x": 1}, version="1")
    assert hooks.replaced(RELEASE, olds, release("b", values={"x": 1}, version="1")) == ({"namespace"}, False)
    assert hooks.replaced(RELEASE, olds, release("a", values={"x": 2}, version="2")) == (set(), False)


def test_a_recorded_release_is_read_as_recorded_while_its_cluster_runs(
    plane: ControlPlane, hooks: Hooks, namespace: str
) -> None:
    id, outputs, inputs = hooks.create(RELEASE, release(namespace))
    found = hooks.found(RELEASE, id, outputs, inputs)
    assert (found.outputs, found.inputs) == (outputs, inputs)
    lost = plane.kubeconfig().replace(plane.client.server, "https://127.0.0.1:9")
    hooks.session = hooks.provider.configure({"kubeconfig": lost}, "test")
    assert hooks.read(RELEASE, id, outputs, inputs) is None


@needs_helm
def test_an_installed_release_is_read_and_imported_from_helms_records(
    hooks: Hooks, client: KubeClient, charts: Path, namespace: str
) -> None:
    write_chart(charts, templates=TEMPLATES)
    id, outputs, inputs = hooks.create(RELEASE, release(namespace, values={"replicas": 2}))
    found = hooks.found(RELEASE, id, outputs, inputs)
    assert (found.outputs, found.inputs) == (outputs, inputs)
    imported = hooks.found(RELEASE, id, {}, {})
    assert imported.inputs == {
        "name": "one", "namespace": namespace, "chart": "widget", "version": "1.2.3", "values": {"replicas": 2},
    }  # fmt: skip
    assert imported.outputs["status"] == outputs["status"]
    # As `helm uninstall` by hand would.
    waiting.delete(client, Ref("v1", "Secret", "sh.helm.release.v1.one.v1", namespace))
    assert hooks.read(RELEASE, id, outputs, inputs) is None


def test_inputs_that_the_sandbox_can_not_have_are_refused(hooks: Hooks, namespace: str) -> None:
    _, reasons = hooks.check(RELEASE, release(namespace, postrender="/bin/cat"))
    assert reasons == ["postrender: the sandbox runs a post-renderer of its own"]
