"""Pods that don't run, with the reason, and DaemonSets that don't reach a node."""

import time
from typing import Any, Final, cast

import pytest

from sandbox.kubernetes.client import KubeClient
from slipway.cli import pods
from slipway.cli.pods import PATHS, Waiting, picture
from slipway.cli.reach import Unreached, selects, unreached
from slipway.cli.summary import pods as written
from tests.support.cases import beside

CASES: Final = beside(__file__)

# Which pods run and why others don't, from the objects of a cluster.


Object = dict[str, Any]


def obj(kind: str, name: str, owner: str = "", **more: Any) -> Object:
    """An object with its name as UID."""
    owners = [{"uid": owner, "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "ns", "uid": name, "ownerReferences": owners}
    return {"kind": kind, "metadata": metadata, **more}


def cluster(*objects: Object) -> dict[str, list[Object]]:
    return {kind: [each for each in objects if each["kind"] == kind] for kind in PATHS}


def deployment(name: str, replicas: int = 1) -> tuple[Object, Object]:
    """A Deployment and its ReplicaSet."""
    spec = {"replicas": replicas}
    return obj("Deployment", name, spec=spec), obj("ReplicaSet", f"{name}-1", name, spec=spec)


def pod(name: str, owner: str = "", *conditions: Object, **status: Any) -> Object:
    return obj("Pod", name, owner, status={"phase": "Pending", "conditions": list(conditions), **status})


def event(about: str, message: str, at: str = "2026-11-22T10:00:00Z") -> Object:
    return obj("Event", f"{about}.{at}", involvedObject={"uid": about}, message=message, lastTimestamp=at)


READY = {"type": "Ready", "status": "True"}
SCHEDULED = {"type": "PodScheduled", "status": "True"}


def test_running_pods_are_counted_with_those_of_no_workload() -> None:
    found = picture(
        cluster(*deployment("web", 2), pod("a", "web-1", READY), pod("b", "web-1", READY), pod("c", "", READY))
    )
    assert (found.wanted, found.running, found.waiting) == (3, 3, ())


def test_a_pending_pod_has_the_schedulers_reason() -> None:
    message = "0/5 nodes are available: 5 Insufficient cpu."
    more = " no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful."
    refused = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message + more}
    found = picture(cluster(*deployment("web"), pod("a", "web-1", refused)))
    assert (found.wanted, found.running) == (1, 0)
    assert found.waiting == (Waiting("Deployment ns/web", 1, message),)


def test_a_pod_that_waits_for_a_secret_has_the_kubelets_event() -> None:
    mount = 'MountVolume.SetUp failed for volume "token" : secret "hub" not found'
    found = picture(cluster(pod("a", "", SCHEDULED), event("a", mount)))
    assert found.waiting == (Waiting("Pod ns/a", 1, mount),)


def test_a_pod_that_crashes_has_the_state_of_its_container() -> None:
    crash = [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
    found = picture(cluster(pod("a", "", SCHEDULED, phase="Running", containerStatuses=crash)))
    assert found.waiting[0].reason == "CrashLoopBackOff"


def test_pods_that_were_not_created_have_the_controllers_last_event_without_the_pods_name() -> None:
    account = 'error looking up service account ns/nobody: serviceaccount "nobody" not found'
    objects = cluster(
        *deployment("web", 2),
        event("web-1", f'Error creating: pods "web-1-abcde" is forbidden: {account}', "2026-11-22T10:00:02Z"),
        event("web-1", "something earlier", "2026-11-22T10:00:01Z"),
    )
    assert picture(objects).waiting == (Waiting("Deployment ns/web", 2, account),)
    assert picture(objects).wanted == 2


def test_jobs_want_the_pods_that_are_left_to_run() -> None:
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    objects = cluster(
        obj("Job", "wide", spec={"parallelism": 4, "completions": 6}, status={"succeeded": 3}),
        obj("Job", "queued", spec={"suspend": True}),
        obj("Job", "done", spec={}, status=done),
        pod("old", "done", phase="Succeeded"),
        event("wide", 'Error creating: pods "wide-x" is forbidden: exceeded quota: team'),
    )
    assert picture(objects).wanted == 3
    assert picture(objects).waiting == (Waiting("Job ns/wide", 3, "exceeded quota: team"),)


def test_a_daemon_set_wants_the_pods_that_its_controller_counts() -> None:
    daemons = obj("DaemonSet", "agent", spec={"template": {"spec": {}}}, status={"desiredNumberScheduled": 1})
    node = {"kind": "Node", "metadata": {"name": "gpu-0"}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}
    found = picture(cluster(daemons, node, pod("a", "agent", READY)))
    assert (found.wanted, found.running) == (1, 1)
    assert found.unreached == (Unreached("ns/agent", ("gpu-0",), ("gpu:NoSchedule",)),)


def test_the_summary_has_a_line_for_each_reason() -> None:
    refused = {"type": "PodScheduled", "status": "False", "message": "no node"}
    found = picture(cluster(*deployment("web", 2), pod("a", "web-1", refused), pod("b", "web-1", READY)))
    assert written(found).splitlines() == [
        "Pods: 2 wanted, 1 running, 1 not running:",
        "  1  Deployment ns/web: no node",
    ]
    assert written(picture(cluster())) == "Pods: 0 wanted, 0 running."


def test_many_reasons_are_counted() -> None:
    refused = {"type": "PodScheduled", "status": "False", "message": "no node"}
    lines = written(picture(cluster(*(pod(f"p{n:02}", "", refused) for n in range(13))))).splitlines()
    assert len(lines) == 12
    assert lines[-1] == "  and 3 more: `kubectl get pods -A`"


def test_without_charts_the_reason_for_no_pods_is_named() -> None:
    assert written(picture(cluster()), "why") == "Pods: none, because no chart is installed: why."
    assert written(picture(cluster(pod("p", "", READY))), "why") == "Pods: 1 wanted, 1 running."


class Cluster:
    """A cluster with a pod that waits until a moment, and NodePools of a Karpenter that runs or not."""

    def __init__(self, clock: list[float], ready_at: float, *, karpenter: bool) -> None:
        self._clock, self._ready_at = clock, ready_at
        conditions = [{"type": "Ready", "status": "True"}] if karpenter else []
        self._pools = [{"metadata": {"name": "cpu"}, "status": {"conditions": conditions}}]

    def get_path(self, path: str) -> dict[str, Any]:
        if path == pods.NODE_POOLS:
            return {"items": self._pools}
        state = "True" if self._clock[0] >= self._ready_at else "False"
        conditions = [{"type": kind, "status": state, "message": "0/3 nodes"} for kind in ("PodScheduled", "Ready")]
        pod = {"metadata": {"name": "p", "namespace": "n", "uid": "1"}, "status": {"conditions": conditions}}
        return {"items": [pod] if path == pods.PATHS["Pod"] else []}


@pytest.mark.parametrize(("karpenter", "running"), [(True, 1), (False, 0)])
def test_a_pod_gets_time_for_its_node_where_karpenter_runs(
    monkeypatch: pytest.MonkeyPatch, karpenter: bool, running: int
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    found = pods.settled(cast(KubeClient, Cluster(clock, 9.0, karpenter=karpenter)))
    assert (found.wanted, found.running) == (1, running)


# DaemonSets that select nodes whose taints they don't tolerate.


TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def node(name: str, *taints: dict[str, str], **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)}}


def daemon_set(*tolerations: dict[str, str], **spec: Any) -> dict[str, Any]:
    template = {"spec": {"tolerations": list(tolerations), **spec}}
    return {"metadata": {"namespace": "ns", "name": "agent"}, "spec": {"template": template}}


NODES = [
    node("cpu-0", **{"platform.slipway/pool": "cpu"}),
    node("gpu-0", TAINT, **{"platform.slipway/pool": "a100", "gpu-count": "8"}),
    node("gpu-1", TAINT, **{"platform.slipway/pool": "a100", "gpu-count": "8"}),
]


def test_a_daemon_set_without_a_toleration_does_not_reach_the_tainted_pool() -> None:
    assert unreached([daemon_set()], NODES) == [
        Unreached("ns/agent", ("a100",), ("nvidia.com/gpu=present:NoSchedule",))
    ]


def test_a_daemon_set_that_the_stack_keeps_off_gpu_nodes_is_not_reported() -> None:
    dcgm = daemon_set() | {"metadata": {"namespace": "kube-system", "name": "dcgm-server"}}
    assert unreached([dcgm, daemon_set()], NODES) == unreached([daemon_set()], NODES)


@pytest.mark.parametrize(("toleration", "reaches"), CASES["a toleration of the taint alone reaches it"])
def test_a_toleration_of_the_taint_alone_reaches_it(toleration: dict[str, str], reaches: bool) -> None:
    assert (unreached([daemon_set(toleration)], NODES) == []) is reaches


def test_nodes_that_it_does_not_select_are_not_missed() -> None:
    assert unreached([daemon_set(nodeSelector={"platform.slipway/pool": "cpu"})], NODES) == []


def test_taints_that_the_controller_tolerates_and_preferences_keep_nothing_away() -> None:
    taints = (
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "spot", "effect": "PreferNoSchedule"},
    )
    assert unreached([daemon_set()], [node("new", *taints)]) == []


@pytest.mark.parametrize(("key", "operator", "values", "expected"), CASES["operators of node affinity"])
def test_operators_of_node_affinity(key: str, operator: str, values: list[str], expected: bool) -> None:
    expression = {"key": key, "operator": operator, "values": values}
    terms = [{"matchExpressions": [expression]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    assert selects({"affinity": {"nodeAffinity": required}}, NODES[1]) is expected


def test_one_of_several_terms_is_enough_and_fields_name_the_node() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["gpu-0"]}]
    terms = [{"matchExpressions": [{"key": "absent", "operator": "Exists"}]}, {"matchFields": fields}]
    spec = {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }
    assert [selects(spec, each) for each in NODES] == [False, True, False]
