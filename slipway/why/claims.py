"""Why a volume claim keeps a pod from running."""

from __future__ import annotations

import re
from typing import Final

from slipway.why import messages
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, moment, name_of

_MISSING: Final = re.compile(r'persistentvolumeclaim "([^"]+)" not found')
_DELETED: Final = re.compile(r'persistentvolumeclaim "([^"]+)" is being deleted')
_ZONE: Final = ("volume node affinity conflict", "no available volume zone", "available persistent volumes to bind")
_LIMIT: Final = "exceed max volume count"


def claims_of(spec: Object) -> list[str]:
    """Names of the claims that a pod mounts."""
    volumes = spec.get("volumes") or ()
    return [str(one["persistentVolumeClaim"]["claimName"]) for one in volumes if one.get("persistentVolumeClaim")]


def of_message(pod: Object, message: str, bundle: Bundle) -> Part | None:
    """The reason in a scheduler's message that concerns a volume (kubernetes 1.36, plugins volumebinding,
    volumezone, nodevolumelimits)."""
    if match := _MISSING.search(message):
        return missing(match[1], bundle)
    if match := _DELETED.search(message):
        cause = f"claim {match[1]} is being deleted"
        return Part(layer=Layer.VOLUME, cause=cause, fix="create it again once it is gone, or use another")
    if "unbound immediate PersistentVolumeClaims" in message:
        return of_claims(pod, bundle) or Part(
            layer=Layer.VOLUME, cause="a claim that it mounts is not bound", fix="read `kubectl describe pvc`"
        )
    found = messages.unschedulable(message)
    zones = {reason: count for reason, count in found.reasons.items() if any(text in reason for text in _ZONE)}
    if zones:
        count = sum(zones.values())
        cause = f"its volume is in another zone than {count} of {found.nodes} nodes"
        fix = "select a pool with nodes in the zone of the volume, or use a file system instead of a disk"
        return Part(layer=Layer.VOLUME, cause=cause, fix=fix, numbers={"nodes": str(count)})
    if any(_LIMIT in reason for reason in found.reasons):
        cause = "the nodes have as many volumes as EC2 attaches to them"
        return Part(layer=Layer.VOLUME, cause=cause, fix="use fewer claims for each pod, or wait for another node")
    return None


def missing(name: str, bundle: Bundle) -> Part:
    """A claim that does not exist."""
    known = sorted(str(one["metadata"]["name"]) for one in bundle.of_kind("PersistentVolumeClaim"))
    there = f"there are {', '.join(known)}" if known else "the namespace has none"
    return Part(
        layer=Layer.VOLUME,
        cause=f"claim {name} does not exist",
        fix=f"correct the name ({there}), or create the claim",
        numbers={"claim": name},
    )


def of_claims(pod: Object, bundle: Bundle) -> Part | None:
    """The first claim of a pod that is not bound."""
    claims = {str(one["metadata"]["name"]): one for one in bundle.of_kind("PersistentVolumeClaim")}
    for name in claims_of(pod["spec"]):
        claim = claims.get(name)
        if claim is None and claims:
            return missing(name, bundle)
        if claim is not None and (claim.get("status") or {}).get("phase") != "Bound":
            return _unbound(claim, bundle)
    return None


def _unbound(claim: Object, bundle: Bundle) -> Part:
    name, spec = claim["metadata"]["name"], claim["spec"]
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "")
    events = [one for one in bundle.events_of(claim) if one.get("type") == "Warning"]
    seen = [
        Evidence(f"event {one['reason']} of {name_of(claim)} at {moment(one)}", str(one["message"]))
        for one in events[-1:]
    ]
    storage = spec.get("storageClassName") or "the default class"
    why = f": {' '.join(str(events[-1]['message']).split())}" if events else f" by class {storage}"
    return Part(
        layer=Layer.VOLUME,
        cause=f"claim {name} of {size} is not bound{why}",
        fix="correct class, access mode or size of the claim, or look at the pods of its CSI driver",
        numbers={"claim": str(name), "requested": str(size)},
        evidence=seen,
    )
