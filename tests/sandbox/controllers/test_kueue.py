"""Kueue and JobSet of their charts: admission, quota and preemption happen as in a cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.controllers.table import JOBSET, KUEUE
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from tests.sandbox.controllers.installed import applied, cluster, holds, release, running, wait
from tests.sandbox.plane import ControlPlane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
TEAM = "team"
API = "kueue.x-k8s.io/v1beta2"
QUEUE = {"kueue.x-k8s.io/queue-name": "team"}
QUOTA = 4
LONG = "7200s"


def kueue(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def job(name: str, cpu: int, duration: str, priority: str = "") -> Object:
    labels = {**QUEUE, **({"kueue.x-k8s.io/priority-class": priority} if priority else {})}
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": str(cpu)}}}
    template = {
        "metadata": {"annotations": {"sandbox.slipway/duration": duration}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": TEAM, "labels": labels},
        "spec": {"template": template},
    }


def jobset(name: str, duration: str) -> Object:
    inner = job("unused", 1, duration)["spec"]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": TEAM, "labels": QUEUE},
        "spec": {"replicatedJobs": [{"name": "workers", "replicas": 2, "template": {"spec": inner}}]},
    }


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    """A cluster with both, one queue of four CPUs, and two priorities."""
    directory = tmp_path_factory.mktemp("kueue")
    with cluster(directory, KUEUE, JOBSET) as plane:
        release(plane.client, shared / "charts-full", JOBSET, "jobset-system")
        release(plane.client, shared / "charts-full", KUEUE, "kueue-system")
        assert running(directory) == {"kueue", "jobset"}
        resources = [{"name": "cpu", "nominalQuota": QUOTA}, {"name": "memory", "nominalQuota": "64Gi"}]
        group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "any", "resources": resources}]}
        preemption = {"withinClusterQueue": "LowerPriority"}
        priorities = [
            {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}
            for name, value in (("low", 1), ("high", 100))
        ]
        applied(
            plane.client,
            Ref("v1", "Namespace", TEAM).as_object(),
            kueue("ResourceFlavor", "any", {}),
            kueue(
                "ClusterQueue", "team", {"namespaceSelector": {}, "resourceGroups": [group], "preemption": preemption}
            ),
            kueue("LocalQueue", "team", {"clusterQueue": "team"}, TEAM),
            *priorities,
        )
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    """A test that fails leaves no job that holds the quota of the next one."""
    yield plane.client
    for kind, version in (("Job", "batch/v1"), ("JobSet", "jobset.x-k8s.io/v1alpha2")):
        for each in plane.client.list(plane.client.discovery.find(version, kind), TEAM):
            plane.client.delete(ref(each))


def ref(obj: Object) -> Ref:
    return Ref.of(obj)


def workload(client: KubeClient, owner: str) -> Object:
    """The Workload that Kueue made for a job."""
    resource = client.discovery.find(API, "Workload")

    def look() -> Object | None:
        found = client.list(resource, TEAM)
        return next((each for each in found if each["metadata"]["ownerReferences"][0]["name"] == owner), None)

    return until(look, SECONDS, f"no Workload of {owner}")


def runs(job: Object) -> object:
    """Whether its pod is ready."""
    return (job.get("status") or {}).get("ready") or None


def preempted(workload: Object) -> bool | None:
    """Whether Kueue has taken its quota for another. As long as it has not given it back it says so by one of two."""
    return (bool(holds("Preempted")(workload)) or condition(workload, "Evicted").get("reason") == "Preempted") or None


def test_a_job_within_its_quota_is_admitted_and_runs_to_its_end(client: KubeClient) -> None:
    within = job("within", 1, "2s")
    applied(client, within)
    wait(client, ref(within), holds("Complete"), "not complete")
    until(lambda: holds("Finished")(workload(client, "within")), SECONDS, "its Workload is not finished")
    # A job that ran can't change its queue.
    with pytest.raises(ApiError, match=r"vjob.kb.io.* denied the request"):
        client.merge(ref(within), {"metadata": {"labels": {next(iter(QUEUE)): "other"}}})


def test_a_job_above_the_quota_stays_suspended_with_kueues_reason(client: KubeClient) -> None:
    above = job("above", QUOTA + 1, "2s")
    applied(client, above)

    def message() -> str:
        return str(condition(workload(client, "above"), "QuotaReserved").get("message"))

    # Before it, Kueue may say that the queue is not ready yet.
    wanted = ("insufficient quota for cpu in flavor any", "maximum capacity")
    until(lambda: any(each in message() for each in wanted) or None, SECONDS, message)
    live = client.get(ref(above))
    assert live is not None
    assert live["spec"]["suspend"] is True


def test_a_more_important_job_takes_the_quota_of_another_which_resumes(client: KubeClient) -> None:
    """Neither ends by itself: what is asserted stays so until the test goes on."""
    low, high = job("low", QUOTA, LONG, "low"), job("high", QUOTA, LONG, "high")
    applied(client, low)
    wait(client, ref(low), runs, "no pod")
    applied(client, high)
    wait(client, ref(high), runs, "no pod")
    wait(client, ref(low), lambda obj: obj["spec"].get("suspend") or None, "not suspended")
    until(lambda: preempted(workload(client, "low")), SECONDS, lambda: f"not preempted: {workload(client, 'low')}")
    client.delete(ref(high))
    wait(client, ref(low), lambda obj: None if obj["spec"].get("suspend") else runs(obj), "not resumed")


def test_a_jobset_is_admitted_as_a_whole_and_ends(client: KubeClient) -> None:
    both = jobset("pair", "2s")
    applied(client, both)
    wait(client, ref(both), holds("Completed"), "not complete")
    assert workload(client, "pair")["spec"]["podSets"][0]["count"] == 2


def test_jobsets_webhook_refuses_what_it_would_refuse(client: KubeClient) -> None:
    twice = jobset("twice", "2s")
    twice["spec"]["replicatedJobs"] *= 2
    with pytest.raises(ApiError, match=r"(?i)duplicate|unique"):
        client.apply(twice, "test", force=True)


def test_both_versions_of_kueues_api_are_converted_by_it(client: KubeClient) -> None:
    old = client.get(Ref("kueue.x-k8s.io/v1beta1", "ClusterQueue", "team"))
    assert old is not None
    assert old["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    crd = client.get(Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "clusterqueues.kueue.x-k8s.io"))
    assert crd is not None
    assert crd["spec"]["conversion"]["strategy"] == "Webhook"
