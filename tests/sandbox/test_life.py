"""A cluster that lives: pods are scheduled and run, jobs end, claims are bound, by real controllers and KWOK."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until, until_ready
from sandbox.nodes import drain
from sandbox.nodes.spec import NodeWriter, Taint
from slipway.why import pods
from slipway.why.answer import Layer
from slipway.why.bundle import Bundle
from tests.sandbox.controllers.installed import holds, wait
from tests.sandbox.living import GPUS, living_plane, node
from tests.sandbox.plane import CLUSTER, ControlPlane, existing
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
RETRIED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with living_plane(tmp_path_factory.mktemp("living")) as plane:
        yield plane


@pytest.fixture
def living(cluster: ControlPlane) -> KubeClient:
    """Its client."""
    return cluster.client


@pytest.fixture
def namespace(living: KubeClient, request: pytest.FixtureRequest) -> str:
    name = f"t-{abs(hash(request.node.name)) % 10**8}"
    living.apply(Ref("v1", "Namespace", name).as_object(), "test")
    # Admission wants the account, which the controller manager makes.
    until(lambda: living.get(Ref("v1", "ServiceAccount", "default", name)), SECONDS, "no service account")
    return name


def pod(namespace: str, name: str = "pod", annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    containers = [{"name": "main", "image": "busybox", **spec.pop("container", {})}]
    made = Ref("v1", "Pod", name, namespace).as_object()
    made["metadata"]["annotations"] = annotations or {}
    return {**made, "spec": {"containers": containers, **spec}}


def job(namespace: str, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    one = pod(namespace, annotations=annotations, restartPolicy="Never")
    template = {"metadata": {"annotations": annotations or {}}, "spec": one["spec"]}
    return {**Ref("batch/v1", "Job", name, namespace).as_object(), "spec": {
            "backoffLimit": 0, **spec, "template": template}}  # fmt: skip


def runs(obj: Object) -> bool | None:
    return (obj.get("status") or {}).get("phase") == "Running" or None


def test_a_pod_runs_on_the_node_that_takes_it(living: KubeClient, namespace: str) -> None:
    tolerations = [{"key": "pool", "operator": "Exists"}]
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "4"}}}
    living.apply(pod(namespace, tolerations=tolerations, container=gpus), "test")
    wait(living, Ref("v1", "Pod", "pod", namespace), holds("Ready"), "not ready")
    found = existing(living, Ref("v1", "Pod", "pod", namespace))
    assert (found["spec"]["nodeName"], found["status"]["phase"]) == ("gpu-0", "Running")
    assert found["status"]["podIP"].startswith("100.")


def test_a_scheduler_fills_nodes_where_its_cluster_says_so(
    cluster: ControlPlane, living: KubeClient, namespace: str
) -> None:
    """Kubernetes would take the empty node of two that are alike, and fills the other once it is configured to."""
    writer = NodeWriter(cluster.targets.of_cluster)
    for name in ("pack-0", "pack-1"):
        writer.write(CLUSTER, node(name, "p4d.24xlarge", GPUS, Taint("pack", "NoSchedule", "it")))

    def placed(name: str) -> str:
        gpus = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
        living.apply(pod(namespace, name, tolerations=[{"key": "pack", "operator": "Exists"}], container=gpus), "test")
        ref = Ref("v1", "Pod", name, namespace)
        return str(wait(living, ref, lambda found: found["spec"].get("nodeName"), "not placed"))

    first = placed("first")
    weights = [{"name": "nvidia.com/gpu", "weight": 10}, {"name": "cpu", "weight": 1}]
    scoring = {"type": "MostAllocated", "resources": weights}
    cluster.pool.schedule(CLUSTER, {"nodeResourcesFit": {"scoringStrategy": scoring}})
    assert {placed(f"more-{number}") for number in range(3)} == {first}
    cluster.pool.schedule(CLUSTER, {})
    assert placed("last") != first
    assert cluster.life.dead == ()


def test_a_node_is_emptied_by_evictions_which_a_budget_may_refuse(
    cluster: ControlPlane, living: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, tolerations = NodeWriter(cluster.targets.of_cluster), [{"key": "drain", "operator": "Exists"}]
    writer.write(CLUSTER, node("drain-0", "p4d.24xlarge", GPUS, Taint("drain", "NoSchedule", "it")))
    one = pod(namespace, tolerations=tolerations, nodeSelector={"kubernetes.io/hostname": "drain-0"})
    agent = {"metadata": {"labels": {"app": "agent"}}, "spec": one["spec"]}
    stays = {**Ref("apps/v1", "DaemonSet", "agent", namespace).as_object(),
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": agent}}  # fmt: skip
    one["metadata"]["labels"] = {"app": "kept"}
    budget = {**Ref("policy/v1", "PodDisruptionBudget", "kept", namespace).as_object(),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}}}  # fmt: skip
    for each in (one, stays, budget):
        living.apply(each, "test")
    wait(living, Ref.of(one), holds("Ready"), "not ready")
    wait(living, Ref.of(stays), lambda found: found["status"].get("numberReady") == 1, "no pod of the DaemonSet")
    wait(living, Ref.of(budget), lambda found: found.get("status", {}).get("currentHealthy") == 1, "not counted")
    monkeypatch.setattr(drain, "STUCK_SECONDS", 1.0)
    with pytest.raises(SandboxError, match=r"PodEvictionFailure: .* group g: .*pod.*disruption budget"):
        writer.drain(CLUSTER, "g", ["drain-0"])
    assert not existing(living, Ref("v1", "Node", "drain-0"))["spec"].get("unschedulable")
    assert not drain.shut_if_empty(living, "drain-0")
    writer.drain(CLUSTER, "g", ["drain-0"], forced=True)
    assert existing(living, Ref.of(one))["spec"]["nodeName"] == "drain-0"
    living.delete(Ref.of(budget))
    monkeypatch.undo()
    writer.drain(CLUSTER, "g", ["drain-0", "gone"])
    assert drain.shut_if_empty(living, "drain-0")
    assert living.get(Ref.of(one)) is None
    assert existing(living, Ref("v1", "Node", "drain-0"))["spec"]["unschedulable"]
    assert existing(living, Ref.of(stays))["status"]["numberReady"] == 1
    writer.remove(CLUSTER, "drain-0")


@pytest.mark.parametrize(("change", "reason"), [
    ({"container": {"resources": {"limits": {"nvidia.com/gpu": "1"}}}}, "untolerated taint"),
    ({"container": {"resources": {"requests": {"cpu": "64"}}}}, "Insufficient cpu"),
    ({"nodeSelector": {"pool": "h100"}}, "didn't match Pod's node affinity/selector"),
])  # fmt: skip
def test_a_pod_that_no_node_takes_is_pending_with_the_schedulers_reason(
    living: KubeClient, namespace: str, change: dict[str, Any], reason: str
) -> None:
    living.apply(pod(namespace, **change), "test")

    def unschedulable(obj: Object) -> str | None:
        conditions = obj["status"].get("conditions") or ()
        return next((str(one["message"]) for one in conditions if one.get("reason") == "Unschedulable"), None)

    assert reason in wait(living, Ref("v1", "Pod", "pod", namespace), unschedulable, "scheduled")


@pytest.mark.parametrize("which", ["main", "fetch"])
def test_a_pod_whose_image_does_not_exist_waits_for_it_with_a_kubelets_words(
    living: KubeClient, namespace: str, which: str
) -> None:
    first: dict[str, Any] = {"initContainers": [{"name": "fetch", "image": "busybox"}]} if which == "fetch" else {}
    living.apply(pod(namespace, annotations={"sandbox.slipway/no-image": which}, **first), "test")

    def waiting(obj: Object) -> tuple[str, str] | None:
        status = obj.get("status") or {}
        every = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
        states = {one["name"]: one["state"].get("waiting") or {} for one in every}
        state = states.get(which) or {}
        return (state["reason"], state["message"]) if state.get("reason") == "ImagePullBackOff" else None

    _, message = wait(living, Ref("v1", "Pod", "pod", namespace), waiting, "no back-off")
    assert message.startswith('Back-off pulling image "busybox": ErrImagePull: ')
    found = existing(living, Ref("v1", "Pod", "pod", namespace))
    assert found["status"]["phase"] == "Pending"
    part = pods.held(found, Bundle(subject=found))
    assert part is not None
    assert (part.layer, part.never, "correct name and tag" in part.fix) == (Layer.IMAGE, True, True)
    living.delete(Ref("v1", "Pod", "pod", namespace))
    until(lambda: living.get(Ref("v1", "Pod", "pod", namespace)) is None, SECONDS, "still there")


def test_a_job_runs_as_long_as_it_says_and_succeeds(living: KubeClient, namespace: str) -> None:
    start = time.monotonic()
    living.apply(job(namespace, "train", {"sandbox.slipway/duration": "3s"}), "test")
    wait(living, Ref("batch/v1", "Job", "train", namespace), holds("Complete"), "not complete")
    assert time.monotonic() - start >= 3


@pytest.mark.parametrize(
    ("annotations", "reason", "code"),
    [({"sandbox.slipway/exit-code": "3"}, "Error", 3), ({"sandbox.slipway/ends-by": "oom"}, "OOMKilled", 137)],
)
def test_a_job_fails_as_its_containers_do(
    living: KubeClient, namespace: str, annotations: dict[str, str], reason: str, code: int
) -> None:
    living.apply(job(namespace, "train", annotations), "test")
    wait(living, Ref("batch/v1", "Job", "train", namespace), holds("Failed"), "not failed")
    (found,) = living.get_path(f"/api/v1/namespaces/{namespace}/pods")["items"]
    ended = found["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == (reason, code)


def test_an_evicted_pod_is_retried_without_counting_as_a_failure(living: KubeClient, namespace: str) -> None:
    living.apply(job(namespace, "train", {"sandbox.slipway/ends-by": "eviction"}, podFailurePolicy=RETRIED), "test")

    def retried(obj: Object) -> bool | None:
        pods = living.get_path(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return True if len(pods) >= 2 and not obj["status"].get("failed") else None

    assert wait(living, Ref("batch/v1", "Job", "train", namespace), retried, "not retried")


def test_a_deleted_pod_of_a_job_is_replaced(living: KubeClient, namespace: str) -> None:
    long = {"sandbox.slipway/duration": "7200s"}
    living.apply(job(namespace, "train", long, backoffLimit=3, podFailurePolicy=RETRIED), "test")

    def running() -> str | None:
        pods = living.get_path(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return next((one["metadata"]["name"] for one in pods if one["status"]["phase"] == "Running"), None)

    first = until(running, SECONDS, "no pod runs")
    living.delete(Ref("v1", "Pod", first, namespace))
    until(lambda: ((name := running()) is not None and name != first) or None, SECONDS, "no pod replaces it")


def test_a_pod_waits_for_the_secret_that_it_mounts(living: KubeClient, namespace: str) -> None:
    living.apply(pod(namespace, volumes=[{"name": "token", "secret": {"secretName": "hub"}}]), "test")
    ref = Ref("v1", "Pod", "pod", namespace)

    def said() -> bool | None:
        found = living.get_path(f"/api/v1/namespaces/{namespace}/events")["items"]
        return any((one["reason"], one["involvedObject"]["name"]) == ("FailedMount", "pod") for one in found) or None

    until(said, SECONDS, "no event")
    assert existing(living, ref)["status"]["phase"] == "Pending"
    living.apply(Ref("v1", "Secret", "hub", namespace).as_object(), "test")
    wait(living, ref, runs, "does not run")


def test_a_claim_is_bound_with_its_first_pod_and_its_volume_goes_with_it(living: KubeClient, namespace: str) -> None:
    storage_class = Ref("storage.k8s.io/v1", "StorageClass", "gp3").as_object()
    lazy = {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}
    living.apply({**storage_class, **lazy}, "test")
    claim = Ref("v1", "PersistentVolumeClaim", "disk", namespace)
    size = {"resources": {"requests": {"storage": "1Gi"}}}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "gp3", **size}
    living.apply({**claim.as_object(), "spec": spec}, "test")
    living.apply(pod(namespace, volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]), "test")
    wait(living, Ref("v1", "Pod", "pod", namespace), runs, "does not run")
    name = existing(living, claim)["spec"]["volumeName"]
    living.delete(Ref("v1", "Pod", "pod", namespace))
    living.delete(claim)
    until(lambda: living.get(Ref("v1", "PersistentVolume", name)) is None or None, SECONDS, "the volume stays")


def test_a_service_that_programs_ask_for_its_address_has_one_and_one_of_a_class_is_not_awaited(
    living: KubeClient, namespace: str
) -> None:
    def service(name: str, **spec: Any) -> Object:
        ports = [{"port": 80, "targetPort": 8080}]
        more = {"selector": {"app": "web"}, "ports": ports, "type": "LoadBalancer", **spec}
        return {**Ref("v1", "Service", name, namespace).as_object(), "spec": more}

    ready = until_ready(living, living.apply(service("web"), "test"))
    (address,) = ready["status"]["loadBalancer"]["ingress"]
    assert address["hostname"].endswith(".elb.amazonaws.com")
    assert len(address["hostname"].partition(".")[0]) == 32
    other = until_ready(living, living.apply(service("nlb", loadBalancerClass="service.k8s.aws/nlb"), "test"))
    assert other["status"]["loadBalancer"] == {}


def test_a_namespace_goes_with_all_that_is_in_it(living: KubeClient, namespace: str) -> None:
    living.apply(pod(namespace), "test")
    wait(living, Ref("v1", "Pod", "pod", namespace), runs, "does not run")
    living.delete(Ref("v1", "Namespace", namespace))
    until(lambda: living.get(Ref("v1", "Namespace", namespace)) is None or None, SECONDS, "the namespace stays")


def test_a_cluster_whose_processes_die_goes_on_with_its_objects(
    cluster: ControlPlane, living: KubeClient, namespace: str
) -> None:
    cluster.supervisor.keep()
    before = living.apply({**Ref("v1", "ConfigMap", "kept", namespace).as_object(), "data": {"a": "b"}}, "test")
    died = cluster.supervisor.identities()
    names = " ".join(each.name for each in died)
    assert all(name in names for name in ("etcd", "kube-apiserver", "controller-manager", "scheduler", "kwok"))
    for each in died:
        os.kill(each.pid, signal.SIGKILL)
    pids = {each.pid for each in died}
    until(lambda: not pids & {each.pid for each in cluster.supervisor.identities()} or None, SECONDS, "not all anew")
    server = cluster.pool.at(living.server)
    assert server is not None, "the API server runs again, at its address"
    assert living.get(Ref.of(before)) == before
    living.apply(job(namespace, "after"), "test")
    wait(living, Ref("batch/v1", "Job", "after", namespace), holds("Complete"), "not complete")
    assert [each.name for each in cluster.supervisor.identities()] == [each.name for each in died]
