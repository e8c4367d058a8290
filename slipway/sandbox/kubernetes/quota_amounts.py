"""The amount of a quota that one object uses: a pod, a claim, a service; and which pods a quota with a scope counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from slipway.sandbox.kubernetes.objects import Object
from spec.quantities import parse

OF_CLASS = ".storageclass.storage.k8s.io/"


def of_pod(pod: Object, kind: str, resource: str) -> Decimal:
    """The `requests` or `limits` of a pod: the sum of its containers, or its largest init container if that is more."""
    spec = pod["spec"]
    first = spec.get("initContainers") or ()
    sidecars = _total(_of_container(one, kind, resource) for one in first if one.get("restartPolicy") == "Always")
    before = [_of_container(one, kind, resource) for one in first if one.get("restartPolicy") != "Always"]
    together = _total(_of_container(one, kind, resource) for one in spec["containers"])
    found = sidecars + max([together, *before])
    # Overhead does not add a limit to a pod without one (kubernetes 1.35, component-helpers/resource, PodLimits).
    bounded = kind == "requests" or found > 0
    return found + parse((spec.get("overhead") or {}).get(resource, 0)) if bounded else found


def claimed(name: str, claims: Iterable[Object]) -> Decimal:
    """The number or the total size of claims, of one storage class if the name contains one."""
    wanted, of_class, what = name.rpartition(OF_CLASS)
    found = [claim["spec"] for claim in claims if not of_class or claim["spec"].get("storageClassName") == wanted]
    if what == "persistentvolumeclaims":
        return Decimal(len(found))
    return _total(parse((spec["resources"].get("requests") or {}).get("storage", 0)) for spec in found)


def ports(service: Object, name: str) -> int:
    """The amount of `services.loadbalancers` or `services.nodeports` that a service uses."""
    if name == "services.loadbalancers":
        return int(service["spec"].get("type") == "LoadBalancer")
    return sum(1 for port in service["spec"].get("ports") or () if port.get("nodePort"))


def covers(quota: Mapping[str, Any], pod: Object) -> bool:
    """Whether a quota counts a pod: all of its scopes must hold (kubernetes.io, "Resource Quotas", 1.35)."""
    selector = (quota.get("scopeSelector") or {}).get("matchExpressions") or ()
    plain = [{"scopeName": scope, "operator": "Exists"} for scope in quota.get("scopes") or ()]
    return all(_holds(scope, pod["spec"]) for scope in (*plain, *selector))


def _holds(scope: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    name = scope["scopeName"]
    if name == "PriorityClass":
        return _priority_holds(scope, spec.get("priorityClassName") or "")
    if name == "CrossNamespacePodAffinity":
        return _reaches_out(spec.get("affinity") or {})
    ends, modest = spec.get("activeDeadlineSeconds") is not None, _best_effort(spec)
    return {"Terminating": ends, "NotTerminating": not ends, "BestEffort": modest, "NotBestEffort": not modest}[
        str(name)
    ]


def _priority_holds(scope: Mapping[str, Any], name: str) -> bool:
    values = scope.get("values") or ()
    return {"Exists": bool(name), "DoesNotExist": not name, "In": name in values, "NotIn": name not in values}[
        scope["operator"]
    ]


def _best_effort(spec: Mapping[str, Any]) -> bool:
    resources = [one.get("resources") or {} for one in (*spec["containers"], *(spec.get("initContainers") or ()))]
    return not any(each.get(kind) for each in resources for kind in ("requests", "limits"))


def _reaches_out(affinity: Mapping[str, Any]) -> bool:
    terms = [
        term.get("podAffinityTerm") or term
        for kind in ("podAffinity", "podAntiAffinity")
        for term_list in (affinity.get(kind) or {}).values()
        for term in term_list
    ]
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)


def _of_container(container: Mapping[str, Any], kind: str, resource: str) -> Decimal:
    return parse(((container.get("resources") or {}).get(kind) or {}).get(resource, 0))


def _total(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, start=Decimal(0))
