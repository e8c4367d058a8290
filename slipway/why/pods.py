"""Why one pod does not run: from its scheduling to its claims and its containers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from components.workloads.checks.fit import misfits
from sandbox.nodes.volumes import DRIVERS
from slipway.why import capacity, messages
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, conditions, is_true, moment, name_of
from slipway.why.table import part_of, said
from spec.jobs import KUEUE

# Why a volume claim keeps a pod from running.


_MISSING: Final = re.compile(r'persistentvolumeclaim "([^"]+)" not found')
_DELETED: Final = re.compile(r'persistentvolumeclaim "([^"]+)" is being deleted')
_ZONE: Final = (
    "volume node affinity conflict",
    "PersistentVolume's node affinity",
    "no available volume zone",
    "available persistent volumes to bind",
)
_LIMIT: Final = "exceed max volume count"
_IMMEDIATE: Final = "unbound immediate PersistentVolumeClaims"


def claims_of(spec: Object) -> list[str]:
    """Names of the claims that a pod mounts."""
    volumes = spec.get("volumes") or ()
    return [str(one["persistentVolumeClaim"]["claimName"]) for one in volumes if one.get("persistentVolumeClaim")]


def of_message(pod: Object, message: str, bundle: Bundle) -> Part | None:
    """The reason in a scheduler's message that concerns a volume (kubernetes 1.36, plugins volumebinding,
    volumezone, nodevolumelimits), or a claim of the pod that can never be bound."""
    if match := _MISSING.search(message):
        return missing(match[1], bundle)
    if match := _DELETED.search(message):
        return part_of("claim being deleted", claim=match[1])
    unbound = of_claims(pod, bundle)
    if unbound is not None and (unbound.never or _IMMEDIATE in message):
        return unbound
    return part_of("claim not bound") if _IMMEDIATE in message else None


def _of_zone(message: str) -> Part | None:
    """A volume that the nodes that exist can't reach, if no autoscaler says more."""
    found = messages.unschedulable(message)
    zones = {reason: count for reason, count in found.reasons.items() if any(text in reason for text in _ZONE)}
    if zones:
        return part_of("volume in another zone", {"nodes": str(sum(zones.values()))}, all=found.nodes)
    return part_of("nodes full of volumes") if any(_LIMIT in reason for reason in found.reasons) else None


def missing(name: str, bundle: Bundle) -> Part:
    """A claim that does not exist."""
    known = sorted(str(one["metadata"]["name"]) for one in bundle.of_kind("PersistentVolumeClaim"))
    there = f"there are {', '.join(known)}" if known else "the namespace has none"
    return part_of("no such claim", {"claim": name}, there=there)


def of_claims(pod: Object, bundle: Bundle) -> Part | None:
    """The first claim of a pod that is not bound."""
    claims = {str(one["metadata"]["name"]): one for one in bundle.of_kind("PersistentVolumeClaim")}
    for name in claims_of(pod["spec"]):
        claim = claims.get(name)
        if claim is None and claims:
            return missing(name, bundle)
        if claim is not None and (claim.get("status") or {}).get("phase") != "Bound":
            return unbound(claim, bundle)
    return None


def unbound(claim: Object, bundle: Bundle) -> Part:
    """Why a claim has no volume: the newest of its events that says so, else what its class can't give."""
    name, spec = claim["metadata"]["name"], claim["spec"]
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "")
    events = [one for one in bundle.events_of(claim) if one.get("type") == "Warning" or one["reason"] in _UNBOUND]
    known = sorted(str(one["metadata"]["name"]) for one in bundle.of_kind("StorageClass"))
    fields = {"classes": f": {', '.join(known)}" if known else "", "shared": _shared(bundle)}
    seen = []
    text = _class_problem(claim, bundle)
    if events and not text:
        text = " ".join(str(events[-1].get("message") or "").split())
        seen = [Evidence(f"event {events[-1]['reason']} of {name_of(claim)} at {moment(events[-1])}", text)]
    part = said("claim", text, fields)
    assert part is not None  # noqa: S101 - its last row matches everything
    storage = spec.get("storageClassName") or "the default class"
    cause = f"claim {name} of {size} is not bound" + (f": {text}" if text else f" by class {storage}")
    return replace(part, cause=cause, numbers={"claim": str(name), "requested": str(size)}, evidence=tuple(seen))


_UNBOUND: Final = frozenset({"FailedBinding", "WaitForFirstConsumer", "WaitForPodScheduled"})
"""Events of a claim that are no warnings (kubernetes 1.36, controller/volume/events)."""


