"""What a preview renders and refuses, and what the hooks of a chart do."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.helm.preview import Rendered, perform, rendered
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.kubernetes.objects import Object, Ref
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, chart_at, needs_helm, write_chart
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.plane import ControlPlane, crd

NAME = ReleaseName("one", "team")
HOOK = 'apiVersion: v1\nkind: Pod\nmetadata: {name: h, annotations: {"helm.sh/hook": pre-install}}\n'
TEST = HOOK.replace("pre-install", "test")
LIST = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: listed}}\n"
ORDERED = {
    "a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n",
    "b.yaml": "apiVersion: example.com/v1\nkind: Custom\nmetadata: {name: c}\n",
    "c.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n",
}


def render(client: KubeClient, path: Path, values: dict[str, Any] | None = None) -> Rendered:
    helm = available()
    assert helm is not None
    return rendered(helm, chart_at(path), NAME, values or {}, client)


def kinds(objects: tuple[Object, ...]) -> list[str]:
    return [obj["kind"] for obj in objects]


@pytest.mark.sandbox
@needs_helm
def test_objects_are_in_helms_installation_order(client: KubeClient, tmp_path: Path) -> None:
    found = render(client, write_chart(tmp_path, templates=ORDERED))
    assert kinds(found.objects) == ["ServiceAccount", "Deployment", "Custom"]


@pytest.mark.sandbox
@needs_helm
def test_templates_see_the_values_and_the_release(client: KubeClient, tmp_path: Path) -> None:
    (found,) = render(client, write_chart(tmp_path, templates={"cm.yaml": CONFIG_MAP}), {"replicas": 7}).objects
    assert (found["metadata"]["name"], found["data"]["replicas"]) == ("one-config", "7")


@pytest.mark.sandbox
@needs_helm
def test_templates_see_the_version_and_the_apis_of_the_cluster(client: KubeClient, tmp_path: Path) -> None:
    template = (
        'kind: {{ ternary "Served" "Missing" (.Capabilities.APIVersions.Has "apps/v1/Deployment") }}\n'
        "metadata: {name: {{ .Capabilities.KubeVersion.Version }}}\n"
    )
    (found,) = render(client, write_chart(tmp_path, templates={"a.yaml": template})).objects
    assert (found["kind"], found["metadata"]["name"]) == ("Served", client.version())


@pytest.mark.sandbox
@needs_helm
def test_hooks_are_apart_and_tests_are_not_rendered(client: KubeClient, tmp_path: Path) -> None:
    found = render(client, write_chart(tmp_path, templates={"h.yaml": HOOK, "t.yaml": TEST, "l.yaml": LIST}))
    assert [obj["metadata"]["name"] for obj in found.hooks] == ["h"]
    assert [obj["metadata"]["name"] for obj in found.objects] == ["listed"]


@pytest.mark.sandbox
@needs_helm
def test_a_changed_chart_is_rendered_again(client: KubeClient, tmp_path: Path) -> None:
    path = write_chart(tmp_path, templates={"cm.yaml": CONFIG_MAP})
    assert kinds(render(client, path).objects) == ["ConfigMap"]
    (path / "templates" / "cm.yaml").write_text(CONFIG_MAP.replace("ConfigMap", "Secret"))
    assert kinds(render(client, path).objects) == ["Secret"]


@pytest.mark.sandbox
@needs_helm
def test_an_error_of_helm_is_passed_on(client: KubeClient, tmp_path: Path) -> None:
    template = '{{ required "a name is needed" .Values.name }}'
    with pytest.raises(SandboxError, match=r"chart widget can't be rendered.*a name is needed"):
        render(client, write_chart(tmp_path, templates={"a.yaml": template}))


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path) -> Hooks:
    return make_hooks(plane, tmp_path, tmp_path / "charts")


@pytest.mark.sandbox
@needs_helm
def test_a_change_that_an_existing_object_does_not_allow_is_refused_at_preview(
    hooks: Hooks, client: KubeClient, tmp_path: Path, namespace: str
) -> None:
    fixed = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\nimmutable: true\ndata: {a: {{ .Values.a }}}\n"
    write_chart(tmp_path / "charts", values="a: x\n", templates={"fixed.yaml": fixed})
    release = {"chart": "widget", "name": "one", "namespace": namespace}
    id, outputs, inputs = hooks.create(RELEASE, release)
    assert client.get(Ref("v1", "ConfigMap", "fixed", namespace)) is not None
    _, reasons = hooks.check(RELEASE, {**release, "values": {"a": "y"}}, inputs)
    assert len(reasons) == 1
    assert "field is immutable when `immutable` is set" in reasons[0]
    hooks.delete(RELEASE, id, outputs, inputs)


@pytest.mark.sandbox
@needs_helm
def test_two_list_items_of_one_name_are_accepted_as_by_helm(hooks: Hooks, tmp_path: Path, namespace: str) -> None:
    """Charts do it, and server-side apply refuses it."""
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: twice}\n"
        "spec: {containers: [{name: a, image: b, env: [{name: X, value: '1'}, {name: X, value: '2'}]}]}\n"
    )
    write_chart(tmp_path / "charts", templates={"pod.yaml": pod})
    assert hooks.check(RELEASE, {"chart": "widget", "name": "one", "namespace": namespace})[1] == []


def job(name: str, events: str, *arguments: str, image: str = "i") -> Object:
    pod = {"containers": [{"name": "c", "image": image, "args": list(arguments)}]}
    metadata = {"name": name, "annotations": {"helm.sh/hook": events}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


def done(client: KubeClient, chart: Path, *, upgrade: bool = False, **found: Any) -> list[str]:
    rendered = Rendered(tuple(found.get("objects", ())), tuple(found.get("hooks", ())), ())
    return perform(client, chart_at(chart), rendered, upgrade=upgrade)


@pytest.mark.sandbox
def test_a_job_that_makes_a_certificate_is_not_reported(client: KubeClient, tmp_path: Path) -> None:
    """As those of kube-prometheus-stack: its pod makes the Secret (sandbox/nodes/mounts.py)."""
    hooks = [
        job("admission-create", "pre-install,pre-upgrade", "create", image="registry.k8s.io/kube-webhook-certgen:v1"),
        job("admission-patch", "post-install,post-upgrade", "patch", image="registry.k8s.io/kube-webhook-certgen:v1"),
    ]
    chart = write_chart(tmp_path)
    assert done(client, chart, hooks=hooks) == []
    assert done(client, chart, hooks=hooks, upgrade=True) == []


@pytest.mark.sandbox
def test_a_job_that_upgrades_crds_is_performed_at_an_upgrade(client: KubeClient, tmp_path: Path) -> None:
    """As the GPU Operator's; Helm itself never changes a CRD of `crds/`."""
    chart = write_chart(tmp_path, definitions=[crd("effects.test", "Dial", {"level": {"type": "integer"}})])
    hook, ref = job("upgrade-crd", "pre-upgrade", "apply"), Ref.of(chart_at(chart).crds[0])
    assert done(client, chart, hooks=[hook]) == []
    assert client.metadata(ref) is None
    assert done(client, chart, hooks=[hook], upgrade=True) == [
        "CRDs of the chart applied, as hook Job upgrade-crd would"
    ]
    assert client.metadata(ref) is not None


@pytest.mark.sandbox
def test_other_jobs_are_reported_where_they_run(client: KubeClient, tmp_path: Path) -> None:
    hooks = [job("check", "post-install"), job("migrate", "pre-upgrade"), job("prune", "post-delete")]
    chart = write_chart(tmp_path)
    assert done(client, chart, hooks=hooks) == ["hook Job check ran without effect"]
    assert done(client, chart, hooks=hooks, upgrade=True) == ["hook Job migrate ran without effect"]
