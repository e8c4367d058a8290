"""The kinds that an API server serves, with their plurals and scopes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from slipway.sandbox.kubernetes.errors import ApiError, NoSuchKindError

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""Accept header with which /api and /apis return everything in one answer each (GA in Kubernetes 1.30)."""


@dataclass(frozen=True)
class ResourceType:
    """A served kind: `apps/v1`, `Deployment`, `deployments`."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    def path(self, namespace: str, name: str = "") -> str:
        """The URL path of one object, or of all in a namespace; without a namespace, of all in the cluster."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        inside = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{inside}/{self.plural}" + (f"/{name}" if name else "")


class Discovery:
    """Caches served kinds. A kind that is not served is looked up each time: its CRD may have been installed since."""

    def __init__(self, get: Callable[..., Any]) -> None:
        self._get = get
        self._known: dict[tuple[str, str], ResourceType] = {}
        self._lock = threading.Lock()

    def find(self, api_version: str, kind: str) -> ResourceType:
        """The served kind. Raises NoSuchKindError if the API server does not serve it."""
        resource = self._known.get((api_version, kind))
        if resource is None:
            self._load(api_version)
            resource = self._known.get((api_version, kind))
        if resource is None:
            raise NoSuchKindError(api_version, kind)
        return resource

    def forget(self, group: str) -> None:
        """Drop a group from the cache: one of its CRDs was changed or removed."""
        with self._lock:
            for key in [key for key in self._known if key[0].partition("/")[0] == group]:
                del self._known[key]

    def everything(self) -> tuple[ResourceType, ...]:
        """All kinds that can be listed, in each group's preferred version."""
        by_plural: dict[tuple[str, str], ResourceType] = {}
        for path in ("/api", "/apis"):
            for group in self._get(path, headers={"Accept": AGGREGATED}).get("items") or ():
                for each in _in_group(group):
                    by_plural.setdefault((each.api_version.rpartition("/")[0], each.plural), each)
        return tuple(each for each in by_plural.values() if "list" in each.verbs)

    def _load(self, api_version: str) -> None:
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            listed = self._get(path)["resources"]
        except ApiError as error:
            if error.not_found:
                return
            raise
        with self._lock:
            for each in listed:
                # "pods/status" is a subresource of pods, not a kind of its own.
                if "/" not in each["name"]:
                    self._known[api_version, each["kind"]] = ResourceType(
                        api_version, each["kind"], each["name"], bool(each["namespaced"]), frozenset(each["verbs"])
                    )


def _in_group(group: dict[str, Any]) -> Iterable[ResourceType]:
    name = (group.get("metadata") or {}).get("name") or ""
    for version in group.get("versions") or ():
        api_version = f"{name}/{version['version']}" if name else version["version"]
        for each in version.get("resources") or ():
            kind = (each.get("responseKind") or {}).get("kind") or each.get("singularResource", "")
            verbs = frozenset(each.get("verbs") or ())
            yield ResourceType(api_version, kind, each["resource"], each.get("scope") == "Namespaced", verbs)
