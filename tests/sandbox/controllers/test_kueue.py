"""Kueue and JobSet of their charts: admission, quota and preemption happen as in a cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.controllers.table import BY_NAME
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from tests.sandbox.controllers.installed import applied, cluster, holds, release, until_running, wait
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


ASKED = "asked"
"""A queue whose jobs wait until the capacity was asked for; its namespace is one of its own."""
REQUEST = "autoscaling.x-k8s.io/v1"
REASON = "the test's answer"


def provisioning_requests() -> Object:
    """The CRD of Cluster Autoscaler, of which no chart is there: any spec, and a status."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "provisioningrequests", "singular": "provisioningrequest", "kind": "ProvisioningRequest"}
    group = REQUEST.partition("/")[0]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"provisioningrequests.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test's stand-in"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {**names, "listKind": "ProvisioningRequestList"},
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


def asked_for(group: dict[str, Any]) -> list[Object]:
    """A queue with a check of capacity, which is repeated once."""
    retries = {"backoffLimitCount": 1, "backoffBaseSeconds": 1, "backoffMaxSeconds": 1}
    spec = {"provisioningClassName": "check-capacity.autoscaling.x-k8s.io", "retryStrategy": retries}
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "capacity"}
    check = {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters}
    checks = {"admissionChecks": [{"name": "capacity"}]}
    return [
        Ref("v1", "Namespace", ASKED).as_object(),
        kueue("ProvisioningRequestConfig", "capacity", spec),
        kueue("AdmissionCheck", "capacity", check),
        kueue(
            "ClusterQueue",
            ASKED,
            {"namespaceSelector": {}, "resourceGroups": [group], "admissionChecksStrategy": checks},
        ),
        kueue("LocalQueue", "team", {"clusterQueue": ASKED}, ASKED),
    ]


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
    with cluster(directory, BY_NAME["kueue"], BY_NAME["jobset"]) as plane:
        # Before Kueue, which looks for it once, when it starts.
        applied(plane.client, provisioning_requests())
        release(plane.client, shared / "charts-full", BY_NAME["jobset"], "jobset-system")
        release(plane.client, shared / "charts-full", BY_NAME["kueue"], "kueue-system")
        until_running(directory, "kueue", "jobset")
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
            *asked_for(group),
        )
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    """A test that fails leaves no job that holds the quota of the next one."""
    yield plane.client
    for kind, version in (("Job", "batch/v1"), ("JobSet", "jobset.x-k8s.io/v1alpha2")):
        for namespace in (TEAM, ASKED):
            for each in plane.client.list(plane.client.discovery.find(version, kind), namespace):
                plane.client.delete(ref(each))


def ref(obj: Object) -> Ref:
    return Ref.of(obj)


def workload(client: KubeClient, owner: str, namespace: str = TEAM) -> Object:
    """The Workload that Kueue made for a job."""
    resource = client.discovery.find(API, "Workload")

    def look() -> Object | None:
        found = client.list(resource, namespace)
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


# Cluster Autoscaler is played: what it answers is the test's, what follows is Kueue's.


def asks(client: KubeClient, owner: str, attempt: int) -> Object:
    """The request that Kueue makes for a job, and for the how manieth time."""
    resource = client.discovery.find(REQUEST, "ProvisioningRequest")
    name = workload(client, owner, ASKED)["metadata"]["name"]

    def look() -> Object | None:
        found = client.list(resource, ASKED)
        return next((each for each in found if each["metadata"]["name"] == f"{name}-capacity-{attempt}"), None)

    return until(look, SECONDS, f"no request {attempt} for {owner}")


def answer(client: KubeClient, request: Object, kind: str) -> None:
    at = {"lastTransitionTime": "2026-11-25T00:00:00Z", "observedGeneration": 1, "reason": "Test", "message": REASON}
    conditions = [{"type": each, "status": "True", **at} for each in ("Accepted", kind)]
    status = {**ref(request).as_object(), "status": {"conditions": conditions}}
    client.apply(status, "test", force=True, subresource="status")


def asked(name: str) -> Object:
    body = job(name, 1, LONG)
    body["metadata"]["namespace"] = ASKED
    return body


def test_a_job_waits_until_its_capacity_is_there(client: KubeClient) -> None:
    body = asked("patient")
    applied(client, body)
    request = asks(client, "patient", 1)
    assert request["spec"]["provisioningClassName"] == "check-capacity.autoscaling.x-k8s.io"
    assert request["spec"]["podSets"][0]["count"] == 1
    waiting = workload(client, "patient", ASKED)
    assert holds("QuotaReserved")(waiting)
    assert not holds("Admitted")(waiting)
    answer(client, request, "Provisioned")
    wait(client, ref(body), runs, "no pod")
    pod = client.get(ref(body))
    assert pod is not None
    annotations = pod["spec"]["template"]["metadata"]["annotations"]
    assert annotations["autoscaling.x-k8s.io/consume-provisioning-request"] == request["metadata"]["name"]


def test_a_job_whose_capacity_is_refused_asks_again_and_then_never_runs(client: KubeClient) -> None:
    applied(client, asked("unlucky"))
    answer(client, asks(client, "unlucky", 1), "Failed")
    answer(client, asks(client, "unlucky", 2), "Failed")
    until(lambda: workload(client, "unlucky", ASKED)["spec"].get("active") is False or None, SECONDS, "still active")
    live = client.get(ref(asked("unlucky")))
    assert live is not None
    assert live["spec"]["suspend"] is True
    # Its quota is free: four more of one CPU would not fit beside it.
    applied(client, *(asked(f"next-{number}") for number in range(QUOTA)))
    for number in range(QUOTA):
        asks(client, f"next-{number}", 1)


def test_a_job_whose_capacity_is_taken_back_stops(client: KubeClient) -> None:
    body = asked("robbed")
    applied(client, body)
    request = asks(client, "robbed", 1)
    answer(client, request, "Provisioned")
    wait(client, ref(body), runs, "no pod")
    answer(client, request, "CapacityRevoked")
    wait(client, ref(body), lambda obj: obj["spec"].get("suspend") or None, "not suspended")
    assert workload(client, "robbed", ASKED)["spec"]["active"] is False
