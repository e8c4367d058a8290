"""Secrets with the serving certificates of webhooks, which cert-manager and Jobs of charts make in a cluster.

Without its Secret the pod of a webhook's server does not start, and Helm waits for it until its timeout. Neither
cert-manager nor the containers of Jobs run here, so this makes the Secrets, signed by the sandbox's authority:

- of a cert-manager `Certificate`, when a pod waits for its Secret (cert-manager.io, "Certificate resource"),
- of a Job that runs `kube-webhook-certgen create`, when its pod is on a node (kubernetes/ingress-nginx,
  images/kube-webhook-certgen: README and cmd/create.go, whose Secret has the keys ca, cert and key).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.sandbox.cluster.pki import Pki, serving_pem
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.objects import Object

MANAGER: Final = "slipway-sandbox-certificates"
CERTGEN: Final = "kube-webhook-certgen"
LONGEST_NAME: Final = 64
"""Characters of a common name (RFC 5280, appendix A, ub-common-name)."""


@dataclass(frozen=True)
class Certificates:
    """Makes the Secrets of one cluster."""

    client: KubeClient
    pki: Pki

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
        certificate, key = self._pair(hosts)
        data = {"tls.crt": certificate, "tls.key": key, "ca.crt": self.pki.authority_text}
        self._apply(namespace, secret, "kubernetes.io/tls", data)
        return True

    def run(self, pod: Mapping[str, Any]) -> None:
        """Do what a pod of `kube-webhook-certgen create` does; nothing for any other pod."""
        for options in _certgen(pod):
            hosts = [host for host in options.get("host", "").split(",") if host]
            if hosts and (secret := options.get("secret-name")):
                certificate, key = self._pair(hosts)
                names = {one: options.get(f"{one}-name", one) for one in ("cert", "key")}
                data = {"ca": self.pki.authority_text, names["cert"]: certificate, names["key"]: key}
                self._apply(options.get("namespace", pod["metadata"]["namespace"]), secret, "Opaque", data)

    def _pair(self, hosts: list[str]) -> tuple[str, str]:
        return serving_pem(self.pki.authority, hosts[0][:LONGEST_NAME], hosts)

    def _apply(self, namespace: str, name: str, kind: str, data: Mapping[str, str]) -> None:
        secret: Object = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "type": kind,
            "stringData": dict(data),
        }
        try:
            self.client.create(secret, MANAGER)
        except ApiError as error:
            # Both keep a Secret that exists.
            if not error.conflict:
                raise


def _certgen(pod: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The options of each container that creates a certificate."""
    for container in pod["spec"]["containers"]:
        arguments = [str(one) for one in (*(container.get("command") or ()), *(container.get("args") or ()))]
        if CERTGEN in container["image"] and "create" in arguments:
            options = (one[2:].partition("=") for one in arguments if one.startswith("--"))
            yield {name: value for name, _, value in options}
