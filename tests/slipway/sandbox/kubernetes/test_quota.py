"""Quotas refuse here as on EKS, because their status is written as the quota controller writes it."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.kubernetes.quota import settle
from slipway.sandbox.kubernetes.quota_amounts import claimed, covers, of_pod
from spec.quantities import written
from tests.slipway.sandbox.kubernetes.hooks import Hooks
from tests.support.quotas import until_accepted, until_refused

QUOTA = "kubernetes:core/v1:ResourceQuota"
SERVICE = "kubernetes:core/v1:Service"


def pod(name: str, namespace: str = "", gpus: str = "1", **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": "250m", "nvidia.com/gpu": gpus}, "limits": {"nvidia.com/gpu": gpus}}
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}]
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def quota(namespace: str, **hard: str) -> dict[str, Any]:
    return {"metadata": {"name": "team", "namespace": namespace}, "spec": {"hard": hard}}


def status(client: KubeClient, namespace: str) -> dict[str, Any]:
    found = client.get(Ref("v1", "ResourceQuota", "team", namespace))
    assert found is not None
    return dict(found["status"])


@pytest.mark.sandbox
def test_a_quota_counts_existing_objects_and_refuses_those_that_exceed_it(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    client.create(pod("first", namespace, gpus="3"), "user")
    client.apply({**Ref("v1", "ConfigMap", "one", namespace).as_object()}, "user")
    bound = {"requests.nvidia.com/gpu": "4", "requests.cpu": "8", "count/configmaps": "5", "count/jobs.batch": "2"}
    inputs = {"metadata": {"name": "team", "namespace": namespace}, "spec": {"hard": bound}}
    id, outputs, checked = hooks.create(QUOTA, inputs)
    used = {"requests.nvidia.com/gpu": "3", "requests.cpu": "250m", "count/configmaps": "1", "count/jobs.batch": "0"}
    assert outputs["status"] == {"hard": bound, "used": used}

    second = pod("second", namespace, gpus="2")
    until_refused(client, second, "exceeded quota: team")
    with pytest.raises(ApiError, match=r"exceeded quota: team, requested: requests.nvidia.com/gpu=2"):
        client.create(second, "user")

    wider = {**inputs, "spec": {"hard": {**bound, "requests.nvidia.com/gpu": "6"}}}
    checked, _ = hooks.check(QUOTA, wider, checked)
    hooks.update(QUOTA, id, outputs, inputs, checked)
    until_accepted(client, second)
    client.create(second, "user")
    assert status(client, namespace)["used"]["requests.nvidia.com/gpu"] == "5"


@pytest.mark.sandbox
def test_deleted_objects_no_longer_count(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    id, outputs, checked = hooks.create(QUOTA, quota(namespace, services="1", pods="1"))
    service = {"metadata": {"name": "web", "namespace": namespace}, "spec": {"ports": [{"port": 80}]}}
    of_service = hooks.create(SERVICE, service, name="web")
    client.create(pod("first", namespace), "user")
    assert status(client, namespace)["used"] == {"services": "1", "pods": "1"}
    hooks.delete(SERVICE, *of_service, name="web")
    assert status(client, namespace)["used"]["services"] == "0"
    # Deleted outside of the providers: noticed at the next refresh.
    client.delete(Ref("v1", "Pod", "first", namespace), grace_seconds=0)
    found = hooks.read(QUOTA, id, outputs, checked)
    assert found is not None
    assert found.inputs == checked
    assert found.outputs["status"]["used"] == {"services": "0", "pods": "0"}


@pytest.mark.sandbox
def test_a_pod_that_has_ended_counts_no_more(client: KubeClient, namespace: str) -> None:
    # A quota of pods counts those that are in no terminal state (kubernetes.io, "Resource Quotas", 1.35).
    phases = {"Pending": 1, "Running": 1, "Unknown": 1, "Succeeded": 0, "Failed": 0}
    client.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", **quota(namespace, pods="9", **{"requests.cpu": "9"})}, "user"
    )
    for phase in phases:
        live = client.create(pod(phase.lower(), namespace), "user")
        client.replace({**live, "status": {"phase": phase}}, "kubelet", "status")
    found = client.get(Ref("v1", "ResourceQuota", "team", namespace))
    assert found is not None
    counted = sum(phases.values())
    assert settle(client, found)["status"]["used"] == {"pods": str(counted), "requests.cpu": f"{counted * 250}m"}


def test_a_pod_counts_its_containers_or_its_largest_init_container() -> None:
    def container(cpu: str, **more: Any) -> dict[str, Any]:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    sidecar = container("1", restartPolicy="Always")
    spec = {"containers": [container("2"), container("1")], "overhead": {"cpu": "100m"}}
    assert written(of_pod({"spec": spec}, "requests", "cpu")) == "3100m"
    assert (
        written(of_pod({"spec": {**spec, "initContainers": [container("5"), sidecar]}}, "requests", "cpu")) == "6100m"
    )
    assert of_pod({"spec": spec}, "limits", "cpu") == 0


def test_claims_are_counted_by_class() -> None:
    claims = [
        {"spec": {"storageClassName": name, "resources": {"requests": {"storage": size}}}}
        for name, size in (("gp3", "1Gi"), ("efs", "5Gi"))
    ]
    assert claimed("requests.storage", claims) == 6 << 30
    assert claimed("gp3.storageclass.storage.k8s.io/requests.storage", claims) == 1 << 30
    assert claimed("gp3.storageclass.storage.k8s.io/persistentvolumeclaims", claims) == 1


@pytest.mark.parametrize(
    ("scope", "spec", "expected"),
    [
        ({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}, {"priorityClassName": "high"}, True),
        ({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}, {}, False),
        ({"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}, {"priorityClassName": "low"}, True),
        ({"scopeName": "PriorityClass", "operator": "DoesNotExist"}, {"priorityClassName": "low"}, False),
        ({"scopeName": "Terminating", "operator": "Exists"}, {"activeDeadlineSeconds": 5}, True),
        ({"scopeName": "NotTerminating", "operator": "Exists"}, {"activeDeadlineSeconds": 5}, False),
        ({"scopeName": "BestEffort", "operator": "Exists"}, {}, False),
        ({"scopeName": "NotBestEffort", "operator": "Exists"}, {}, True),
        (
            {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
            {"affinity": {"podAffinity": {"required": [{"namespaces": ["other"]}]}}},
            True,
        ),
    ],
)
def test_a_quota_with_a_scope_counts_only_pods_within_it(
    scope: dict[str, Any], spec: dict[str, Any], expected: bool
) -> None:
    assert covers({"scopeSelector": {"matchExpressions": [scope]}}, pod("x", **spec)) is expected


def test_scopes_may_be_given_as_a_list() -> None:
    assert not covers({"scopes": ["Terminating", "NotBestEffort"]}, pod("x"))
    assert covers({"scopes": ["NotTerminating", "NotBestEffort"]}, pod("x"))
