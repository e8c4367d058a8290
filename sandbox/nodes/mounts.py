"""What a pod mounts and reads: Secrets and ConfigMaps, and the certificates of webhooks among them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.cluster.pki import self_signed
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.helm.preview import CERTGEN
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import Watch

# A kubelet's look at what a pod mounts and reads: without its Secrets and ConfigMaps no container starts.
#
# KWOK looks at the pod alone, so a pod that names Secrets or ConfigMaps starts once this has written `FOUND` on it
# (`sandbox/cluster/stages.yaml`, pod-ready). Until then it waits with the event that a kubelet would write.

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


# Secrets with the serving certificates of webhooks, which cert-manager and Jobs of charts make in a cluster.
#
# Without its Secret the pod of a webhook's server does not start, and Helm waits for it until its timeout. Neither
# cert-manager nor containers run here, so this makes the Secrets, whoever installs the charts:
#
# - of a cert-manager `Certificate`, when a pod waits for its Secret (cert-manager.io, "Certificate resource"),
# - of a Job that runs `kube-webhook-certgen create`, when its pod is on a node (kubernetes/ingress-nginx,
#   images/kube-webhook-certgen: README and cmd/create.go, whose Secret has the keys ca, cert and key),
# - of an operator with `--enable-cert-rotation=true`, when its pod is on a node (keda.sh, "Security", certificates).

CERTIFICATES_MANAGER: Final = "slipway-sandbox-certificates"
TLS: Final = "kubernetes.io/tls"


@dataclass(frozen=True)
class Certificates:
    """Makes the Secrets of one cluster."""

    client: KubeClient

    def supply(self, namespace: str, secret: str) -> bool:
        """Make a Secret that a pod waits for; False if no Certificate of the namespace names it."""
        path = f"/apis/cert-manager.io/v1/namespaces/{namespace}/certificates"
        try:
            found = self.client.get_path(path)["items"]
        except ApiError as error:
            if error.not_found:
                return False
            raise
        wanted = next((one["spec"] for one in found if one["spec"].get("secretName") == secret), None)
        if wanted is None:
            return False
        hosts = [*(wanted.get("dnsNames") or ()), *(wanted.get("ipAddresses") or ())] or [wanted["commonName"]]
        self._apply(namespace, secret, hosts, ("tls.crt", "tls.key", "ca.crt"), TLS)
        return True

    def run(self, pod: Mapping[str, Any]) -> None:
        """Do what a pod of `kube-webhook-certgen create` or of such an operator does; nothing for any other pod."""
        for container in pod["spec"]["containers"]:
            arguments = [str(one) for one in (*(container.get("command") or ()), *(container.get("args") or ()))]
            options = _options(arguments)
            namespace = options.get("namespace", pod["metadata"]["namespace"])
            if CERTGEN in container["image"] and "create" in arguments:
                hosts = [host for host in options.get("host", "").split(",") if host]
                secret, keys, kind = options.get("secret-name"), ("cert", "key", "ca"), "Opaque"
            else:
                rotates = options.get("enable-cert-rotation") == "true"
                services = [options[name] for name in options if rotates and name.endswith("service-name")]
                hosts = [f"{service}.{namespace}.svc" for service in services]
                secret, keys, kind = options.get("cert-secret-name"), ("tls.crt", "tls.key", "ca.crt"), TLS
            if hosts and secret:
                self._apply(namespace, secret, hosts, keys, kind)

    def _apply(self, namespace: str, name: str, hosts: list[str], keys: tuple[str, str, str], kind: str) -> None:
        certificate, key = self_signed(hosts)
        data = dict(zip(keys, (certificate, key, certificate), strict=True))
        secret: Object = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "type": kind,
            "stringData": data,
        }
        # Both keep a Secret that exists.
        self.client.ensure(secret, CERTIFICATES_MANAGER)


def _options(arguments: Iterable[str]) -> dict[str, str]:
    """Options of the form `--name=value`."""
    options = (one[2:].partition("=") for one in arguments if one.startswith("--"))
    return {name: value for name, _, value in options}