def waits_for_pod(claim: Object, bundle: Bundle) -> bool:
    """Whether the volume of a claim is made for the first pod that mounts it."""
    storage = bundle.named("StorageClass", str(claim["spec"].get("storageClassName"))) or {}
    waits = any(one["reason"].startswith("WaitFor") for one in bundle.events_of(claim)[-1:])
    return waits or storage.get("volumeBindingMode") == "WaitForFirstConsumer"


def _class_problem(claim: Object, bundle: Bundle) -> str:
    """What no class of the cluster gives the claim, if classes can be read."""
    classes = {str(one["metadata"]["name"]): one for one in bundle.of_kind("StorageClass")}
    wanted = claim["spec"].get("storageClassName")
    if not classes or not wanted:
        return ""
    if wanted not in classes:
        return f'storageclass.storage.k8s.io "{wanted}" not found'
    return unsupported(str(classes[wanted].get("provisioner")), wanted, claim["spec"].get("accessModes") or ())


def unsupported(driver: str, name: str, modes: Sequence[str]) -> str:
    """The access modes that a CSI driver does not have, as a sentence; empty if it has all, or is not known."""
    known = DRIVERS.get(driver)
    missing = [] if known is None else [mode for mode in modes if mode not in known.modes]
    return f"volumes of class {name} ({driver}) don't have the access mode {', '.join(missing)}" if missing else ""


def _shared(bundle: Bundle) -> str:
    """Classes whose volumes many pods can write to, as the end of a clause."""
    found = [
        str(one["metadata"]["name"])
        for one in bundle.of_kind("StorageClass")
        if not unsupported(str(one.get("provisioner")), "", ["ReadWriteMany"])
    ]
    return f" ({', '.join(sorted(found))})" if found else ""


# Why one pod does not run: from its scheduling to its containers.


ENDED: Final = frozenset({"Succeeded", "Failed"})
_PAST_VOLUMES: Final = frozenset({"Pulled", "Created", "Started"})
"""Events of a pod whose volumes are mounted and whose image is there: what failed before them is over."""


DEFAULT: Final = "default-scheduler"  # Kubernetes' own scheduler


def held(pod: Object, bundle: Bundle) -> Part | None:
    """Why a pod does not run; None if it runs or has ended."""
    status = pod.get("status") or {}
    if status.get("phase") in ENDED or is_true(pod, "Ready"):
        return None
    scheduled = conditions(pod).get("PodScheduled") or {}
    if gates := [str(one["name"]) for one in pod["spec"].get("schedulingGates") or ()]:
        return _gated(gates)
    if not pod["spec"].get("nodeName"):
        return _unscheduled(pod, str(scheduled.get("message") or ""), bundle)
    return _starting(pod, bundle)


def _gated(gates: list[str]) -> Part:
    of_kueue = any(gate.startswith(KUEUE) for gate in gates)
    return part_of("held by Kueue" if of_kueue else "held by gates", gates=", ".join(gates))


def _unscheduled(pod: Object, message: str, bundle: Bundle) -> Part:
    seen = [Evidence(f"condition PodScheduled of {name_of(pod)}", message)] if message else []
    part = (
        of_message(pod, message, bundle)
        or capacity.reported(pod, bundle)
        or _of_zone(message)
        or _by_pools(pod, message, bundle)
        or (None if message else of_claims(pod, bundle))
        or _by_message(message, str(pod["spec"].get("schedulerName") or DEFAULT))
    )
    return part.seen(*seen)


def _by_pools(pod: Object, message: str, bundle: Bundle) -> Part | None:
    """The scheduler's message, joined with the pools of the stack."""
    if bundle.target is None or not message:
        return None
    if (wrong := _of_itself(message) or capacity.unfit(pod["spec"], bundle)) is not None:
        return wrong
    if (refused := capacity.refused_launches(pod, bundle)) is not None:
        return refused
    found = misfits("pod", pod["spec"], bundle.target)
    usable = [bundle.target.pools[name] for name, problems in found.items() if not problems]
    counts = {pool.name: (capacity.nodes_of(pool, bundle), pool.settings.max) for pool in usable}
    listed = ", ".join(f"{name} ({_of(count)}{limit} nodes)" for name, (count, limit) in counts.items())
    short = _short(message)
    full = [name for name, (count, limit) in counts.items() if count is not None and count >= limit]
    if len(full) == len(counts):
        numbers = {"pool": full[0], "limit": str(counts[full[0]][1])}
        return part_of("every node in use", numbers, short=short, listed=listed)
    return part_of("no node yet", {"pool": ", ".join(counts)}, short=short, listed=listed)


