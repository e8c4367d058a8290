"""A controller runs beside a cluster: as its service account, behind its webhooks, as long as its Deployment exists."""

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient, ResourceType
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.running import Entry, Report, State, load
from sandbox.kubernetes.controllers.table import served
from sandbox.kubernetes.controllers.webhooks import CLOSED
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.serving import blocking
from sandbox.kubernetes.waiting import until
from sandbox.nodes.mounts import FOUND
from tests.sandbox.controllers.fake import LABELED, ByHand, Gadget, gadget, manifests, webhook
from tests.sandbox.living import living_plane
from tests.sandbox.plane import CLUSTER, ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
NAMESPACE = "gadget-system"
DEPLOYMENT = Ref("apps/v1", "Deployment", "gadget", NAMESPACE)
CONFIGURATION = Ref("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", NAMESPACE)


@pytest.fixture
def plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ControlPlane]:
    monkeypatch.setattr(table, "CONTROLLERS", (gadget(tmp_path),))
    with living_plane(tmp_path, ByHand()) as plane:
        yield plane


@pytest.fixture
def row() -> Gadget:
    row: object = table.CONTROLLERS[0]
    assert isinstance(row, Gadget)
    return row


def install(plane: ControlPlane, *objects: Object) -> None:
    client = plane.client
    client.apply(Ref("v1", "Namespace", NAMESPACE).as_object(), "test")
    for obj in objects:
        client.apply(obj, "test", force=True)


def entry(directory: Path, *states: State) -> Entry:
    """The entry of the controller, once it is in one of these states."""

    def look() -> Entry | None:
        return next((each for each in load(directory) if each.state in states), None)

    return until(look, SECONDS, lambda: f"not {states}: {load(directory)}")


def labeled(plane: ControlPlane, name: str) -> str | None:
    """The label that the webhook gives to a new ConfigMap."""
    labels = {"example.com/wants": "label"}
    made = plane.client.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels}},
        "test",
    )
    label: str | None = made["metadata"]["labels"].get(LABELED)
    return label


def closed(plane: ControlPlane) -> None:
    """Wait until nothing calls the webhook any more, and the API server knows."""

    def look() -> bool | None:
        (hook,) = (plane.client.get(CONFIGURATION) or {})["webhooks"]
        return any(each["name"] == CLOSED for each in hook.get("matchConditions") or ()) or None

    until(look, SECONDS, "the webhook is open")
    numbers = itertools.count()

    def uncalled() -> bool | None:
        try:
            return labeled(plane, f"closed-{next(numbers)}") is None
        except ApiError:
            return None

    until(uncalled, SECONDS, "the webhook is called")


def until_labeled(plane: ControlPlane, name: str, value: str) -> None:
    """The API server takes up a changed configuration within a second."""
    numbers = itertools.count()

    def look() -> bool | None:
        try:
            return labeled(plane, f"{name}-{next(numbers)}") == value or None
        except ApiError:
            return None

    until(look, SECONDS, f"no label {value}")


def processes(plane: ControlPlane) -> list[int]:
    return [each.pid for each in plane.supervisor.identities() if each.name.startswith("gadget ")]


