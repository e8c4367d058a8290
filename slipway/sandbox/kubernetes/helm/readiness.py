"""What a release waits for: its pods that are not ready, and why.

Looked at while Helm waits: a release that fails is rolled back, and then nothing is left to look at.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.controllers import STARTING
from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError
from slipway.sandbox.kubernetes.objects import Object, Ref, condition

WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job"})
HOPELESS_SECONDS: Final = 60.0
"""Simulated pods are ready at once, and nodes come within seconds: what has not changed for this long, never will."""
SHOWN: Final = 8
"""Lines of a report; the others are counted."""
_DELAY: Final = "sandbox.slipway/start-delay"


@dataclass
class Readiness:
    """What keeps the workloads of one release from being ready, as of the last look."""

    client: KubeClient
    workloads: Collection[Ref]
    lines: list[str] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)
    _patient: bool = True

    def look(self) -> bool:
        """Look again; returns whether nothing has changed for so long that waiting is pointless."""
        try:
            lines = [line for namespace in sorted(self._namespaces()) for line in self._of(namespace)]
        except (ApiError, UnreachableError):
            return False
        if lines != self.lines or not lines or not self._patient:
            self.lines = lines or self.lines
            self._since = time.monotonic()
        return time.monotonic() - self._since >= HOPELESS_SECONDS

    @property
    def text(self) -> str:
        """The lines, for an error message; empty if everything was ready."""
        more = len(self.lines) - SHOWN
        return "; ".join([*self.lines[:SHOWN], *([f"and {more} more"] if more > 0 else [])])

    def _namespaces(self) -> set[str]:
        return {ref.namespace for ref in self.workloads}

    def _of(self, namespace: str) -> Iterator[str]:
        names = {ref.name for ref in self.workloads if ref.namespace == namespace}
        pods = [
            pod
            for pod in self.client.list(self.client.discovery.find("v1", "Pod"), namespace)
            if _owner(pod) in names and not _ready(pod)
        ]
        events = list(_latest(self._warnings(namespace)))
        self._patient = not (
            any(_DELAY in (pod["metadata"].get("annotations") or {}) for pod in pods)
            or any(event["reason"] == STARTING for event in events)
        )
        for pod in pods:
            yield f"pod {namespace}/{pod['metadata']['name']}: {_why(pod, events)}"
        for event in events:
            about = event["involvedObject"]
            if about["kind"] != "Pod" and any(_belongs(about["name"], name) for name in names):
                yield f"{about['kind']} {namespace}/{about['name']}: {event['reason']}: {event['message']}"

    def _warnings(self, namespace: str) -> list[Object]:
        path = f"/api/v1/namespaces/{namespace}/events"
        found = self.client.call("GET", path, parameters={"fieldSelector": "type=Warning"})
        return list(found.get("items") or ())


def workloads(objects: Iterable[Object], namespace: str) -> list[Ref]:
    """The objects with pods, in the namespace of the release unless they name another."""
    refs = (Ref.of(obj) for obj in objects)
    return [Ref(r.api_version, r.kind, r.name, r.namespace or namespace) for r in refs if r.kind in WORKLOADS]


def _owner(pod: Mapping[str, Any]) -> str:
    """The name of the workload of a pod; a ReplicaSet has its Deployment's and a hash."""
    owners = pod["metadata"].get("ownerReferences") or ()
    controller: Mapping[str, Any] = next((each for each in owners if each.get("controller")), {})
    name = str(controller.get("name") or "")
    return name.rpartition("-")[0] if controller.get("kind") == "ReplicaSet" else name


def _belongs(name: str, workload: str) -> bool:
    """Whether an object is a workload, or its ReplicaSet."""
    return name == workload or name.rpartition("-")[0] == workload


def _ready(pod: Mapping[str, Any]) -> bool:
    if (pod.get("status") or {}).get("phase") == "Succeeded" or pod["metadata"].get("deletionTimestamp"):
        return True
    return condition(pod, "Ready").get("status") == "True"


def _why(pod: Mapping[str, Any], events: Iterable[Object]) -> str:
    status = pod.get("status") or {}
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return f"{status.get('phase')}, {scheduled.get('reason')}: {scheduled.get('message')}"
    warning = next((each for each in events if each["involvedObject"].get("uid") == pod["metadata"]["uid"]), None)
    if warning is not None:
        return f"{status.get('phase')}, {warning['reason']}: {warning['message']}"
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    for container in containers:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting:
            return f"container {container['name']}: {waiting.get('reason')} {waiting.get('message') or ''}".strip()
    return str(status.get("reason") or status.get("phase") or "no status")


def _latest(events: Iterable[Object]) -> Iterator[Object]:
    """The newest warning of each object."""
    newest: dict[str, Object] = {}
    for event in sorted(events, key=lambda each: str(each.get("lastTimestamp") or each.get("eventTime") or "")):
        newest[str(event["involvedObject"].get("uid"))] = event
    yield from newest.values()
