"""Quotas refuse here as on EKS: the quota controller writes their status, which the API server enforces."""

from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.crds import install_all
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from tests.components.admission.samples import definition
from tests.sandbox.kubernetes.hooks import Hooks
from tests.support.patience import SECONDS
from tests.support.quotas import until_accepted, until_refused

pytestmark = pytest.mark.sandbox
QUOTA = "kubernetes:core/v1:ResourceQuota"
SERVICE = "kubernetes:core/v1:Service"


def pod(name: str, namespace: str = "", gpus: str = "1", **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": "250m", "nvidia.com/gpu": gpus}, "limits": {"nvidia.com/gpu": gpus}}
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}]
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def quota(namespace: str, hard: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": "team", "namespace": namespace}, "spec": {"hard": hard}}


def until_used(client: KubeClient, namespace: str, **used: str) -> None:
    """Wait until the quota controller has counted."""

    def counted() -> bool | None:
        found = client.get(Ref("v1", "ResourceQuota", "team", namespace))
        return (found is not None and found["status"].get("used") == used) or None

    until(counted, SECONDS, f"the quota does not count {used}")


def test_a_quota_counts_existing_objects_and_refuses_those_that_exceed_it(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    client.create(pod("first", namespace, gpus="3"), "user")
    bound = {"requests.nvidia.com/gpu": "4", "requests.cpu": "8", "count/jobs.batch": "2"}
    id, outputs, inputs = hooks.create(QUOTA, quota(namespace, bound))
    used = {"requests.nvidia.com/gpu": "3", "requests.cpu": "250m", "count/jobs.batch": "0"}
    assert outputs["status"] == {"hard": bound, "used": used}

    second = pod("second", namespace, gpus="2")
    until_refused(client, second, "exceeded quota: team")
    with pytest.raises(ApiError, match=r"exceeded quota: team, requested: requests.nvidia.com/gpu=2"):
        client.create(second, "user")

    wider = quota(namespace, {**bound, "requests.nvidia.com/gpu": "6"})
    checked, _ = hooks.check(QUOTA, wider, inputs)
    assert hooks.update(QUOTA, id, outputs, inputs, checked)["status"]["hard"]["requests.nvidia.com/gpu"] == "6"
    until_accepted(client, second)
    client.create(second, "user")
    until_used(client, namespace, **{**used, "requests.nvidia.com/gpu": "5", "requests.cpu": "500m"})


def test_deleted_objects_no_longer_count(hooks: Hooks, client: KubeClient, namespace: str) -> None:
    hooks.create(QUOTA, quota(namespace, {"services": "1"}))
    service = {"metadata": {"name": "web", "namespace": namespace}, "spec": {"ports": [{"port": 80}]}}
    of_service = hooks.create(SERVICE, service, name="web")
    until_used(client, namespace, services="1")
    hooks.delete(SERVICE, *of_service, name="web")
    until_used(client, namespace, services="0")


def test_objects_of_a_new_kind_are_counted_by_a_quota_that_is_older(
    hooks: Hooks, client: KubeClient, namespace: str
) -> None:
    """Until the quota controller knows the kind, the API server refuses it; the client waits for that."""
    hooks.create(QUOTA, quota(namespace, {"count/counteds.example.com": "1"}))
    install_all(client, [definition("Counted", "example.com", "v1", "counteds")], "test")
    one = {"apiVersion": "example.com/v1", "kind": "Counted", "metadata": {"name": "one", "namespace": namespace}}
    client.create(one, "user")
    with pytest.raises(ApiError, match=r"exceeded quota: team, requested: count/counteds\.example\.com=1"):
        client.create({**one, "metadata": {"name": "two", "namespace": namespace}}, "user")
