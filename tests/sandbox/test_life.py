"""A cluster that lives: pods are scheduled and run, jobs end, claims are bound, by real controllers and KWOK."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until, until_ready
from sandbox.nodes.spec import NodeWriter, Taint
from slipway.why import pods
from slipway.why.answer import Layer
from slipway.why.bundle import Bundle
from tests.sandbox.living import GPUS, living_plane, node
from tests.sandbox.plane import CLUSTER, ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
T = TypeVar("T")


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
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
        "spec": {"containers": containers, **spec},
    }


def job(namespace: str, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    template = pod(namespace, annotations=annotations, restartPolicy="Never")
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace}, "spec": {
            "backoffLimit": 0, **spec,
            "template": {"metadata": {"annotations": annotations or {}}, "spec": template["spec"]}}}  # fmt: skip


def wait(client: KubeClient, ref: Ref, ready: Callable[[Object], T | None], what: str) -> T:
    def look() -> T | None:
        found = client.get(ref)
        return None if found is None else ready(found)

    return until(look, SECONDS, f"{ref}: {what}")


def condition(kind: str) -> Callable[[Object], Object | None]:
    def find(obj: Object) -> Object | None:
        conditions = (obj.get("status") or {}).get("conditions") or ()
        return next((one for one in conditions if one["type"] == kind and one["status"] == "True"), None)

    return find


def phase(*wanted: str) -> Callable[[Object], Object | None]:
    return lambda obj: obj if (obj.get("status") or {}).get("phase") in wanted else None


def events(client: KubeClient, namespace: str, name: str) -> list[str]:
    found = client.get_path(f"/api/v1/namespaces/{namespace}/events")["items"]
    return [f"{one['reason']}: {one['message']}" for one in found if one["involvedObject"]["name"] == name]


def test_a_pod_runs_on_the_node_that_takes_it(living: KubeClient, namespace: str) -> None:
    tolerations = [{"key": "pool", "operator": "Exists"}]
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "4"}}}
    living.apply(pod(namespace, tolerations=tolerations, container=gpus), "test")
    live = wait(living, Ref("v1", "Pod", "pod", namespace), condition("Ready"), "not ready")
    assert live["status"] == "True"
    found = living.get(Ref("v1", "Pod", "pod", namespace))
    assert found is not None
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
    found = living.get(Ref("v1", "Pod", "pod", namespace))
    assert found is not None
    assert found["status"]["phase"] == "Pending"
    part = pods.held(found, Bundle(subject=found))
    assert part is not None
    assert (part.layer, part.never, "correct name and tag" in part.fix) == (Layer.IMAGE, True, True)
    living.delete(Ref("v1", "Pod", "pod", namespace))
    until(lambda: living.get(Ref("v1", "Pod", "pod", namespace)) is None, SECONDS, "still there")


def test_a_job_runs_as_long_as_it_says_and_succeeds(living: KubeClient, namespace: str) -> None:
    start = time.monotonic()
    living.apply(job(namespace, "train", {"sandbox.slipway/duration": "3s"}), "test")
    wait(living, Ref("batch/v1", "Job", "train", namespace), condition("Complete"), "not complete")
    assert time.monotonic() - start >= 3


@pytest.mark.parametrize(
    ("annotations", "reason", "code"),
    [({"sandbox.slipway/exit-code": "3"}, "Error", 3), ({"sandbox.slipway/ends-by": "oom"}, "OOMKilled", 137)],
)
def test_a_job_fails_as_its_containers_do(
    living: KubeClient, namespace: str, annotations: dict[str, str], reason: str, code: int
) -> None:
    living.apply(job(namespace, "train", annotations), "test")
    wait(living, Ref("batch/v1", "Job", "train", namespace), condition("Failed"), "not failed")
    (found,) = living.get_path(f"/api/v1/namespaces/{namespace}/pods")["items"]
    ended = found["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == (reason, code)


def test_an_evicted_pod_is_retried_without_counting_as_a_failure(living: KubeClient, namespace: str) -> None:
    ignore = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}
    living.apply(job(namespace, "train", {"sandbox.slipway/ends-by": "eviction"}, podFailurePolicy=ignore), "test")

    def retried(obj: Object) -> bool | None:
        pods = living.get_path(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return True if len(pods) >= 2 and not obj["status"].get("failed") else None

    assert wait(living, Ref("batch/v1", "Job", "train", namespace), retried, "not retried")


def test_a_deleted_pod_of_a_job_is_replaced(living: KubeClient, namespace: str) -> None:
    ignore = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}
    living.apply(
        job(namespace, "train", {"sandbox.slipway/duration": "7200s"}, backoffLimit=3, podFailurePolicy=ignore), "test"
    )

    def running() -> str | None:
        pods = living.get_path(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return next((one["metadata"]["name"] for one in pods if one["status"]["phase"] == "Running"), None)

    first = until(running, SECONDS, "no pod runs")
    living.delete(Ref("v1", "Pod", first, namespace))
    until(lambda: ((name := running()) is not None and name != first) or None, SECONDS, "no pod replaces it")


def test_a_pod_waits_for_the_secret_that_it_mounts(living: KubeClient, namespace: str) -> None:
    living.apply(pod(namespace, volumes=[{"name": "token", "secret": {"secretName": "hub"}}]), "test")
    ref = Ref("v1", "Pod", "pod", namespace)
    until(
        lambda: (
            (
                events(living, namespace, "pod")[-1:]
                and any("FailedMount" in one for one in events(living, namespace, "pod"))
            )
            or None
        ),
        SECONDS,
        "no event",
    )
    assert (living.get(ref) or {})["status"]["phase"] == "Pending"
    living.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hub", "namespace": namespace}}, "test")
    wait(living, ref, phase("Running"), "does not run")


def test_a_claim_is_bound_with_its_first_pod_and_its_volume_goes_with_it(living: KubeClient, namespace: str) -> None:
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "gp3"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    living.apply(storage_class, "test")
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk", "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "gp3",
            "resources": {"requests": {"storage": "1Gi"}}}}  # fmt: skip
    living.apply(claim, "test")
    living.apply(pod(namespace, volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]), "test")
    wait(living, Ref("v1", "Pod", "pod", namespace), phase("Running"), "does not run")
    bound = living.get(Ref("v1", "PersistentVolumeClaim", "disk", namespace))
    assert bound is not None
    name = bound["spec"]["volumeName"]
    living.delete(Ref("v1", "Pod", "pod", namespace))
    living.delete(Ref("v1", "PersistentVolumeClaim", "disk", namespace))
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
    wait(living, Ref("v1", "Pod", "pod", namespace), phase("Running"), "does not run")
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
    wait(living, Ref("batch/v1", "Job", "after", namespace), condition("Complete"), "not complete")
    assert [each.name for each in cluster.supervisor.identities()] == [each.name for each in died]
