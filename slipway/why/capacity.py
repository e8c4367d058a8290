"""Why no node appears for a pod that fits a pool: limits, EC2, quotas of the account, nodes that are starting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from components.admission import kinds
from components.workloads.checks.fit import choice, need, node_problems
from components.workloads.checks.pods import spot_problems
from components.workloads.notebook import LABEL
from components.workloads.target import Target
from slipway.why import messages
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, conditions, moment, name_of, reporter
from slipway.why.podsets import PodSet
from spec.jobs import DO_NOT_DISRUPT
from spec.pools import PoolSpec, keys
from spec.settings.admission import Action, Admission
from spec.settings.problems import Problem

# What the rules for Spot refuse of a manifest: jobs without a claim, and pods that would not hear the notice.


_SAVED: Final = frozenset(one.kind for one in kinds.JOBS if one != kinds.RAY_JOB)
_EVICTED: Final = frozenset(one.kind for one in (*kinds.JOBS, *kinds.SERVERS))
"""Kinds of the rules `spotCheckpoint` and `spotEviction` (`components.admission.gpus`)."""
_KEPT: Final = re.compile(r"true|[0-9].*")
"""Values of the annotation with which Karpenter keeps a pod (karpenter v1.14.1, IsDoNotDisruptActive)."""


def problems(
    kind: str,
    group: PodSet,
    target: Target,
    rules: Admission,
    pools: Mapping[str, Sequence[Problem]],
    *,
    queued: bool,
) -> Iterator[Problem]:
    """What they refuse of the pods of a template.

    Args:
        kind: Kind of the manifest.
        group: The pods.
        target: What the stack offers.
        rules: Which rules are on.
        pools: Pools that the pods select, with what keeps them from each.
        queued: Whether Kueue queues the object: it may then assign any of the pools.
    """
    reached = target.pools
    if not choice(group.spec, target).named:
        left = queued and any(name.startswith(keys.NVIDIA) for name in need(group.spec))
        reached = {name: target.pools[name] for name, wrong in pools.items() if left and not wrong}
    there = replace(target, pools=reached)
    if rules.spot_checkpoint is Action.DENY and kind in _SAVED:
        yield from (one for one in spot_problems(group.name, group.spec, there) if one.path.endswith(".volumes"))
    if rules.spot_eviction is Action.DENY and kind in _EVICTED:
        yield from _kept(group, there)


def _kept(group: PodSet, target: Target) -> Iterator[Problem]:
    value = str((group.metadata.get("annotations") or {}).get(DO_NOT_DISRUPT) or "")
    spot = [name for name, pool in choice(group.spec, target).pools.items() if pool.may_be_spot]
    if spot and _KEPT.fullmatch(value) and LABEL not in (group.metadata.get("labels") or {}):
        rule = (
            f"the nodes of pool {', '.join(spot)} are Spot, and Karpenter does not evict pods with this annotation at "
            "the notice of an interruption (rule spotEviction)"
        )
        fix = "Remove the annotation, or select a pool that is not Spot."
        yield Problem(f"{group.name}.metadata.annotations[{DO_NOT_DISRUPT}]", rule, value, fix)


REMEMBERED: Final = timedelta(minutes=3)
"""How long Karpenter does not ask EC2 again for what it refused (karpenter-provider-aws v1.14.1, pkg/cache/cache.go,
UnavailableOfferingsTTL): a pod that is created meanwhile waits for an error from before."""
AUTOSCALER: Final = "cluster-autoscaler"
_CAPACITY: Final = (
    "wait, or add instance types or zones to the pool, or reserve capacity; administrators see EC2's error in "
    "`kubectl -n default get events`"
)
_AT_MAXIMUM: Final = re.compile(r"(\d+) max node group size reached")
"""cluster-autoscaler 1.36, core/scaleup/orchestrator/skippedreasons.go."""
_CODE: Final = re.compile(r"with fleet error\(s\), (.*)", re.DOTALL)


def reported(pod: Object, bundle: Bundle) -> Part | None:
    """What Karpenter and the Cluster Autoscaler report on a pod without a node: the newest event counts."""
    events = [one for one in bundle.events_of(pod) if reporter(one) in ("karpenter", AUTOSCALER)]
    if not events:
        return None
    event = events[-1]
    message = str(event.get("message") or "")
    seen = [Evidence(f"event {event['reason']} of {name_of(pod)} from {reporter(event)} at {moment(event)}", message)]
    if reporter(event) == AUTOSCALER:
        part = _autoscaler(str(event["reason"]), message)
    elif event["reason"] == "Nominated":
        part = _nominated(messages.nominated(message), bundle)
    else:
        part = _karpenter(pod, message, bundle)
    return part.seen(*seen) if part else None


def _autoscaler(reason: str, message: str) -> Part | None:
    if reason == "TriggeredScaleUp":
        fix = "wait: a GPU node takes up to ten minutes to boot and to advertise its GPUs"
        return Part(layer=Layer.NODE, cause=f"the Cluster Autoscaler adds a node ({message})", fix=fix)
    if _AT_MAXIMUM.search(message):
        fix = "wait until other pods end, or raise `pools.POOL.max` if the budget allows"
        return Part(layer=Layer.POOL_LIMIT, cause=f"the Cluster Autoscaler adds no node: {message}", fix=fix)
    return None


def _karpenter(pod: Object, message: str, bundle: Bundle) -> Part | None:
    # Karpenter compares limits before selectors and taints: it names full pools that the pod could not use anyway.
    may = set(_candidates(pod, bundle))
    if pools := [name for name in messages.limits_reached(message) if not may or name in may]:
        names = ", ".join(pools)
        return Part(
            layer=Layer.POOL_LIMIT,
            cause=f"Karpenter may add no node: the limits of pool {names} are reached{_counts(pools, bundle)}",
            fix=f"wait until other pods end, or raise `pools.{pools[0]}.max` if the budget allows",
            numbers={"pool": names, **_maximum(pools, bundle)},
        )
    if messages.lacks_offering(message):
        return refused_launches(pod, bundle) or Part(
            layer=Layer.EC2_CAPACITY,
            cause="EC2 has just refused the types of the pool in its zones, and Karpenter tries again after minutes",
            fix=_CAPACITY,
        )
    if messages.lacks_resources(message):
        # Types that EC2 has just refused are unknown to Karpenter for three minutes; of those left it says this.
        if (refused := refused_launches(pod, bundle)) is not None:
            return refused
        fitting = (
            [name for name, one in misfits(pod["spec"], bundle.target).items() if not one] if bundle.target else []
        )
        if fitting:
            cause = f"EC2 has just refused the types of pool {', '.join(fitting)} that are large enough"
            return Part(layer=Layer.EC2_CAPACITY, cause=cause, fix=_CAPACITY)
        cause = "no instance type of a pool that it may use is large enough"
        return Part(layer=Layer.SCHEDULER, cause=cause, fix="request less, or select a pool of larger nodes")
    return None


def _maximum(pools: list[str], bundle: Bundle) -> dict[str, str]:
    spec = bundle.target.pools.get(pools[0]) if bundle.target else None
    return {"limit": str(spec.settings.max)} if spec else {}


def _counts(pools: list[str], bundle: Bundle) -> str:
    found = _maximum(pools, bundle)
    return f" ({found['limit']} nodes)" if found else ""


def _nominated(names: Mapping[str, str], bundle: Bundle) -> Part | None:
    claim = names.get("nodeclaim")
    if claim is None:
        cause = f"Karpenter expects it on node {names.get('node', '')} that is starting or becomes free"
        return Part(layer=Layer.NODE, cause=cause, fix="wait")
    found = bundle.named("NodeClaim", claim)
    if found is not None:
        return of_claim(found)
    failed = bundle.events_about("NodeClaim", claim)
    if failed and failed[-1]["reason"] == "InsufficientCapacityError":
        return _launch_error(str(failed[-1]["message"]), failed[-1])
    fix = f"wait a few minutes; administrators see its state with `kubectl describe nodeclaim {claim}`"
    return Part(layer=Layer.NODE, cause=f"Karpenter launches node claim {claim} for it", fix=fix)


def of_claim(claim: Object) -> Part | None:
    """How far a NodeClaim has come; None if its node is ready (karpenter v1.14.1, nodeclaim/lifecycle)."""
    found, name = conditions(claim), claim["metadata"]["name"]
    for step in ("Launched", "Registered", "Initialized"):
        condition = found.get(step) or {"status": "Unknown", "message": "", "reason": ""}
        if condition["status"] == "True":
            continue
        text = str(condition.get("message") or condition.get("reason") or "no condition yet")
        seen = [Evidence(f"condition {step} of {name_of(claim)}", f"{condition['status']} {text}")]
        if step == "Launched" and condition.get("message"):
            part = _launch_error(text, None)
        else:
            cause = {
                "Launched": f"Karpenter requests an instance for node claim {name}",
                "Registered": f"the instance of node claim {name} runs and has not joined the cluster",
                "Initialized": f"the node of claim {name} has joined and is not ready: {text}",
            }[step]
            part = Part(layer=Layer.NODE, cause=cause, fix=_WAIT[step], numbers={"nodeClaim": name})
        return part.seen(*seen)
    return None


_WAIT: Final = {
    "Launched": "wait a minute",
    "Registered": "wait up to 15 minutes, after which Karpenter replaces it; the instance's console output has the "
    "errors of its start",
    "Initialized": "wait up to ten minutes; if a resource stays unregistered, look at the pods of its device plugin on "
    "that node",
}


def refused_launches(pod: Object, bundle: Bundle) -> Part | None:
    """The newest error with which EC2 refused a node of a pool that a pod may use, if Karpenter still acts on it."""
    created = str(pod["metadata"].get("creationTimestamp") or "")
    since = f"{datetime.fromisoformat(created) - REMEMBERED:%Y-%m-%dT%H:%M:%SZ}" if created else ""
    names = list(_candidates(pod, bundle))
    for event in reversed(bundle.events_about("NodeClaim", "")):
        pool = str(event["involvedObject"].get("name", "")).rpartition("-")[0]
        if event["reason"] == "InsufficientCapacityError" and moment(event) >= since and (not names or pool in names):
            return _launch_error(str(event["message"]), event)
    return None


def _candidates(pod: Object, bundle: Bundle) -> Iterator[str]:
    """Pools that a pod may use; none if that is unknown."""
    if bundle.target:
        found = misfits(pod["spec"], bundle.target)
        yield from ([name for name, problems in found.items() if not problems] or found)
    elif keys.POOL in (pod["spec"].get("nodeSelector") or {}):
        yield pod["spec"]["nodeSelector"][keys.POOL]


def _launch_error(message: str, event: Object | None) -> Part:
    match = _CODE.search(message)
    text = " ".join((match[1] if match else message).split())
    seen = [Evidence(f"event {event['reason']} at {moment(event)}", message)] if event else []
    if code := messages.quota_code(message):
        return Part(
            layer=Layer.AWS_QUOTA,
            cause=f"EC2 refuses the launch with {code}: {text}",
            fix="`slipway doctor --aws STACK` names the quota of the account; request an increase in Service Quotas",
            numbers={"error": code},
            evidence=seen,
        )
    if "InsufficientFreeAddressesInSubnet" in message:
        fix = "add zones to the pool: a subnet has no free addresses"
        return Part(layer=Layer.EC2_CAPACITY, cause=text, fix=fix, evidence=seen)
    return Part(
        layer=Layer.EC2_CAPACITY,
        cause=f"EC2 refuses the launch: {text}",
        fix="wait, or add instance types or zones to the pool, or reserve capacity",
        evidence=seen,
    )


def misfits(spec: Mapping[str, Any], target: Target) -> dict[str, list[Problem]]:
    """By pool that a pod selects: what keeps the pod from its nodes; nothing for a pool that could run it."""
    wanted = need(spec)
    found = choice(spec, target).pools
    return {name: list(node_problems("pod", spec, pool, wanted)) for name, pool in found.items()}


def nodes_of(pool: PoolSpec, bundle: Bundle) -> int | None:
    """Number of nodes of a pool; None if nodes can't be read."""
    nodes = list(bundle.of_kind("Node"))
    if not nodes:
        return None
    return sum(str((one["metadata"].get("labels") or {}).get(keys.POOL)) == pool.name for one in nodes)
