"""What pods refer to by name: claims with their volumes, Secrets, ConfigMaps, service accounts and devices, which the
platform or the file has to make."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from components.tenancy.namespace import whole
from components.tenancy.roles import PICKER
from components.workloads.checks.fit import ZONE, node_values
from components.workloads.target import Target
from slipway.why import served
from slipway.why.bundle import Object
from slipway.why.podsets import PodSet
from slipway.why.served import CLAIM, volume
from slipway.why.table import Finding, finding
from spec.pools import PoolSpec
from spec.settings.addons.batch import KubeflowPipelines
from spec.teams.pipelines import LAUNCHER

SECRET: Final = "Secret"  # noqa: S105 - a kind
CONFIG_MAP: Final = "ConfigMap"
_ACCOUNT: Final = "ServiceAccount"
_TEMPLATE: Final = "ResourceClaimTemplate"
_KINDS: Final = {
    "persistentVolumeClaim": CLAIM,
    **dict.fromkeys(("secret", "secretRef", "secretKeyRef"), SECRET),
    **dict.fromkeys(("configMap", "configMapRef", "configMapKeyRef"), CONFIG_MAP),
}
"""Kind of what a field of a pod names (k8s.io/api v0.36, core/v1)."""


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


def missing(group: PodSet, target: Target, others: Sequence[Object]) -> Iterator[Finding]:
    """Objects that neither the platform nor the file makes, and keys that those of the file do not have; claims of
    devices (DRA) where no pool has a driver for them."""
    made = {(str(one.get("kind")), str((one.get("metadata") or {}).get("name"))): one for one in others}
    # Every namespace has two (kubernetes 1.36, pkg/controller/certificates/rootcacertpublisher, serviceaccount).
    own = {(CONFIG_MAP, "kube-root-ca.crt"), *((CLAIM, one) for one in target.claims.values())}
    own |= {(_ACCOUNT, one) for one in ("default", PICKER, target.service_account)}
    own |= {(CONFIG_MAP, LAUNCHER)} if KubeflowPipelines in (target.addons or ()) else set()
    for path, kind, name, key in references(group.name, group.spec):
        known = ", ".join(sorted(one for each, one in {*own, *made} if each == kind))
        if (kind, name) not in {*own, *made}:
            fix = f"Use one of {known}, or create it." if known else "Create it first, or write it into the file."
            yield finding(f"no such {kind}", path, name, fix=fix)
        found = made.get((kind, name), {})
        keys = [one for part in ("data", "stringData", "binaryData") for one in found.get(part) or ()]
        if key and found and key not in keys:
            yield finding("no such key", path, key, kind=kind, name=name, known=", ".join(keys))
    ours = {f"gpu-{count}" for count in whole(target.pools.values())}
    for at, one in enumerate(group.spec.get("resourceClaims") or ()):
        name, path = one.get("resourceClaimTemplateName"), f"{group.name}.resourceClaims[{at}]"
        named = name or one.get("resourceClaimName")
        if not ours:
            also = "" if any(named == each for _, each in made) else "; the file has no template of that name either"
            yield finding("resource claim", path, named, also=also)
        elif name and name not in ours and (_TEMPLATE, name) not in made:
            fix = f"Use one of {', '.join(sorted(ours))}, or create it."
            yield finding(f"no such {_TEMPLATE}", path, name, fix=fix)


def volumes(
    group: PodSet, pools: Mapping[str, PoolSpec], target: Target, others: Sequence[Object]
) -> Iterator[Finding]:
    """Claims of the file that get no volume, and volumes in different zones or in none of the pools."""
    path, zones = f"{group.name}.volumes", dict[str, frozenset[str]]()
    claims = {str((one.get("metadata") or {}).get("name")): one for one in others if one.get("kind") == CLAIM}
    for _, kind, name, _ in references(path, group.spec):
        if kind != CLAIM or name not in claims:
            continue
        if (bound := volume(claims[name], claims[name].get("spec") or {}, others)) is None:
            for one in served.classes(claims[name], target, others):
                yield replace(one, problem=replace(one.problem, path=f"{path}, claim {name}: {one.problem.path}"))
        elif found := _zones(bound):
            zones[name] = found
    common = frozenset.intersection(*zones.values()) if zones else frozenset()
    where = ", ".join(f"{name} in {' or '.join(sorted(found))}" for name, found in zones.items())
    selected = (group.spec.get("nodeSelector") or {}).get(ZONE)
    has = {zone for pool in pools.values() for zone in node_values(pool)[ZONE] if selected in (None, zone)}
    if zones and not common:
        yield finding("volumes in two zones", path, where)
    elif zones and pools and not common & has:
        yield finding("volume in another zone", path, where, zones=", ".join(sorted(has)) or selected)


def _zones(one: Object) -> frozenset[str]:
    """Zones of a volume, by its node affinity and labels; none if it is in all."""
    nodes = ((one.get("spec") or {}).get("nodeAffinity") or {}).get("required") or {}
    terms = [each for term in nodes.get("nodeSelectorTerms") or () for each in term.get("matchExpressions") or ()]
    listed = {zone for each in terms if str(each.get("key")).endswith("/zone") for zone in each.get("values") or ()}
    label = ((one.get("metadata") or {}).get("labels") or {}).get(ZONE)
    return frozenset(listed or ({label} if label else ()))
