"""What pods refer to by name: claims with their volumes, Secrets, ConfigMaps, service accounts and devices, which the
platform or the file has to make."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from components.tenancy.roles import PICKER
from components.workloads.checks.fit import ZONE, node_values
from components.workloads.target import Target
from slipway.why import served
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.podsets import PodSet
from slipway.why.served import CLAIM, volume
from spec.pools import PoolSpec
from spec.settings.addons.batch import KubeflowPipelines
from spec.settings.problems import Problem
from spec.teams.pipelines import LAUNCHER

SECRET: Final = "Secret"  # noqa: S105 - a kind
CONFIG_MAP: Final = "ConfigMap"
_ACCOUNT: Final = "ServiceAccount"
_KINDS: Final = {
    "persistentVolumeClaim": CLAIM,
    **dict.fromkeys(("secret", "secretRef", "secretKeyRef"), SECRET),
    **dict.fromkeys(("configMap", "configMapRef", "configMapKeyRef"), CONFIG_MAP),
}
"""Kind of what a field of a pod names (k8s.io/api v0.36, core/v1)."""
_STAYS: Final = ": its container would stay in CreateContainerConfigError"
_MISSING: Final = {
    CLAIM: ("claim", Layer.VOLUME, ""),
    SECRET: (SECRET, Layer.CONTAINER, _STAYS),
    CONFIG_MAP: (CONFIG_MAP, Layer.CONTAINER, _STAYS),
    _ACCOUNT: ("service account", Layer.ADMISSION, ": the API server would refuse its pods"),
}


def references(path: str, value: Any) -> Iterator[tuple[str, str, str, str]]:
    """Path, kind, name and key of all that a spec names and its pod can't start without; not Secrets of images, without
    which the kubelet pulls as well."""
    if isinstance(value, list):
        for at, below in enumerate(value):
            yield from references(f"{path}[{at}]", below)
    for field, below in value.items() if isinstance(value, Mapping) else ():
        if field in ("serviceAccount", "serviceAccountName") and below:
            yield f"{path}.{field}", _ACCOUNT, str(below), ""
        named = below if field in _KINDS and isinstance(below, Mapping) and not below.get("optional") else {}
        if name := named.get("claimName") or named.get("secretName") or named.get("name"):
            yield f"{path}.{field}", _KINDS[field], str(name), str(named.get("key") or "")
        yield from references(f"{path}.{field}", below)


def missing(group: PodSet, target: Target, others: Sequence[Object]) -> Iterator[tuple[Layer, Problem]]:
    """Objects that neither the platform nor the file makes, and keys that those of the file do not have; devices by
    claims (DRA), which no add-on of the platform drives."""
    made = {(str(one.get("kind")), str((one.get("metadata") or {}).get("name"))): one for one in others}
    # Every namespace has two (kubernetes 1.36, pkg/controller/certificates/rootcacertpublisher, serviceaccount).
    own = {(CONFIG_MAP, "kube-root-ca.crt"), *((CLAIM, one) for one in target.claims.values())}
    own |= {(_ACCOUNT, one) for one in ("default", PICKER, target.service_account)}
    own |= {(CONFIG_MAP, LAUNCHER)} if KubeflowPipelines in (target.addons or ()) else set()
    for path, kind, name, key in references(group.name, group.spec):
        what, layer, rest = _MISSING[kind]
        known = ", ".join(sorted(one for each, one in {*own, *made} if each == kind))
        if (kind, name) not in {*own, *made}:
            rule = f"the platform makes no {what} of that name, and neither does the file{rest}"
            fix = f"Use one of {known}, or create it." if known else "Create it first, or write it into the file."
            yield layer, Problem(path, rule, name, fix)
        found = made.get((kind, name), {})
        keys = [one for part in ("data", "stringData", "binaryData") for one in found.get(part) or ()]
        if key and found and key not in keys:
            rule = f"{what} {name} of the file has no such key{rest}"
            yield layer, Problem(path, rule, key, f"Use one of {', '.join(keys)}, or add the key.")
    for at, one in enumerate(group.spec.get("resourceClaims") or ()):
        name = one.get("resourceClaimTemplateName") or one.get("resourceClaimName")
        rule = "no add-on of the platform has a driver of resource claims (DRA), so no node offers their devices"
        also = (
            "" if any(name == each for _, each in made) else "; the file has no claim or template of that name either"
        )
        fix = "Remove `resourceClaims`, and request the device in `resources.limits`."
        yield Layer.SCHEDULER, Problem(f"{group.name}.resourceClaims[{at}]", rule + also, name, fix)


def volumes(
    group: PodSet, pools: Mapping[str, PoolSpec], target: Target, others: Sequence[Object]
) -> Iterator[Problem]:
    """Claims of the file that get no volume, and volumes in different zones or in none of the pools."""
    path, zones = f"{group.name}.volumes", dict[str, frozenset[str]]()
    claims = {str((one.get("metadata") or {}).get("name")): one for one in others if one.get("kind") == CLAIM}
    for _, kind, name, _ in references(path, group.spec):
        if kind != CLAIM or name not in claims:
            continue
        if (bound := volume(claims[name], claims[name].get("spec") or {}, others)) is None:
            problems = served.classes(claims[name], target, others)
            yield from (replace(one, path=f"{path}, claim {name}: {one.path}") for one in problems)
        elif found := _zones(bound):
            zones[name] = found
    common = frozenset.intersection(*zones.values()) if zones else frozenset()
    where = ", ".join(f"{name} in {' or '.join(sorted(found))}" for name, found in zones.items())
    selected = (group.spec.get("nodeSelector") or {}).get(ZONE)
    has = {zone for pool in pools.values() for zone in node_values(pool)[ZONE] if selected in (None, zone)}
    if zones and not common:
        fix = "Restore a snapshot of one in the zone of the other, or use a class of a file system instead of a disk."
        yield Problem(path, "its volumes are in different zones, and no node is in both", where, fix)
    elif zones and pools and not common & has:
        rule = f"its pods run in {', '.join(sorted(has)) or selected}, and a disk is only in its own zone"
        yield Problem(path, rule, where, "Select a pool with nodes in that zone, or restore a snapshot in another.")


def _zones(one: Object) -> frozenset[str]:
    """Zones of a volume, by its node affinity and labels; none if it is in all."""
    nodes = ((one.get("spec") or {}).get("nodeAffinity") or {}).get("required") or {}
    terms = [each for term in nodes.get("nodeSelectorTerms") or () for each in term.get("matchExpressions") or ()]
    listed = {zone for each in terms if str(each.get("key")).endswith("/zone") for zone in each.get("values") or ()}
    label = ((one.get("metadata") or {}).get("labels") or {}).get(ZONE)
    return frozenset(listed or ({label} if label else ()))
