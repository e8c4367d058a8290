"""Objects by which the API server would call a server that does not run here: they are left out of the cluster.

Containers run nothing, so no Service answers but those of the controllers that run beside a cluster (`controllers`).
The API server would refuse whatever a webhook that fails closed selects, and an aggregated API that does not answer
keeps every namespace from being deleted (kubernetes.io, "Dynamic Admission Control"; kube-controller-manager 1.36,
namespace controller, discovery failure).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from slipway.sandbox.kubernetes import webhooks as forms
from slipway.sandbox.kubernetes.objects import Object

_WEBHOOKS: Final = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})


NOBODY: Final[Mapping[str, bool]] = MappingProxyType({})


def left_out(obj: Mapping[str, Any], served: Mapping[str, bool] = NOBODY) -> str:
    """What must not be applied, and of which server, that does not run; empty if the object may be applied.

    A webhook whose URL is on loopback is applied: its server may be a process of the user. So are those of the
    controllers in `served` (`controllers.served`).
    """
    group, kind = str(obj.get("apiVersion") or "").partition("/")[0], obj.get("kind")
    if group == "admissionregistration.k8s.io" and kind in _WEBHOOKS:
        if forms.all_served(obj, served):
            return ""
        webhooks = obj.get("webhooks") or ()
        servers = dict.fromkeys(_server(each.get("clientConfig") or {}) for each in webhooks)
        missing = [server for server in servers if server]
        return f"webhooks of {', '.join(missing)}" if missing else ""
    if group == "apiregistration.k8s.io" and kind == "APIService":
        service = (obj.get("spec") or {}).get("service")
        return f"API of {_server({'service': service})}" if service else ""
    return ""


def prepared(obj: Object, served: Mapping[str, bool]) -> Object:
    """What is applied for an object that is not left out: webhooks of controllers that are not built yet are closed."""
    return forms.prepared(obj, served) if obj.get("kind") in _WEBHOOKS and forms.all_served(obj, served) else obj


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
