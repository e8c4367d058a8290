"""What pods refer to by name: claims with their volumes, Secrets, ConfigMaps, service accounts and devices, which the
platform or the file has to make."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.tenancy.roles import PICKER
from components.workloads.checks.fit import node_values
from components.workloads.target import Target
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.podsets import PodSet
from slipway.why.served import CLAIM, claims
from spec.pools import PoolSpec
from spec.quantities import parse
from spec.settings.addons.batch import KubeflowPipelines
from spec.settings.problems import Problem
from spec.teams.pipelines import LAUNCHER

ZONE: Final = "topology.kubernetes.io/zone"
SECRET: Final = "Secret"  # noqa: S105 - a kind
CONFIG_MAP: Final = "ConfigMap"
_ACCOUNT: Final = "ServiceAccount"
_KINDS: Final = {
    "persistentVolumeClaim": CLAIM,
    **dict.fromkeys(("secret", "secretRef", "secretKeyRef"), SECRET),
    **dict.fromkeys(("configMap", "configMapRef", "configMapKeyRef"), CONFIG_MAP),
}
"""Kind of what a field of a pod names (k8s.io/api v0.36, core/v1)."""
_OF_EACH: Final = {
    (CONFIG_MAP, "kube-root-ca.crt"), (_ACCOUNT, "default"), (_ACCOUNT, PICKER)
}  # fmt: skip
"""What every namespace has (kubernetes 1.36, pkg/controller/certificates/rootcacertpublisher and serviceaccount)."""


@dataclass(frozen=True)
class Reference:
    """An object that a pod names, and the key of it that it reads; empty for all."""

    path: str
    kind: str
    name: str
    key: str = ""


def references(path: str, value: Any) -> Iterator[Reference]:
    """What a pod can't start without: all that its spec names and that is not optional; not Secrets of images, which the
    kubelet pulls without them as well."""
    if isinstance(value, Mapping):
        for field, below in value.items():
            kind, named = _KINDS.get(field), below if isinstance(below, Mapping) else {}
            name = named.get("claimName") or named.get("secretName") or named.get("name")
            if kind and name and not named.get("optional"):
                yield Reference(f"{path}.{field}", kind, str(name), str(named.get("key") or ""))
            yield from references(f"{path}.{field}", below)
        if isinstance(account := value.get("serviceAccountName"), str) and account:
            yield Reference(f"{path}.serviceAccountName", _ACCOUNT, account)
    elif isinstance(value, list):
        for at, below in enumerate(value):
            yield from references(f"{path}[{at}]", below)


def missing(group: PodSet, target: Target, others: Sequence[Object]) -> Iterator[tuple[Layer, Problem]]:
    """Objects that neither the platform nor the file makes, and keys that those of the file do not have."""
    made = {(str(one.get("kind")), str((one.get("metadata") or {}).get("name"))): one for one in others}
    own = {(CLAIM, one) for one in target.claims.values()} | {(_ACCOUNT, target.service_account)} | _OF_EACH
    if KubeflowPipelines in (target.addons or ()):
        own |= {(CONFIG_MAP, LAUNCHER)}
    for one in references(group.name, group.spec):
        what, layer, rest = _MISSING[one.kind]
        known = ", ".join(sorted(name for kind, name in {*own, *made} if kind == one.kind))
        if (one.kind, one.name) not in {*own, *made}:
            rule = f"the platform makes no {what} of that name, and neither does the file{rest}"
            fix = f"Use one of {known}, or create it." if known else "Create it first, or write it into the file."
            yield layer, Problem(one.path, rule, one.name, fix)
        elif one.key and (found := made.get((one.kind, one.name))) is not None:
            keys = [key for part in ("data", "stringData", "binaryData") for key in found.get(part) or ()]
            if one.key not in keys:
                rule = f"{one.kind} {one.name} of the file has no such key{rest}"
                yield layer, Problem(one.path, rule, one.key, f"Use one of {', '.join(keys)}, or add the key.")


_STAYS: Final = ": its container would stay in CreateContainerConfigError"
_MISSING: Final = {
    CLAIM: ("claim", Layer.VOLUME, ""),
    SECRET: (SECRET, Layer.CONTAINER, _STAYS),
    CONFIG_MAP: (CONFIG_MAP, Layer.CONTAINER, _STAYS),
    _ACCOUNT: ("service account", Layer.ADMISSION, ": the API server would refuse its pods"),
}


# Volumes: a claim of the file may get none, and one of a disk is in one zone.


def unbound(manifest: Object, target: Target, others: Sequence[Object]) -> Iterator[Problem]:
    """Claims that an object is or makes, for which no class makes a volume and which none of the file fits."""
    for path, spec in claims(manifest):
        name, named = spec.get("storageClassName"), spec.get("volumeName")
        if (named or name == "") and _volume((manifest.get("metadata") or {}).get("name"), spec, others) is None:
            rule = f"no class makes its volume, and the file has no PersistentVolume {named or 'that it fits'}"
            known = ", ".join(sorted(target.classes or ())) or "of the cluster"
            fix = f"Remove it, or use the class {known}."
            yield Problem(f"{path}.{'volumeName' if named else 'storageClassName'}", rule, named or '""', fix)


def _volume(claim: Any, spec: Object, others: Iterable[Object]) -> Object | None:
    """The volume of the file that a claim is bound to: the one that either names, or one of its class that is large
    enough and has its access modes (kubernetes.io, "Persistent Volumes", Binding)."""
    for one in others:
        has = one.get("spec") or {}
        if one.get("kind") != "PersistentVolume":
            continue
        if spec.get("volumeName") or has.get("claimRef"):
            if (one.get("metadata") or {}).get("name") == spec.get("volumeName") or (
                (has.get("claimRef") or {}).get("name") == claim
            ):
                return one
            continue
        size, room = (
            ((each.get("resources") or {}).get("requests") or each.get("capacity") or {}).get("storage")
            for each in (spec, has)
        )
        modes = set(spec.get("accessModes") or ()) <= set(has.get("accessModes") or ())
        if (
            (has.get("storageClassName") or "") == spec.get("storageClassName")
            and modes
            and parse(str(room or 0)) >= parse(str(size or 0))
        ):
            return one
    return None


def apart(group: PodSet, pools: Mapping[str, PoolSpec], others: Sequence[Object]) -> Iterator[Problem]:
    """Volumes of a pod in zones in which no node of its pools is, or in different ones."""
    claimed = {str((one.get("metadata") or {}).get("name")): one for one in others if one.get("kind") == CLAIM}
    names = [one.name for one in references("", group.spec) if one.kind == CLAIM and one.name in claimed]
    volumes = {name: _volume(name, claimed[name].get("spec") or {}, others) for name in names}
    zones = {name: found for name, volume in volumes.items() if volume and (found := _zones(volume))}
    if not zones:
        return
    where = ", ".join(f"{name} in {' or '.join(sorted(found))}" for name, found in zones.items())
    common = frozenset.intersection(*zones.values())
    selected = (group.spec.get("nodeSelector") or {}).get(ZONE)
    has = frozenset(zone for pool in pools.values() for zone in node_values(pool)[ZONE] if selected in (None, zone))
    path = f"{group.name}.volumes"
    if not common:
        fix = "Restore a snapshot of one in the zone of the other, or use a class of a file system instead of a disk."
        yield Problem(path, "its volumes are in different zones, and no node is in both", where, fix)
    elif pools and not common & has:
        rule = f"its pods run in {', '.join(sorted(has)) or selected}, and a disk is only in its own zone"
        yield Problem(path, rule, where, "Select a pool with nodes in that zone, or restore a snapshot in another.")


def _zones(volume: Object) -> frozenset[str]:
    """Zones of a volume, by its labels and node affinity; none if it is in all."""
    nodes = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required") or {}
    terms = [each for term in nodes.get("nodeSelectorTerms") or () for each in term.get("matchExpressions") or ()]
    listed = {zone for each in terms if str(each.get("key")).endswith("/zone") for zone in each.get("values") or ()}
    label = ((volume.get("metadata") or {}).get("labels") or {}).get(ZONE)
    return frozenset(listed or ({label} if label else ()))


# Devices by claims, which no add-on of the platform drives.


def devices(group: PodSet, others: Sequence[Object]) -> Iterator[Problem]:
    """Resource claims of a pod: no node of the platform has a driver for them."""
    made = {str((one.get("metadata") or {}).get("name")) for one in others if "ResourceClaim" in str(one.get("kind"))}
    for at, one in enumerate(group.spec.get("resourceClaims") or ()):
        name = one.get("resourceClaimTemplateName") or one.get("resourceClaimName")
        also = "" if name in made else "; the file has no such claim or template either"
        rule = f"no add-on of the platform has a driver of resource claims (DRA), so no node offers their devices{also}"
        fix = "Remove `resourceClaims`, and request the device in `resources.limits`."
        yield Problem(f"{group.name}.resourceClaims[{at}]", rule, name, fix)