def test_from_its_build_to_its_end(
    plane: ControlPlane, row: Gadget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not built: the cluster comes up without it, and nothing calls its webhook.
    install(plane, *manifests(NAMESPACE), webhook(NAMESPACE))
    entry(tmp_path, State.BUILDING)
    until(lambda: condition(plane.client.get(DEPLOYMENT) or {}, "Available").get("status") == "True", SECONDS, "ready")
    closed(plane)
    assert labeled(plane, "before") is None

    # Built: it runs as its service account, and its webhook is called.
    row.build()
    running = entry(tmp_path, State.RUNNING)
    until_labeled(plane, "open", "one")
    slot = running.slot
    root = tmp_path / "controllers" / slot / "gadget" / "root"
    assert (root / "whoami").read_text() == f"system:serviceaccount:{NAMESPACE}:gadget"
    assert Path(running.log).is_file()

    # Changed: the new template has a process of its own.
    (before,) = processes(plane)
    install(plane, *manifests(NAMESPACE, "two"))
    until(lambda: processes(plane) not in ([], [before]) or None, SECONDS, "no new process")
    until_labeled(plane, "changed", "two")
    entry(tmp_path, State.RUNNING)

    # Killed: it comes back, on another port. Between, for two seconds, it is reported as failing.
    reported: list[Entry] = []
    report = Report.set

    def noted(self: Report, entry: Entry) -> None:
        reported.append(entry)
        report(self, entry)

    monkeypatch.setattr(Report, "set", noted)
    (second,) = processes(plane)
    os.kill(second, signal.SIGKILL)
    until(lambda: State.FAILING in [each.state for each in reported] or None, SECONDS, "not reported")
    assert reported[0].state is State.FAILING
    assert reported[0].detail.startswith("it ended with exit code -9")
    entry(tmp_path, State.RUNNING)
    until_labeled(plane, "again", "two")

    # Scaled to zero: it ends, and its webhook refuses, as in any cluster. Scaled up: it runs again.
    plane.client.merge(DEPLOYMENT, {"spec": {"replicas": 0}})
    until(lambda: not processes(plane) or None, SECONDS, "it still runs")
    hint = f"Deployment {NAMESPACE}/gadget is scaled to zero: `kubectl -n {NAMESPACE} scale deployment gadget --rep"
    with pytest.raises(ApiError, match=rf"failed calling webhook.*{hint}"):
        labeled(plane, "refused")
    assert {str(why).startswith(hint) for why in blocking(plane.client).values()} == {True}
    plane.client.merge(DEPLOYMENT, {"spec": {"replicas": 1}})
    until_labeled(plane, "back", "two")
    until(lambda: not blocking(plane.client) or None, SECONDS, "its webhook still seems to block")

    # Uninstalled: it ends.
    plane.client.delete(DEPLOYMENT)
    until(lambda: not processes(plane) or None, SECONDS, "it still runs")
    until(lambda: load(tmp_path) == () or None, SECONDS, "it is still listed")
    assert not root.exists()


def test_a_pod_is_ready_when_its_controller_is(plane: ControlPlane, row: Gadget, tmp_path: Path) -> None:
    row.path.write_text("#!/bin/sh\nsleep 600\n")
    row.path.chmod(0o700)
    install(plane, *manifests(NAMESPACE))
    entry(tmp_path, State.STARTING)
    pods = plane.client.discovery.find("v1", "Pod")

    def scheduled() -> Object | None:
        found = list(plane.client.list(pods, NAMESPACE, "app=gadget"))
        return next((pod for pod in found if pod["spec"].get("nodeName")), None)

    until(scheduled, SECONDS, "no pod on a node")

    def held() -> Object | None:
        events = plane.client.call("GET", f"/api/v1/namespaces/{NAMESPACE}/events")["items"]
        return next((each for each in events if each["reason"] == table.STARTING), None)

    event = until(held, SECONDS, "nothing holds the pod")
    assert event["message"] == "gadget 1.2.0 starts"
    pod = scheduled()
    assert pod is not None
    assert FOUND not in (pod["metadata"].get("annotations") or {})
    # One that works takes its place.
    row.build()
    os.kill(until(lambda: processes(plane) or None, SECONDS, "not started")[0], signal.SIGTERM)
    entry(tmp_path, State.RUNNING)
    until(lambda: condition(plane.client.get(DEPLOYMENT) or {}, "Available").get("status") == "True", SECONDS, "ready")


def test_one_that_is_not_ready_yet_ends_with_its_deployment(plane: ControlPlane, row: Gadget, tmp_path: Path) -> None:
    row.path.write_text("#!/bin/sh\nexec sleep 600\n")
    row.path.chmod(0o700)
    install(plane, *manifests(NAMESPACE))
    until(lambda: processes(plane) or None, SECONDS, "not started")
    assert entry(tmp_path, State.STARTING)
    plane.client.delete(DEPLOYMENT)
    until(lambda: not processes(plane) or None, SECONDS, "it still runs")
    until(lambda: load(tmp_path) == () or None, SECONDS, "it is still listed")


def test_a_deleted_cluster_leaves_no_controller(plane: ControlPlane, row: Gadget, tmp_path: Path) -> None:
    row.build()
    install(plane, *manifests(NAMESPACE), webhook(NAMESPACE))
    slot = entry(tmp_path, State.RUNNING).slot
    plane.pool.delete(CLUSTER)
    assert [each.name for each in plane.supervisor.identities()] == ["etcd"]
    assert load(tmp_path) == ()
    assert not (tmp_path / "controllers" / slot / "gadget").exists()


def test_one_that_is_built_already_costs_no_look_at_all_crds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = gadget(tmp_path)
    row.build()
    monkeypatch.setattr(table, "CONTROLLERS", (row,))
    listed: list[str] = []
    list_of = KubeClient.list

    def recording(client: KubeClient, resource: ResourceType, *rest: str, **named: str) -> Iterator[Object]:
        listed.append(resource.kind)
        return list_of(client, resource, *rest, **named)

    monkeypatch.setattr(KubeClient, "list", recording)
    with living_plane(tmp_path, ByHand()) as plane:
        install(plane, *manifests(NAMESPACE), webhook(NAMESPACE))
        entry(tmp_path, State.RUNNING)
        until_labeled(plane, "open", "one")
    assert "MutatingWebhookConfiguration" in listed
    assert "CustomResourceDefinition" not in listed


def test_another_version_is_reported_and_not_run(plane: ControlPlane, row: Gadget, tmp_path: Path) -> None:
    row.build()
    install(plane, *manifests(NAMESPACE, version="1.1.0"), webhook(NAMESPACE))
    found = entry(tmp_path, State.OTHER_VERSION)
    assert found.text == "gadget 1.2.0 has another version: the stack installs 1.1.0: nothing of it runs"
    closed(plane)
    assert processes(plane) == []


def test_a_controller_that_nobody_wants_does_not_run(
    plane: ControlPlane, row: Gadget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(table.VARIABLE, table.NONE)
    row.build()
    assert served() == {}
    install(plane, *manifests(NAMESPACE))
    until(lambda: condition(plane.client.get(DEPLOYMENT) or {}, "Available").get("status") == "True", SECONDS, "ready")
    assert processes(plane) == []
    assert load(tmp_path) == ()
