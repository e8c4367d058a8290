"""Secrets with the serving certificates of webhooks, which cert-manager and Jobs of charts make in a cluster.

Without its Secret the pod of a webhook's server does not start, and Helm waits for it until its timeout. Neither
cert-manager nor containers run here, so this makes the Secrets, whoever installs the charts:

- of a cert-manager `Certificate`, when a pod waits for its Secret (cert-manager.io, "Certificate resource"),
- of a Job that runs `kube-webhook-certgen create`, when its pod is on a node (kubernetes/ingress-nginx,
  images/kube-webhook-certgen: README and cmd/create.go, whose Secret has the keys ca, cert and key),
- of an operator with `--enable-cert-rotation=true`, when its pod is on a node (keda.sh, "Security", certificates).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.sandbox.cluster.pki import self_signed
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.helm.effects import CERTGEN
from slipway.sandbox.kubernetes.objects import Object

MANAGER: Final = "slipway-sandbox-certificates"
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
        try:
            self.client.create(secret, MANAGER)
        except ApiError as error:
            # Both keep a Secret that exists.
            if not error.conflict:
                raise


def _options(arguments: Iterable[str]) -> dict[str, str]:
    """Options of the form `--name=value`."""
    options = (one[2:].partition("=") for one in arguments if one.startswith("--"))
    return {name: value for name, _, value in options}
