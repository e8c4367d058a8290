"""The provider with a real engine: behaviour that depends on the protocol between the two."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest
from pulumi import automation as auto

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.targets import UNKNOWN_KUBECONFIG
from sandbox.rpc.hooks import Resource
from sandbox.rpc.provider import serve
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.kubernetes.hooks import Hooks, make_hooks
from tests.sandbox.plane import ControlPlane, existing
from tests.sandbox.rpc.engine import Engine, resources

pytestmark = pytest.mark.sandbox

CANARY = "canary-5e2b9"


@pytest.fixture
def engine(plane: ControlPlane, tmp_path: Path) -> Iterator[Engine]:
    served = serve(make_hooks(plane, tmp_path).provider)
    try:
        yield Engine(tmp_path / "engine", {"kubernetes": served.port})
    finally:
        served.stop()


def program(kubeconfig: str) -> Callable[[], None]:
    def run() -> None:
        provider = k8s.Provider("k8s", kubeconfig=pulumi.Output.secret(kubeconfig), enable_patch_force=True)
        opts = pulumi.ResourceOptions(provider=provider)
        space = k8s.core.v1.Namespace("space", metadata={"name": "engine"}, opts=opts)
        inside: Any = {"namespace": space.metadata.name}
        k8s.core.v1.Secret("secret", metadata=inside, string_data={"key": pulumi.Output.secret(CANARY)}, opts=opts)
        labels = {"app": "web"}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
        spec: Any = {"replicas": 1, "selector": {"match_labels": labels}, "template": pod}
        named: Any = {"name": "web", **inside}
        web = k8s.apps.v1.Deployment("web", metadata=named, spec=spec, opts=opts)
        pulumi.export("uid", web.metadata.uid)

    return run


def test_a_stack_is_created_drift_is_fixed_and_it_is_destroyed(
    engine: Engine, plane: ControlPlane, client: KubeClient
) -> None:
    stack = engine.stack(program(plane.kubeconfig()))
    assert stack.preview().change_summary == {auto.OpType.CREATE: 5}
    stack.up()
    assert resources(stack)["slipway-test-test"]["outputs"]["uid"]
    stored = engine.state_text()
    assert "ciphertext" in stored
    assert CANARY not in stored
    assert base64.b64encode(CANARY.encode()).decode() not in stored
    assert "5 unchanged" in stack.refresh().stdout

    web = Ref("apps/v1", "Deployment", "web", "engine")
    client.merge(web, {"spec": {"replicas": 7}})
    assert "1 updated" in stack.up(refresh=True).stdout
    assert existing(client, web)["spec"]["replicas"] == 1

    stack.destroy()
    assert client.get(Ref("v1", "Namespace", "engine")) is None
    assert resources(stack) == {}


def test_what_a_controller_changed_comes_back_with_a_refresh_alone(
    engine: Engine, plane: ControlPlane, client: KubeClient
) -> None:
    """As the weights of a canary that was rolled back, in docs/addons/kserve.md; the note beside them stays."""

    quota = Ref("v1", "ResourceQuota", "weights", "default")

    def run() -> None:
        opts = pulumi.ResourceOptions(provider=k8s.Provider("k8s", kubeconfig=pulumi.Output.secret(plane.kubeconfig())))
        meta: Any = {
            "name": quota.name,
            "annotations": {"pulumi.com/patchForce": "true", "pulumi.com/skipAwait": "true"},
        }
        k8s.core.v1.ResourceQuota("weights", metadata=meta, spec={"hard": {"pods": "10"}}, opts=opts)

    def up(*, refresh: bool) -> tuple[bool, str, str | None]:
        done = stack.up(refresh=refresh)
        live = existing(client, quota)
        updated = "1 updated" in done.stdout
        return updated, live["spec"]["hard"]["pods"], live["metadata"]["annotations"].get("rolled-back")

    stack = engine.stack(run)
    assert up(refresh=False) == (False, "10", None)
    client.merge(quota, {"metadata": {"annotations": {"rolled-back": "v2"}}, "spec": {"hard": {"pods": "0"}}})
    assert up(refresh=False) == (False, "0", "v2")
    assert up(refresh=True) == (True, "10", "v2")
    stack.destroy()


def immutable(kubeconfig: str, change: str) -> Callable[[], None]:
    """Objects with fixed names, each with an immutable field."""

    def run() -> None:
        provider = k8s.Provider("k8s", kubeconfig=pulumi.Output.secret(kubeconfig))
        opts = pulumi.ResourceOptions(provider=provider)
        space = k8s.core.v1.Namespace("space", metadata={"name": "immutable"}, opts=opts)

        def named(name: str) -> Any:
            return {"name": name, "namespace": space.metadata.name}

        labels = {"app": change}
        containers = [{"name": "main", "image": f"registry.example/x:{change}"}]
        pod: Any = {"metadata": {"labels": labels}, "spec": {"containers": containers, "restart_policy": "Never"}}
        # As Any: to check a dict against every shape of a pod, mypy 2.4 took 19 GB and 100 s (2026-11).
        job: Any = {"template": pod}
        k8s.batch.v1.Job("job", metadata=named("job"), spec=job, opts=opts)
        always = {**pod, "spec": {"containers": containers}}
        stateful: Any = {"selector": {"match_labels": labels}, "service_name": "set", "template": always}
        k8s.apps.v1.StatefulSet("set", metadata=named("set"), spec=stateful, opts=opts)
        claim: Any = {
            "access_modes": ["ReadWriteOnce"],
            "storage_class_name": change,
            "resources": {"requests": {"storage": "1Gi"}},
        }
        # Nobody binds it.
        unbound: Any = {**named("claim"), "annotations": {"pulumi.com/skipAwait": "true"}}
        k8s.core.v1.PersistentVolumeClaim("claim", metadata=unbound, spec=claim, opts=opts)
        k8s.core.v1.ConfigMap("map", metadata={"namespace": space.metadata.name}, data={"key": change}, opts=opts)

    return run


def test_immutable_objects_are_replaced_under_the_same_name(
    engine: Engine, plane: ControlPlane, client: KubeClient
) -> None:
    stack = engine.stack(immutable(plane.kubeconfig(), "one"))
    stack.up()
    claim = Ref("v1", "PersistentVolumeClaim", "claim", "immutable")
    before = client.get(claim)
    stack = engine.stack(immutable(plane.kubeconfig(), "two"))
    assert stack.preview().change_summary[auto.OpType.REPLACE] == 4
    assert "4 replaced" in stack.up().stdout
    after = client.get(claim)
    assert before is not None
    assert after is not None
    assert before["metadata"]["uid"] != after["metadata"]["uid"]
    job = existing(client, Ref("batch/v1", "Job", "job", "immutable"))
    assert job["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/x:two"
    stack.destroy()


def test_a_chart_component_is_refused_with_what_to_use_instead(engine: Engine) -> None:
    def run() -> None:
        k8s.helm.v4.Chart("chart", k8s.helm.v4.ChartArgs(chart="kueue"))

    # The engine may end before the program's last message reaches it; then its error is the lost connection.
    for _ in range(5):
        with pytest.raises(auto.CommandError) as refused:
            engine.stack(run).preview()
        text = re.sub(r"\s+", " ", str(refused.value))
        if "Exception calling application" not in text:
            break
    assert "helm.sh/v4:Chart is a component" in text
    assert "use kubernetes.helm.v3.Release" in text


PROVIDER = Resource("urn", "pulumi:providers:kubernetes", "k8s")


def kubeconfig(server: str) -> str:
    document: dict[str, Any] = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
    }
    return json.dumps(document)


ONE, TWO = kubeconfig("https://127.0.0.1:1"), kubeconfig("https://127.0.0.1:2")


def test_previews_work_with_an_unknown_kubeconfig(hooks: Hooks, plane: ControlPlane) -> None:
    news = {"kubeconfig": UNKNOWN, "context": UNKNOWN, "namespace": "team"}
    assert hooks.provider.check_config(PROVIDER, news, {}) == (
        {"kubeconfig": UNKNOWN_KUBECONFIG, "namespace": "team"},
        [],
    )
    assert plane.pool.prewarm().result().process.exit_code is None


def test_a_wrong_kubeconfig_is_refused_before_anything_is_planned(hooks: Hooks) -> None:
    _, failures = hooks.provider.check_config(PROVIDER, {"kubeconfig": "a: [\n"}, {})
    assert "not valid YAML or JSON" in failures[0].reason


@pytest.mark.parametrize(("olds", "news", "replaced"), [
    ({"kubeconfig": ONE}, {"kubeconfig": TWO}, {"kubeconfig"}),
    ({"kubeconfig": ONE}, {"kubeconfig": ONE, "namespace": "x"}, set()),
    ({"kubeconfig": ONE}, {"kubeconfig": UNKNOWN_KUBECONFIG}, set()),
    # The engine calls it so while the cluster is being replaced: without a check before it.
    ({"kubeconfig": ONE}, {"kubeconfig": UNKNOWN}, {"kubeconfig"}),
    ({"kubeconfig": ONE, "clusterIdentifier": "a"}, {"kubeconfig": TWO, "clusterIdentifier": "a"}, set()),
    ({"kubeconfig": ONE, "clusterIdentifier": "a"}, {"kubeconfig": ONE, "clusterIdentifier": "b"},
        {"clusterIdentifier"}),
])  # fmt: skip
def test_only_another_cluster_replaces_the_provider(
    hooks: Hooks, olds: dict[str, str], news: dict[str, str], replaced: set[str]
) -> None:
    found = hooks.provider.diff_config(PROVIDER, olds, news)
    assert {change.path[0] for change in found.changes if change.replace} == replaced
    assert found.changes
