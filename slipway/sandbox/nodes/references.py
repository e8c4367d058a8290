"""A kubelet's look at what a pod mounts and reads: without its Secrets and ConfigMaps no container starts.

KWOK looks at the pod alone, so a pod that names Secrets or ConfigMaps starts once this has written `FOUND` on it
(`slipway/sandbox/cluster/stages.yaml`, pod-ready). Until then it waits with the event that a kubelet would write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.objects import Object, Ref
from slipway.sandbox.kubernetes.watch import Watch
from slipway.sandbox.nodes.certificates import Certificates

FOUND: Final = "sandbox.slipway/references"
"""Annotation of a pod: `found`."""
MANAGER: Final = "slipway-sandbox-kubelet"
SECONDS: Final = 1.0
"""Between two looks for what is missing; a kubelet takes up to two minutes (kubelet, exponential backoff of mounts)."""
ROOT_CA: Final = "kube-root-ca.crt"
"""ConfigMap that the controller manager creates in every namespace (its root-ca-certificate-publisher)."""


@dataclass(frozen=True)
class Reference:
    """A Secret or ConfigMap that a pod can't do without; `key` where one of its values is named, `volume` where it is
    mounted."""

    kind: str
    name: str
    key: str = ""
    volume: str = ""

    @property
    def reason(self) -> tuple[str, str]:
        """Reason and message of the event for one that is missing."""
        what = f'{self.kind.lower()} "{self.name}" not found'
        if self.volume:
            return "FailedMount", f'MountVolume.SetUp failed for volume "{self.volume}" : {what}'
        key = f' (key "{self.key}")' if self.key else ""
        return "Failed", f"Error: {what}{key}"


class References:
    """Follows the pods of one cluster that are on a node and have not started."""

    def __init__(
        self,
        client: KubeClient,
        certificates: Certificates,
        held: Callable[[Object], tuple[str, str] | None] = lambda _: None,
    ) -> None:
        """`held` says why a pod with everything that it names is not ready, as reason and message of an event."""
        self._held = held
        self._client = client
        self._certificates = certificates
        self._waiting: dict[str, Object] = {}
        self._reported: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        pending = {"fieldSelector": "status.phase=Pending,spec.nodeName!="}
        self._watch = Watch(client, "/api/v1/pods", self._pod, pending)
        self._again = threading.Thread(target=self._look_again, name="references", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._watch.start()
        self._again.start()

    def stop(self) -> None:
        """End."""
        self._stopped.set()
        self._watch.stop()
        self._again.join()

    def _pod(self, change: str, pod: Object) -> None:
        metadata = pod["metadata"]
        if change == "ADDED":
            self._certificates.run(pod)
        if change == "DELETED" or metadata.get("deletionTimestamp") or FOUND in (metadata.get("annotations") or {}):
            with self._lock:
                self._forget(metadata["uid"])
        elif any(references(pod)):
            self._look(pod)

    def _look(self, pod: Object) -> None:
        metadata = pod["metadata"]
        missing = next((one for one in references(pod) if not self._available(one, metadata["namespace"])), None)
        reason = missing.reason if missing is not None else self._held(pod)
        with self._lock:
            known = self._reported.get(metadata["uid"]) == reason
            if reason is None:
                self._forget(metadata["uid"])
            else:
                self._waiting[metadata["uid"]] = pod
                self._reported[metadata["uid"]] = reason
        if reason is None:
            ref = Ref("v1", "Pod", metadata["name"], metadata["namespace"])
            self._client.merge(ref, {"metadata": {"annotations": {FOUND: "found"}}})
        elif not known:
            self._client.apply(event(pod, *reason), MANAGER, force=True)

    def _look_again(self) -> None:
        while not self._stopped.wait(SECONDS):
            with self._lock:
                waiting = list(self._waiting.values())
            for pod in waiting:
                try:
                    self._look(pod)
                except ApiError as error:
                    if error.not_found:
                        with self._lock:
                            self._forget(pod["metadata"]["uid"])

    def _forget(self, uid: str) -> None:
        self._waiting.pop(uid, None)
        self._reported.pop(uid, None)

    def _available(self, reference: Reference, namespace: str) -> bool:
        if self._exists(reference, namespace):
            return True
        return reference.kind == "Secret" and self._certificates.supply(namespace, reference.name)

    def _exists(self, reference: Reference, namespace: str) -> bool:
        found = self._client.get(Ref("v1", reference.kind, reference.name, namespace))
        if found is None or not reference.key:
            return found is not None
        return reference.key in {**(found.get("data") or {}), **(found.get("binaryData") or {})}


def references(pod: Mapping[str, Any]) -> Iterator[Reference]:
    """What a pod can't start without; what it calls optional is not among it."""
    spec = pod["spec"]
    for volume in spec.get("volumes") or ():
        for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
            yield from _mounted(source, volume["name"])
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        for source in container.get("envFrom") or ():
            yield from _named("Secret", source.get("secretRef"))
            yield from _named("ConfigMap", source.get("configMapRef"))
        for variable in container.get("env") or ():
            value = variable.get("valueFrom") or {}
            yield from _named("Secret", value.get("secretKeyRef"))
            yield from _named("ConfigMap", value.get("configMapKeyRef"))


def _mounted(source: Mapping[str, Any], volume: str) -> Iterator[Reference]:
    secret, config = source.get("secret") or {}, source.get("configMap") or {}
    for kind, found, name in (
        ("Secret", secret, secret.get("secretName") or secret.get("name")),
        ("ConfigMap", config, config.get("name")),
    ):
        if name and name != ROOT_CA and not found.get("optional"):
            yield Reference(kind, name, volume=volume)


def _named(kind: str, source: Mapping[str, Any] | None) -> Iterator[Reference]:
    if source and source.get("name") and not source.get("optional"):
        yield Reference(kind, source["name"], key=source.get("key") or "")


def event(pod: Object, reason: str, message: str) -> Object:
    """What a kubelet says of a pod that it can't start, as the event of the pod."""
    metadata = pod["metadata"]
    about = {"apiVersion": "v1", "kind": "Pod", **{key: metadata[key] for key in ("name", "namespace", "uid")}}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.references", "namespace": metadata["namespace"]},
        "involvedObject": about,
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet", "host": pod["spec"].get("nodeName", "")},
    }
