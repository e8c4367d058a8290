"""Why one pod does not run: from its scheduling to its claims and its containers."""

from __future__ import annotations

import re
from typing import Final

from slipway.why import capacity, messages
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, conditions, is_true, moment, name_of
from spec.jobs import KUEUE

# Why a volume claim keeps a pod from running.


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


# Why one pod does not run: from its scheduling to its containers.


ENDED: Final = frozenset({"Succeeded", "Failed"})
_IMAGE: Final = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
                           "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed"})  # fmt: skip
"""Reasons of a waiting container (kubernetes 1.36, pkg/kubelet/images/types.go)."""
_MOUNT: Final = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
_CONFIG: Final = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
_PAST_VOLUMES: Final = frozenset({"Pulled", "Created", "Started"})
"""Events of a pod whose volumes are mounted and whose image is there: what failed before them is over."""


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
    if any(gate.startswith(KUEUE) for gate in gates):
        return Part(layer=Layer.QUEUE, cause="Kueue holds the pod until it admits its workload", fix="wait")
    cause = f"scheduling gates hold the pod: {', '.join(gates)}"
    return Part(layer=Layer.CONTROLLER, cause=cause, fix="look at the controller that sets them")


def _unscheduled(pod: Object, message: str, bundle: Bundle) -> Part:
    seen = [Evidence(f"condition PodScheduled of {name_of(pod)}", message)] if message else []
    part = (
        of_message(pod, message, bundle)
        or capacity.reported(pod, bundle)
        or _by_pools(pod, message, bundle)
        or _by_message(message)
    )
    return part.seen(*seen)


def _by_pools(pod: Object, message: str, bundle: Bundle) -> Part | None:
    """The scheduler's message, joined with the pools of the stack."""
    if bundle.target is None or not message:
        return None
    found = capacity.misfits(pod["spec"], bundle.target)
    if not found:
        selected = ", ".join(f"{key}={value}" for key, value in (pod["spec"].get("nodeSelector") or {}).items())
        cause = f"no pool of the stack has the labels that it selects: {selected or 'by affinity'}"
        return Part(layer=Layer.SCHEDULER, cause=cause, fix=f"select one of {', '.join(bundle.target.pools)}")
    usable = [bundle.target.pools[name] for name, problems in found.items() if not problems]
    if not usable:
        pool, problems = min(found.items(), key=lambda one: len(one[1]))
        first = problems[0]
        numbers = {"pool": pool, "given": str(first.value)}
        fix = first.fix[:1].lower() + first.fix[1:]
        return Part(layer=Layer.SCHEDULER, cause=f"{first.rule} (given: {first.value})", fix=fix, numbers=numbers)
    counts = {pool.name: (capacity.nodes_of(pool, bundle), pool.settings.max) for pool in usable}
    listed = ", ".join(f"{name} ({_of(count)}{limit} nodes)" for name, (count, limit) in counts.items())
    short = _short(message)
    full = [name for name, (count, limit) in counts.items() if count is not None and count >= limit]
    if len(full) == len(counts):
        return Part(
            layer=Layer.POOL_LIMIT,
            cause=f"every node of its pools is in use{short}, and no pool may have more: {listed}",
            fix=f"wait until other pods end, or raise `pools.{full[0]}.max` if the budget allows",
            numbers={"pool": full[0], "limit": str(counts[full[0]][1])},
        )
    return Part(
        layer=Layer.SCHEDULER,
        cause=f"no node that exists can take it{short}, and its pools may have more: {listed}",
        fix="wait for the autoscaler; if it has not reacted in five minutes, look at its log",
        numbers={"pool": ", ".join(counts)},
    )


def _of(count: int | None) -> str:
    return "at most " if count is None else f"{count} of "


def _short(message: str) -> str:
    reasons = messages.unschedulable(message).reasons
    short = [reason.removeprefix("Insufficient ") for reason in reasons if reason.startswith("Insufficient ")]
    return f" (short of {', '.join(sorted(short))})" if short else ""


_SAYS: Final = {
    "untolerated taint": "add tolerations of the taints of its pool",
    "didn't match Pod's node affinity/selector": "select labels that nodes have: `kubectl get nodes --show-labels`",
    "Insufficient": "request less, or wait until other pods end",
    "anti-affinity": "relax the anti-affinity, or wait for another node",
    "topology spread": "relax the spread, or wait for another node",
    "unschedulable": "wait: nodes are being drained",
    "free ports": "remove `hostPort`",
}
"""Next step by a part of a reason (kubernetes 1.36, pkg/scheduler/framework/plugins)."""