def _of(count: int | None) -> str:
    return "at most " if count is None else f"{count} of "


def _short(message: str) -> str:
    reasons = messages.unschedulable(message).reasons
    short = [reason.removeprefix("Insufficient ") for reason in reasons if reason.startswith("Insufficient ")]
    return f" (short of {', '.join(sorted(short))})" if short else ""


def _of_itself(message: str) -> Part | None:
    """A reason that concerns the pod itself, and no node."""
    whole = messages.unschedulable(message).whole
    return said("scheduler", whole) if whole else None


def _by_message(message: str, scheduler: str) -> Part:
    if not message and scheduler != DEFAULT:
        # YuniKorn 1.8.0 wrote no condition of a pod whose queue was full (seen in the sandbox, 2026-11-25).
        return part_of("silent scheduler", scheduler=scheduler)
    if not message:
        return part_of("not looked at by the scheduler")
    found = messages.unschedulable(message)
    if not found.reasons:
        whole = found.whole or message
        return said("scheduler", whole) or Part(layer=Layer.SCHEDULER, cause=whole, fix="see what it names")
    ordered = sorted(found.reasons.items(), key=lambda one: -one[1])
    listed = ", ".join(f"{count} {reason}" for reason, count in ordered)
    first = said("scheduler", ordered[0][0])
    numbers = {"nodes": str(found.nodes), **{reason: str(count) for reason, count in ordered}}
    cause, fix = f"of {found.nodes} nodes {listed}", first.fix if first else "see the reasons"
    return Part(layer=Layer.SCHEDULER, cause=cause, fix=fix, numbers=numbers)


def _starting(pod: Object, bundle: Bundle) -> Part:
    """A pod on a node whose containers don't all run."""
    events = bundle.events_of(pod)
    node = bundle.named("Node", pod["spec"]["nodeName"])
    if node is not None and not is_true(node, "Ready"):
        condition = conditions(node).get("Ready") or {}
        why = condition.get("message") or condition.get("reason") or "no report"
        return part_of("node not ready", node=name_of(node), why=why)
    status = pod.get("status") or {}
    for one in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        if (part := _container(pod, one)) is not None:
            return part
    for event in reversed(events):
        if event["reason"] in _PAST_VOLUMES:
            break
        if (part := _event(pod, event)) is not None:
            return part
    if (part := of_claims(pod, bundle)) is not None:
        return part
    if status.get("phase") == "Running":
        return part_of("probe", pod=pod["metadata"]["name"])
    return part_of("kubelet starts it", node=pod["spec"]["nodeName"])


def _container(pod: Object, status: Object) -> Part | None:
    waiting = (status.get("state") or {}).get("waiting") or {}
    reason, message = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
    name = status["name"]
    seen = [Evidence(f"container {name} of {name_of(pod)}", f"{reason} {message}")]
    if reason in _NO_CAUSE:
        return None
    if reason != "CrashLoopBackOff":
        part = said("kubelet", f"{reason} {message}", {"pod": pod["metadata"]["name"]})
        what = f"image {status.get('image', '')} of " if part and part.layer is Layer.IMAGE else ""
        cause = f"{what}container {name}: {message or reason}"
        return replace(part, cause=cause).seen(*seen) if part else None
    last = ((status.get("lastState") or {}).get("terminated")) or {}
    count, code = status.get("restartCount", 0), last.get("exitCode", "?")
    numbers, why = {"restarts": str(count), "exitCode": str(code)}, last.get("reason", "Error")
    key = "container out of memory" if why == "OOMKilled" else "container ends"
    return part_of(key, numbers, name=name, pod=pod["metadata"]["name"], why=why).seen(*seen)


_NO_CAUSE: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Reasons of a container that has not been tried (kubernetes 1.36, kubelet_pods.go)."""


def _event(pod: Object, event: Object) -> Part | None:
    """What an event of the kubelet means for a pod whose containers don't run."""
    reason, message = str(event["reason"]), " ".join(str(event.get("message") or "").split())
    if event.get("type") != "Warning" and reason not in ("Pulling", "BackOff"):
        return None
    part = said("kubelet", f"{reason} {message}", {"pod": pod["metadata"]["name"]})
    seen = Evidence(f"event {reason} of {name_of(pod)} at {moment(event)}", message)
    return replace(part, cause=part.cause.replace(f"{reason} ", "", 1)).seen(seen) if part else None
