"""Objects by which the API server would call a server that does not run here: they are left out of the cluster.

Containers run nothing, so no Service answers. The API server would refuse whatever a webhook that fails closed selects,
and an aggregated API that does not answer keeps every namespace from being deleted (kubernetes.io, "Dynamic Admission
Control"; kube-controller-manager 1.36, namespace controller, discovery failure).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

_WEBHOOKS: Final = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})


def left_out(obj: Mapping[str, Any]) -> str:
    """What must not be applied, and of which server, that does not run; empty if the object may be applied.

    A webhook whose URL is on loopback is applied: its server may be a process of the user.
    """
    group, kind = str(obj.get("apiVersion") or "").partition("/")[0], obj.get("kind")
    if group == "admissionregistration.k8s.io" and kind in _WEBHOOKS:
        webhooks = obj.get("webhooks") or ()
        servers = dict.fromkeys(_server(each.get("clientConfig") or {}) for each in webhooks)
        missing = [server for server in servers if server]
        return f"webhooks of {', '.join(missing)}" if missing else ""
    if group == "apiregistration.k8s.io" and kind == "APIService":
        service = (obj.get("spec") or {}).get("service")
        return f"API of {_server({'service': service})}" if service else ""
    return ""


def _server(config: Mapping[str, Any]) -> str:
    """The server of a webhook that does not run here; empty for one on loopback."""
    if service := config.get("service"):
        return f"service {service.get('namespace')}/{service.get('name')}"
    host = urlsplit(str(config.get("url") or "")).hostname or ""
    return "" if _is_loopback(host) else host or "no server"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
