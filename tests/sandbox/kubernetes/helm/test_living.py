"""Releases whose pods are scheduled and run, or are not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm.running import Readiness
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from sandbox.rpc.errors import PartialFailureError, ProviderError
from tests.sandbox.kubernetes.helm.charts import needs_helm, write_chart
from tests.sandbox.kubernetes.hooks import RELEASE, Hooks, make_hooks
from tests.sandbox.living import living_plane
from tests.sandbox.plane import ControlPlane, existing
from tests.support.cases import beside
from tests.support.patience import SECONDS

CASES: Final = beside(__file__)
pytestmark = [pytest.mark.sandbox, needs_helm]

DEPLOYMENT = CASES["deployment"]
JOB = CASES["job of a hook"]
VALUES = "nodeSelector: {}\n"
NOWHERE = {"nodeSelector": {"accelerator": "b300"}}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with living_plane(tmp_path_factory.mktemp("living")) as plane:
        yield plane


@pytest.fixture
def hooks(cluster: ControlPlane, tmp_path: Path) -> Hooks:
    write_chart(tmp_path / "charts", values=VALUES, templates={"web.yaml": DEPLOYMENT, "job.yaml": JOB})
    return make_hooks(cluster, tmp_path, tmp_path / "charts")


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on waiting is pointless as soon as the scheduler has said its reason, and not before."""
    look = Readiness.look

    def looks(state: Readiness) -> bool:
        look(state)
        return "Unschedulable" in state.text

    monkeypatch.setattr(Readiness, "look", looks)


@pytest.fixture
def client(cluster: ControlPlane) -> KubeClient:
    return cluster.client


def release(namespace: str, **values: Any) -> dict[str, Any]:
    named = {"chart": "widget", "name": "one", "namespace": namespace, "createNamespace": True}
    return {**named, "atomic": True, "cleanupOnFail": True, "timeout": 600, "values": values}


def test_a_release_waits_until_its_pods_run_and_its_hooks_end(hooks: Hooks, client: KubeClient) -> None:
    id, outputs, inputs = hooks.create(RELEASE, release("runs"))
    web = Ref("apps/v1", "Deployment", "web", "runs")
    assert (client.get(web) or {})["status"]["readyReplicas"] == 2
    assert "simulated" not in hooks.noted()
    outputs = hooks.update(RELEASE, id, outputs, inputs, inputs)
    assert outputs["status"]["revision"] == 2
    assert (client.get(Ref("batch/v1", "Job", "migrate", "runs")) or {})["status"]["succeeded"] == 1
    assert hooks.noted()["simulated"] == "hook Job migrate ran without effect"
    hooks.delete(RELEASE, id, outputs, inputs)
    assert client.get(web) is None


def test_a_pod_that_fits_nowhere_ends_the_release_with_the_schedulers_reason(
    hooks: Hooks, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    with pytest.raises(ProviderError, match="Unschedulable: 0/2 nodes are available") as failed:
        hooks.create(RELEASE, release("nowhere", **NOWHERE))
    assert not isinstance(failed.value, PartialFailureError)
    assert "pod nowhere/web-" in str(failed.value)
    assert "uninstalled due to atomic being set" in str(failed.value)
    assert "Helm was interrupted, because nothing had changed" in str(failed.value)
    assert client.get(Ref("apps/v1", "Deployment", "web", "nowhere")) is None


def test_an_upgrade_whose_pod_fits_nowhere_is_rolled_back_after_it_said_why(
    hooks: Hooks, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, outputs, inputs = hooks.create(RELEASE, release("upgraded"))
    impatient(monkeypatch)
    with pytest.raises(PartialFailureError, match="Unschedulable: 0/2 nodes are available"):
        hooks.update(RELEASE, id, outputs, inputs, release("upgraded", **NOWHERE))
    live = existing(client, Ref("apps/v1", "Deployment", "web", "upgraded"))
    assert not live["spec"]["template"]["spec"].get("nodeSelector")


def test_a_workload_that_was_scaled_or_deleted_by_hand_is_reported_by_a_refresh(
    hooks: Hooks, client: KubeClient
) -> None:
    """No `up` repairs that: the inputs of the release are the same."""
    id, outputs, inputs = hooks.create(RELEASE, release("drifted"))
    web = Ref("apps/v1", "Deployment", "web", "drifted")
    hooks.read(RELEASE, id, outputs, inputs)
    assert "drifted" not in hooks.noted()
    client.merge(web, {"spec": {"replicas": 0}})
    hooks.read(RELEASE, id, outputs, inputs)
    fix = "`kubectl scale deployment/web -n drifted --replicas=2`"
    assert hooks.noted()["drifted"] == f"Deployment drifted/web has 0 replicas, and its release 2: {fix}"
    client.delete(web, "Foreground")
    until(lambda: client.get(web) is None or None, SECONDS, "it stays")
    hooks.read(RELEASE, id, outputs, inputs)
    assert "Deployment drifted/web is gone" in hooks.noted()["drifted"]
    hooks.delete(RELEASE, id, outputs, inputs)
    assert "drifted" not in hooks.noted()
