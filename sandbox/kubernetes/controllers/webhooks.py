"""Webhooks and other objects by which the API server calls a server: closed or left out until that runs. Pure."""

import ipaddress
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from sandbox.kubernetes.controllers.table import of_service
from sandbox.kubernetes.objects import Object

# Webhooks of controllers: closed until the controller runs, open afterwards. Pure.
#
# A closed webhook is installed and never called: it has a condition that is false for every request (kubernetes.io,
# "Dynamic Admission Control", matchConditions). A CRD whose conversion is closed converts nothing but the version.

CLOSED: Final = "sandbox.slipway.closed"
"""Name of the condition."""
CONVERSION: Final = "sandbox.slipway/conversion"
"""Annotation of a CRD: the conversion that its chart gives it, as JSON."""
WAITS_FOR: Final = "sandbox.slipway/waits-for"
"""Label of such a CRD: the controller."""

Service = tuple[str, str]
"""Namespace and name."""


def server(config: Mapping[str, Any]) -> Service | None:
    """The Service that a webhook's `clientConfig` calls; None if it calls a URL."""
    service = config.get("service")
    return (str(service.get("namespace") or ""), str(service.get("name") or "")) if service else None


def all_served(configuration: Mapping[str, Any], served: Mapping[str, bool]) -> bool:
    """Whether all webhooks of a configuration belong to controllers that run here, or will once they are built."""
    names = [_controller(each) for each in configuration.get("webhooks") or ()]
    return bool(names) and all(name in served for name in names)


def prepared(configuration: Object, served: Mapping[str, bool]) -> Object:
    """A configuration of such webhooks, closed where the controller is not built."""
    return {
        **configuration,
        "webhooks": [each if served[_controller(each)] else _closed(each) for each in configuration["webhooks"]],
    }


def settled(
    configuration: Object,
    running: Callable[[Service], bool],
    never: Callable[[Service], bool],
    bundle: Callable[[Service], str],
) -> list[Object]:
    """The webhooks of a configuration, with those of running controllers open, and closed what nothing here answers.

    Args:
        configuration: As it is in the cluster.
        running: Whether the controller behind a Service runs.
        never: Whether none will, as things are. A controller of the table whose Deployment has no pod is none of these:
            its webhooks refuse, as in any cluster.
        bundle: The `caBundle` that a controller's webhooks need; empty if the controller sets it itself.
    """
    return [_settled(each, running, never, bundle) for each in configuration.get("webhooks") or ()]


def conversion_service(crd: Mapping[str, Any]) -> Service | None:
    """The Service that converts a CRD's objects between versions; None if none does."""
    conversion = crd["spec"].get("conversion") or {}
    if conversion.get("strategy") != "Webhook":
        return None
    return server((conversion.get("webhook") or {}).get("clientConfig") or {})


def without_conversion(crd: Object, controller: str) -> Object:
    """The CRD with a closed conversion."""
    metadata, conversion = crd["metadata"], crd["spec"]["conversion"]
    return {
        **crd,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), WAITS_FOR: controller},
            "annotations": {**(metadata.get("annotations") or {}), CONVERSION: json.dumps(conversion, sort_keys=True)},
        },
        "spec": {key: value for key, value in crd["spec"].items() if key != "conversion"},
    }


def with_conversion(metadata: Mapping[str, Any]) -> Object:
    """The merge patch that opens a CRD's conversion, for the CRD's metadata."""
    conversion = json.loads(metadata["annotations"][CONVERSION])
    return {
        "metadata": {"labels": {WAITS_FOR: None}, "annotations": {CONVERSION: None}},
        "spec": {"conversion": conversion},
    }


def _controller(webhook: Mapping[str, Any]) -> str:
    service = server(webhook.get("clientConfig") or {})
    controller = of_service(service[1]) if service else None
    return controller.name if controller else ""


def _closed(webhook: Object) -> Object:
    if any(each["name"] == CLOSED for each in webhook.get("matchConditions") or ()):
        return webhook
    return {**webhook, "matchConditions": [*_conditions(webhook), {"name": CLOSED, "expression": "false"}]}


def _settled(
    webhook: Object,
    running: Callable[[Service], bool],
    never: Callable[[Service], bool],
    bundle: Callable[[Service], str],
) -> Object:
    config = webhook["clientConfig"]
    service = server(config)
    if service is None:
        return _closed(webhook) if _server(config) else webhook
    if not running(service):
        return _closed(webhook) if never(service) else webhook
    kept = {key: value for key, value in webhook.items() if key != "matchConditions"}
    conditions = _conditions(webhook)
    authority = {"caBundle": bundle(service)} if bundle(service) else {}
    return {**kept, "clientConfig": {**config, **authority}, **({"matchConditions": conditions} if conditions else {})}


def _conditions(webhook: Mapping[str, Any]) -> list[Any]:
    return [each for each in webhook.get("matchConditions") or () if each["name"] != CLOSED]


# Objects by which the API server would call a server that does not run here: they are left out of the cluster.
#
# Containers run nothing, so no Service answers but those of the controllers that run beside a cluster (`controllers`).
# The API server would refuse whatever a webhook that fails closed selects, and an aggregated API that does not answer
# keeps every namespace from being deleted (kubernetes.io, "Dynamic Admission Control"; kube-controller-manager 1.36,
# namespace controller, discovery failure).

_WEBHOOKS: Final = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})


NOBODY: Final[Mapping[str, bool]] = MappingProxyType({})


def left_out(obj: Mapping[str, Any], served: Mapping[str, bool] = NOBODY) -> str:
    """What must not be applied, and of which server, that does not run; empty if the object may be applied.

    A webhook whose URL is on loopback is applied: its server may be a process of the user. So are those of the
    controllers in `served` (`controllers.served`).
    """
    group, kind = str(obj.get("apiVersion") or "").partition("/")[0], obj.get("kind")
    if group == "admissionregistration.k8s.io" and kind in _WEBHOOKS:
        if all_served(obj, served):
            return ""
        webhooks = obj.get("webhooks") or ()
        servers = dict.fromkeys(_server(each.get("clientConfig") or {}) for each in webhooks)
        missing = [server for server in servers if server]
        return f"webhooks of {', '.join(missing)}" if missing else ""
    if group == "apiregistration.k8s.io" and kind == "APIService":
        service = (obj.get("spec") or {}).get("service")
        return f"API of {_server({'service': service})}" if service else ""
    return ""


def as_applied(obj: Object, served: Mapping[str, bool]) -> Object:
    """What is applied for an object that is not left out: webhooks of controllers that are not built yet are closed."""
    return prepared(obj, served) if obj.get("kind") in _WEBHOOKS and all_served(obj, served) else obj


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