def _by_message(message: str) -> Part:
    if not message:
        return Part(layer=Layer.SCHEDULER, cause="the scheduler has not looked at it yet", fix="wait a moment")
    found = messages.unschedulable(message)
    if not found.reasons:
        return Part(layer=Layer.SCHEDULER, cause=found.whole or message, fix="see what it names")
    ordered = sorted(found.reasons.items(), key=lambda one: -one[1])
    listed = ", ".join(f"{count} {reason}" for reason, count in ordered)
    fix = next((fix for text, fix in _SAYS.items() if text in ordered[0][0]), "see the reasons")
    numbers = {"nodes": str(found.nodes), **{reason: str(count) for reason, count in ordered}}
    return Part(layer=Layer.SCHEDULER, cause=f"of {found.nodes} nodes {listed}", fix=fix, numbers=numbers)


def _starting(pod: Object, bundle: Bundle) -> Part:
    """A pod on a node whose containers don't all run."""
    events = bundle.events_of(pod)
    node = bundle.named("Node", pod["spec"]["nodeName"])
    if node is not None and not is_true(node, "Ready"):
        condition = conditions(node).get("Ready") or {}
        cause = (
            f"its {name_of(node)} is not ready: {condition.get('message') or condition.get('reason') or 'no report'}"
        )
        return Part(layer=Layer.NODE, cause=cause, fix="wait; the pool's repair or autoscaler replaces it")
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
        cause = "its containers run, and its readiness probe has not succeeded"
        return Part(layer=Layer.CONTAINER, cause=cause, fix=f"read `kubectl logs {pod['metadata']['name']}`")
    cause = f"the kubelet of node {pod['spec']['nodeName']} starts its containers"
    return Part(layer=Layer.CONTAINER, cause=cause, fix="wait; pulling a large image takes minutes")


def _container(pod: Object, status: Object) -> Part | None:
    waiting = (status.get("state") or {}).get("waiting") or {}
    reason, message = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
    name = status["name"]
    seen = [Evidence(f"container {name} of {name_of(pod)}", f"{reason} {message}")]
    if reason in _IMAGE:
        cause = f"image {status.get('image', '')} of container {name}: {message or reason}"
        fix = "check name, tag and registry; nodes may pull from the stack's own registry"
        return Part(layer=Layer.IMAGE, cause=cause, fix=fix, evidence=seen)
    if reason in _CONFIG:
        fix = "create what it names in the namespace, or correct the name"
        return Part(layer=Layer.CONTAINER, cause=f"container {name}: {message or reason}", fix=fix, evidence=seen)
    if reason == "CrashLoopBackOff":
        last = ((status.get("lastState") or {}).get("terminated")) or {}
        count, code = status.get("restartCount", 0), last.get("exitCode", "?")
        cause = f"container {name} ended {count} times, last with exit code {code} ({last.get('reason', 'Error')})"
        fix = f"read `kubectl logs {pod['metadata']['name']} -c {name} --previous`"
        if last.get("reason") == "OOMKilled":
            fix = "raise its memory limit"
        numbers = {"restarts": str(count), "exitCode": str(code)}
        return Part(layer=Layer.CONTAINER, cause=cause, fix=fix, numbers=numbers, evidence=seen)
    return None


_SANDBOX: Final = re.compile(r"failed to assign an IP address|failed to setup network", re.IGNORECASE)


def _event(pod: Object, event: Object) -> Part | None:
    reason, message = str(event["reason"]), " ".join(str(event.get("message") or "").split())
    seen = [Evidence(f"event {reason} of {name_of(pod)} at {moment(event)}", message)]
    if reason in _MOUNT:
        fix = "create what it names, or correct the name in `volumes`"
        if reason == "FailedAttachVolume":
            fix = "wait until the pod that has the volume has stopped, or use a claim with ReadWriteMany"
        return Part(layer=Layer.VOLUME, cause=message, fix=fix, evidence=seen)
    if reason == "FailedCreatePodSandBox":
        fix = "wait; if it stays, the node has no free addresses: look at the pods of the VPC CNI"
        cause = "the node can't give it a network" if _SANDBOX.search(message) else "the node can't create its sandbox"
        return Part(layer=Layer.NODE, cause=f"{cause}: {message}", fix=fix, evidence=seen)
    if reason == "Pulling":
        fix = "wait: an image of 10 GB takes minutes on a new node"
        return Part(layer=Layer.IMAGE, cause=message, fix=fix, evidence=seen)
    if reason == "Unhealthy":
        fix = f"read `kubectl logs {pod['metadata']['name']}`, or give it more time to start (`startupProbe`)"
        return Part(layer=Layer.CONTAINER, cause=message, fix=fix, evidence=seen)
    return None
