"""The certificate of a controller's webhooks, where the sandbox issues it.

It is in the Secret that the controller's container mounts, as it would be by the controller's own management of
certificates or by cert-manager: an existing certificate is kept, so that an upgrade changes nothing.
"""

from __future__ import annotations

from typing import Any, Final

from slipway.sandbox.cluster.pki import self_signed
from slipway.sandbox.controllers.launch import Launch
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.controllers import CERTIFICATES
from slipway.sandbox.kubernetes.objects import Object, Ref

AUTHORITY: Final = "ca.crt"
KEYS: Final = ("tls.crt", "tls.key", AUTHORITY)


def issue(client: KubeClient, launch: Launch) -> None:
    """Write the certificate into its Secret unless there is one. Raises ApiError."""
    secret = _secret(launch)
    if secret is None:
        return
    found = client.get(secret)
    if found is None or _complete(found):
        # A Secret that does not exist is reported by whoever mounts it.
        return
    hosts = [f"{name}.{launch.namespace}.svc" for name in launch.controller.services]
    certificate, key = self_signed(hosts)
    client.merge(secret, {"stringData": dict(zip(KEYS, (certificate, key, certificate), strict=True))})


def bundle(client: KubeClient, launch: Launch) -> str:
    """The `caBundle` of its webhooks, in base64; empty as long as there is no certificate. Raises ApiError."""
    secret = _secret(launch)
    found: dict[str, Any] = (client.get(secret) if secret is not None else None) or {}
    return str((found.get("data") or {}).get(AUTHORITY) or "") if _complete(found) else ""


def _secret(launch: Launch) -> Ref | None:
    mounts = [each for each in launch.mounts if each.kind == "Secret" and each.path == f"/{CERTIFICATES}"]
    return Ref("v1", "Secret", mounts[0].name, launch.namespace) if mounts else None


def _complete(secret: Object) -> bool:
    return all((secret.get("data") or {}).get(key) for key in KEYS)
