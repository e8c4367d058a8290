"""Kueue and JobSet of their charts: admission, quota and preemption happen as in a cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from tests.sandbox.controllers import installed
from tests.sandbox.controllers.installed import applied, cluster, holds, release, until_running, wait, without_jobs
from tests.sandbox.plane import ControlPlane, crd, existing
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
TEAM = "team"
API = "kueue.x-k8s.io/v1beta2"
QUOTA = 4
LONG = "7200s"


def kueue(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> Object:
    return {**Ref(API, kind, name, namespace).as_object(), "spec": spec}


def job(name: str, cpu: int, duration: str, priority: str = "", namespace: str = TEAM) -> Object:
    made = installed.job(name, namespace, {"cpu": str(cpu)}, duration, queue="team")
    if priority:
        made["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = priority
    return made


ASKED = "asked"
"""A queue whose jobs wait until the capacity was asked for; its namespace is one of its own."""
REQUEST = "autoscaling.x-k8s.io/v1"
REASON = "the test's answer"


def provisioning_requests() -> Object:
    """The CRD of Cluster Autoscaler, of which no chart is there: any spec, and a status."""
    made = crd(REQUEST.partition("/")[0], "ProvisioningRequest", {})
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test's stand-in"}
    (version,) = made["spec"]["versions"]
    version["schema"]["openAPIV3Schema"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version["subresources"] = {"status": {}}
    return made


def asked_for(group: dict[str, Any]) -> list[Object]:
    """A queue with a check of capacity, which is repeated once."""
    retries = {"backoffLimitCount": 1, "backoffBaseSeconds": 1, "backoffMaxSeconds": 1}
    spec = {"provisioningClassName": "check-capacity.autoscaling.x-k8s.io", "retryStrategy": retries}
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "capacity"}
    check = {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters}
    checked = {"admissionChecksStrategy": {"admissionChecks": [{"name": "capacity"}]}}
    return [
        Ref("v1", "Namespace", ASKED).as_object(),
        kueue("ProvisioningRequestConfig", "capacity", spec),
        kueue("AdmissionCheck", "capacity", check),
        kueue("ClusterQueue", ASKED, {"namespaceSelector": {}, "resourceGroups": [group], **checked}),
        kueue("LocalQueue", "team", {"clusterQueue": ASKED}, ASKED),
    ]


def jobset(name: str, duration: str) -> Object:
    inner = job(name, 1, duration)
    made = Ref("jobset.x-k8s.io/v1alpha2", "JobSet", name, TEAM).as_object()
    made["metadata"]["labels"] = inner["metadata"]["labels"]
    workers = {"name": "workers", "replicas": 2, "template": {"spec": inner["spec"]}}
    return {**made, "spec": {"replicatedJobs": [workers]}}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[ControlPlane]:
    """A cluster with both, one queue of four CPUs, and two priorities."""
    directory = tmp_path_factory.mktemp("kueue")
    with cluster(directory, "kueue", "jobset") as plane:
        # Before Kueue, which looks for it once, when it starts.
        applied(plane.client, provisioning_requests())
        release(plane.client, shared / "charts-full", "jobset", "jobset-system")
        release(plane.client, shared / "charts-full", "kueue", "kueue-system")
        until_running(directory, "kueue", "jobset")
        resources = [{"name": "cpu", "nominalQuota": QUOTA}, {"name": "memory", "nominalQuota": "64Gi"}]
        group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "any", "resources": resources}]}
        preempts = {"preemption": {"withinClusterQueue": "LowerPriority"}}
        priorities = (Ref(API, "WorkloadPriorityClass", name).as_object() for name in ("low", "high"))
        applied(
            plane.client,
            Ref("v1", "Namespace", TEAM).as_object(),
            kueue("ResourceFlavor", "any", {}),
            kueue("ClusterQueue", "team", {"namespaceSelector": {}, "resourceGroups": [group], **preempts}),
            kueue("LocalQueue", "team", {"clusterQueue": "team"}, TEAM),
            *({**each, "value": value} for each, value in zip(priorities, (1, 100), strict=True)),
            *asked_for(group),
        )
        yield plane


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    """A test that fails leaves no job that holds the quota of the next one."""
    yield plane.client
    for each in plane.client.list(plane.client.discovery.find("jobset.x-k8s.io/v1alpha2", "JobSet"), TEAM):
        plane.client.delete(ref(each))
    without_jobs(plane.client, TEAM, ASKED)


ref = Ref.of


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
        client.merge(ref(within), {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}})


def test_a_job_above_the_quota_stays_suspended_with_kueues_reason(client: KubeClient) -> None:
    above = job("above", QUOTA + 1, "2s")
    applied(client, above)

    def message() -> str:
        return str(condition(workload(client, "above"), "QuotaReserved").get("message"))

    # Before it, Kueue may say that the queue is not ready yet.
    wanted = ("insufficient quota for cpu in flavor any", "maximum capacity")
    until(lambda: any(each in message() for each in wanted) or None, SECONDS, message)
    assert existing(client, ref(above))["spec"]["suspend"] is True


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
    old = Ref("kueue.x-k8s.io/v1beta1", "ClusterQueue", "team")
    assert Ref.of(existing(client, old)) == old
    definition = existing(
        client, Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "clusterqueues.kueue.x-k8s.io")
    )
    assert definition["spec"]["conversion"]["strategy"] == "Webhook"


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
    return job(name, 1, LONG, namespace=ASKED)


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
    annotations = existing(client, ref(body))["spec"]["template"]["metadata"]["annotations"]
    assert annotations["autoscaling.x-k8s.io/consume-provisioning-request"] == request["metadata"]["name"]


def test_a_job_whose_capacity_is_refused_asks_again_and_then_never_runs(client: KubeClient) -> None:
    applied(client, asked("unlucky"))
    answer(client, asks(client, "unlucky", 1), "Failed")
    answer(client, asks(client, "unlucky", 2), "Failed")
    until(lambda: workload(client, "unlucky", ASKED)["spec"].get("active") is False or None, SECONDS, "still active")
    assert existing(client, ref(asked("unlucky")))["spec"]["suspend"] is True
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
