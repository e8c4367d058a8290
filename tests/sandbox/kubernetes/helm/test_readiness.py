from typing import Any

import pytest

from sandbox.cluster import patience
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm import running
from sandbox.kubernetes.helm.running import Readiness, workloads
from sandbox.kubernetes.objects import Object, Ref

pytestmark = pytest.mark.sandbox

MESSAGE = "0/3 nodes are available: 3 node(s) had untolerated taint"


def pod(client: KubeClient, namespace: str, name: str, owner: tuple[str, str], status: dict[str, Any]) -> Object:
    # Of a kind that nothing serves: the garbage collector deletes what belongs to an object that does not exist.
    reference = {"apiVersion": "readiness.test/v1", "kind": owner[0], "name": owner[1], "uid": name, "controller": True}
    metadata = {"name": name, "namespace": namespace, "ownerReferences": [reference]}
    spec = {"containers": [{"name": "c", "image": "i"}]}
    made = client.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, "test")
    return client.apply({**Ref.of(made).as_object(), "status": status}, "test", subresource="status")


def scheduled(text: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}
    return {"phase": "Pending", "conditions": [condition]}


def warning(client: KubeClient, namespace: str, kind: str, about: str, uid: str, message: str) -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"{about}.1", "namespace": namespace},
        "involvedObject": {"kind": kind, "name": about, "namespace": namespace, "uid": uid}, "type": "Warning",
        "reason": "FailedCreate" if kind != "Pod" else "FailedMount", "message": message,
        "lastTimestamp": "2026-11-22T00:00:00Z"}  # fmt: skip
    client.apply(event, "test")


def test_it_says_why_pods_of_the_release_are_not_ready(client: KubeClient, namespace: str) -> None:
    objects = [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}]
    objects.append({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": namespace}})
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    pod(client, namespace, "web-5d9-a", ("ReplicaSet", "web-5d9"), scheduled(MESSAGE))
    pod(client, namespace, "web-5d9-b", ("ReplicaSet", "web-5d9"), ready)
    pod(client, namespace, "other-1", ("ReplicaSet", "other-5d9"), scheduled("of another release"))
    mounting = pod(client, namespace, "db-0", ("StatefulSet", "db"), {"phase": "Pending"})
    warning(client, namespace, "Pod", "db-0", mounting["metadata"]["uid"], 'secret "tls" not found')
    warning(client, namespace, "ReplicaSet", "web-5d9", "r", "exceeded quota: team")
    warning(client, namespace, "ReplicaSet", "other-5d9", "o", "exceeded quota: other")
    state = Readiness(client, workloads(objects, namespace))
    assert not state.look()
    assert sorted(state.lines) == [
        f"ReplicaSet {namespace}/web-5d9: FailedCreate: exceeded quota: team",
        f'pod {namespace}/db-0: Pending, FailedMount: secret "tls" not found',
        f"pod {namespace}/web-5d9-a: Pending, Unschedulable: {MESSAGE}",
    ]


class Clock:
    """Stands for the module `time`."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(patience, "time", made)
    return made


def hopeless_after(state: Readiness, clock: Clock, seconds: float) -> bool:
    """Whether waiting is pointless after so many seconds, and not before."""
    for _ in range(int(seconds) // 2):
        assert not state.look()
        clock.now += 2.0
    return state.look()


def test_waiting_is_hopeless_once_nothing_changes(client: KubeClient, namespace: str, clock: Clock) -> None:
    pod(client, namespace, "web-5d9-a", ("ReplicaSet", "web-5d9"), scheduled(MESSAGE))
    state = Readiness(client, [Ref("apps/v1", "Deployment", "web", namespace)])
    assert hopeless_after(state, clock, running.HOPELESS_SECONDS)
    pod(client, namespace, "web-5d9-a", ("ReplicaSet", "web-5d9"), scheduled("another reason"))
    assert hopeless_after(state, clock, running.HOPELESS_SECONDS)
    patient = {"metadata": {"annotations": {"sandbox.slipway/start-delay": "5m"}}}
    client.merge(Ref("v1", "Pod", "web-5d9-a", namespace), patient)
    assert not state.look(), "a pod that takes its time will come"
    assert state.limit == running.STARTING_SECONDS


def test_a_release_is_awaited_as_long_as_its_pods_come(client: KubeClient, namespace: str, clock: Clock) -> None:
    state = Readiness(client, [Ref("apps/v1", "Deployment", "web", namespace)], seconds=10)
    for number in range(8):
        pod(client, namespace, "web-5d9-a", ("ReplicaSet", "web-5d9"), scheduled(f"{number} nodes"))
        for _ in range(25):
            assert not state.look()
            clock.now += 2.0
    pod(client, namespace, "web-5d9-a", ("ReplicaSet", "web-5d9"), scheduled("0 nodes"))
    assert hopeless_after(state, clock, 10), "what was seen before is no progress"


def test_what_nothing_shows_is_awaited_as_long_as_helm_would(client: KubeClient, namespace: str, clock: Clock) -> None:
    state = Readiness(client, [Ref("apps/v1", "Deployment", "web", namespace)], seconds=400)
    assert hopeless_after(state, clock, 400)
    assert state.limit == 400


def test_a_release_without_pods_that_wait_has_hope(client: KubeClient, namespace: str) -> None:
    state = Readiness(client, [Ref("apps/v1", "Deployment", "web", namespace)])
    assert not state.look()
    assert state.text == ""


def test_long_reports_are_shortened(client: KubeClient) -> None:
    state = Readiness(client, [], [f"pod {number}" for number in range(running.SHOWN + 2)])
    assert state.text.endswith("pod 7; and 2 more")
