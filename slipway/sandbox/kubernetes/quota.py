"""The quota controller's work: it copies `spec.hard` into the status of a quota, and counts existing objects.

The API server itself refuses objects that exceed a quota and counts those that it admits, but against the *status*:
until that is written, it admits everything (kube-apiserver 1.36.3, tried in 2026-11). In a cluster the controller
manager writes it, which does not run here.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

from slipway.sandbox.kubernetes.client import METADATA_LIST, KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError
from slipway.sandbox.kubernetes.objects import Object, Ref
from slipway.sandbox.kubernetes.quota_amounts import OF_CLASS, claimed, covers, of_pod, ports
from spec.quantities import written

MANAGER = "kube-controller-manager"
ATTEMPTS = 10
"""The API server writes the status too, at each object that it admits; after a conflict the quota is read again."""
_COUNTED = frozenset(
    {"configmaps", "secrets", "services", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas"}
)
_ENDED = frozenset({"Succeeded", "Failed"})


def is_quota(obj: Mapping[str, Any]) -> bool:
    """Whether an object is a ResourceQuota of Kubernetes."""
    return obj.get("apiVersion") == "v1" and obj.get("kind") == "ResourceQuota"


def settle(client: KubeClient, quota: Object) -> Object:
    """Update the status of a quota; returns the quota. Raises ApiError."""
    for attempt in range(ATTEMPTS):
        status = {"hard": quota["spec"].get("hard") or {}, "used": _used(client, quota)}
        if quota.get("status") == status:
            return quota
        try:
            return client.replace({**quota, "status": status}, MANAGER, "status")
        except ApiError as error:
            found = client.get(Ref.of(quota)) if error.conflict and attempt + 1 < ATTEMPTS else None
            if found is None:
                raise
            quota = found
    return quota


def settle_after(client: KubeClient, gone: Ref) -> None:
    """Update the quotas that counted a deleted object, because admission does not count deletions."""
    try:
        resource = client.discovery.find(gone.api_version, gone.kind)
    except NoSuchKindError:
        return
    for quota in client.list(client.discovery.find("v1", "ResourceQuota"), gone.namespace):
        if _counts(quota, resource.plural, gone.group):
            settle(client, quota)


def _counts(quota: Object, plural: str, group: str) -> bool:
    if plural in ("pods", "persistentvolumeclaims"):
        return True
    counted = f"count/{plural}.{group}" if group else f"count/{plural}"
    return any(name == counted or name.partition(".")[0] == plural for name in quota["spec"].get("hard") or {})


def _used(client: KubeClient, quota: Object) -> dict[str, str]:
    namespace = _Namespace(client, quota["metadata"]["namespace"])
    pods = [pod for pod in namespace.pods if covers(quota["spec"], pod)] if _asks_for_pods(quota) else []
    return {name: written(_amount_of(name, namespace, pods)) for name in quota["spec"].get("hard") or {}}


class _Namespace:
    """The objects of a namespace; each kind is listed once."""

    def __init__(self, client: KubeClient, name: str) -> None:
        self._client = client
        self._name = name

    @cached_property
    def pods(self) -> list[Object]:
        """Pods that have not ended; ended ones don't count."""
        return [pod for pod in self._all("Pod") if (pod.get("status") or {}).get("phase") not in _ENDED]

    @cached_property
    def claims(self) -> list[Object]:
        return self._all("PersistentVolumeClaim")

    @cached_property
    def services(self) -> list[Object]:
        return self._all("Service")

    def count(self, plural: str, group: str) -> int:
        """The number of objects of a kind; 0 if it is not served."""
        try:
            root = f"/apis/{self._preferred(group)}" if group else "/api/v1"
            page = self._client.call(
                "GET",
                f"{root}/namespaces/{self._name}/{plural}",
                parameters={"limit": "1"},
                headers={"Accept": METADATA_LIST},
            )
        except ApiError as error:
            if error.not_found:
                return 0
            raise
        return len(page.get("items") or ()) + int(page["metadata"].get("remainingItemCount") or 0)

    def _preferred(self, group: str) -> str:
        return str(self._client.get_path(f"/apis/{group}")["preferredVersion"]["groupVersion"])

    def _all(self, kind: str) -> list[Object]:
        return list(self._client.list(self._client.discovery.find("v1", kind), self._name))


def _asks_for_pods(quota: Object) -> bool:
    """Whether any of its resources is counted over pods."""
    return any(
        not (name in _COUNTED or name.startswith(("count/", "services."))) for name in quota["spec"].get("hard") or {}
    )


def _amount_of(name: str, namespace: _Namespace, pods: list[Object]) -> Decimal:
    """The used amount of one resource of a quota (kubernetes.io, "Resource Quotas", 1.35)."""
    if name in _COUNTED or name.startswith("count/"):
        plural, _, group = name.removeprefix("count/").partition(".")
        return Decimal(namespace.count(plural, group))
    if name.startswith("services."):
        return Decimal(sum(ports(service, name) for service in namespace.services))
    if name == "requests.storage" or OF_CLASS in name:
        return claimed(name, namespace.claims)
    if name == "pods":
        return Decimal(len(pods))
    kind, _, resource = name.partition(".")
    if kind not in ("requests", "limits"):
        kind, resource = "requests", name
    return sum((of_pod(pod, kind, resource) for pod in pods), Decimal(0))
