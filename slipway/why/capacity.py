"""Why no node appears for a pod that fits a pool: limits, EC2, quotas of the account, nodes that are starting."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from components.workloads.checks.fit import choice, misfits, need, node_values
from components.workloads.target import Target
from slipway.why import messages
from slipway.why.answer import Evidence, Layer, Part
from slipway.why.bundle import Bundle, Object, conditions, moment, name_of, reporter
from slipway.why.table import part_of, place, said
from spec.pools import PoolSpec, keys
from spec.pools.start import launch_seconds
from spec.quantities import duration
from spec.settings.pools import Role
from spec.settings.problems import Problem

REMEMBERED: Final = timedelta(minutes=3)
"""How long Karpenter does not ask EC2 again for what it refused (karpenter-provider-aws v1.14.1, pkg/cache/cache.go,
UnavailableOfferingsTTL): a pod that is created meanwhile waits for an error from before."""
AUTOSCALER: Final = "cluster-autoscaler"
KARPENTER: Final = "karpenter"
_CODE: Final = re.compile(r"with fleet error\(s\), (.*)", re.DOTALL)


def reported(pod: Object, bundle: Bundle) -> Part | None:
    """What the autoscaler that owns the pools of a pod without a node last said of it: the other one knows no group or
    pool for it, and says so again and again. Where both may own them, one that can help comes first."""
    owners, last = _owners(pod, bundle), dict[str, Object]()
    for event in reversed(bundle.events_of(pod)):
        last.setdefault(reporter(event), event)
    found = (_of_event(pod, event, bundle) for by, event in last.items() if by in owners)
    return min((part for part in found if part is not None), key=lambda part: part.never, default=None)


def _owners(pod: Object, bundle: Bundle) -> set[str]:
    """Who may add a node for a pod: the Cluster Autoscaler to managed node groups, Karpenter to its NodePools."""
    names = _candidates(pod, bundle)
    if bundle.target and names:
        return {AUTOSCALER if bundle.target.pools[name].managed else KARPENTER for name in names}
    return {KARPENTER} if any(map(partial(bundle.named, "NodePool"), names)) else {KARPENTER, AUTOSCALER}


def _of_event(pod: Object, event: Object, bundle: Bundle) -> Part | None:
    message = str(event.get("message") or "")
    seen = [Evidence(f"event {event['reason']} of {name_of(pod)} from {reporter(event)} at {moment(event)}", message)]
    if reporter(event) == AUTOSCALER:
        part = _autoscaler(pod, str(event["reason"]), message, bundle)
    elif event["reason"] == "Nominated":
        part = _nominated(messages.nominated(message), bundle)
    else:
        part = _karpenter(pod, message, bundle) if event["reason"] == "FailedScheduling" else None
    return part.seen(*seen) if part else None


def _autoscaler(pod: Object, reason: str, message: str, bundle: Bundle) -> Part | None:
    if reason == "TriggeredScaleUp":
        return part_of("node added by the Cluster Autoscaler", message=message)
    return unfit(pod["spec"], bundle) or said("autoscaler", message)


def _karpenter(pod: Object, message: str, bundle: Bundle) -> Part | None:
    # Karpenter compares limits before selectors and taints: it names full pools that the pod could not use anyway.
    if (wrong := unfit(pod["spec"], bundle)) is not None:
        return wrong
    fitting = _candidates(pod, bundle)
    if pools := [name for each in messages.LIMIT.findall(message) if (name := _pool(each, fitting))]:
        most = _maximum(pools, bundle)
        counts = f" ({most['limit']} nodes)" if most else ""
        return part_of("limit of a NodePool", {"pool": ", ".join(pools), **most}, first=pools[0], counts=counts)
    own = [each for each in messages.clauses(message) if not _of_another(each, fitting, bundle)]
    short = any(map(messages.OFFERING.search, own))
    # Types that EC2 has just refused are unknown to Karpenter for three minutes; of those left it says they are small.
    small = any(map(messages.RESOURCES.search, own))
    if short or (small and bundle.target is not None) or not own:
        which = f" pool {', '.join(fitting)}" if fitting else " the pool"
        large = " that are large enough" if small and not short else ""
        left = "" if own else ", and Karpenter leaves it out until it tries again after minutes"
        if not own and bundle.target is None:
            left += "; or there is no NodePool of that name"
        return refused_launches(pod, bundle) or part_of("types refused", what=f"{which}{large}{left}")
    if small:
        return refused_launches(pod, bundle) or part_of("no type large enough")
    # The pool to which Karpenter came closest says why.
    closest = min(own, key=lambda each: place("karpenter", each))
    found = said("karpenter", closest)
    return found if found is None or found.never else refused_launches(pod, bundle) or found


def _of_another(clause: str, fitting: Sequence[str], bundle: Bundle) -> bool:
    """Whether a clause concerns pools that the pod does not ask for."""
    wanted = messages.keys_of(clause)
    if bundle.target is None or not fitting:
        # Of a pod that selects a pool by name, every other pool says that it is not that one.
        return keys.POOL in wanted
    if clause.startswith("did not tolerate taint"):
        return True
    pools = bundle.target.pools.values()
    known = {key for pool in pools for key in (*pool.labels, *node_values(pool))} | {keys.NODE_POOL}
    return bool(wanted) and known.issuperset(wanted)


def _pool(name: str, fitting: Sequence[str]) -> str:
    """The pool of a NodePool among those that a pod may use: its name, or of a fallback (`POOL-FALLBACK`) the first
    part of it. Empty for another pool; itself if nothing is known."""
    if not fitting:
        return name
    return next((each for each in fitting if name == each or name.startswith(f"{each}-")), "")


def _maximum(pools: list[str], bundle: Bundle) -> dict[str, str]:
    spec = bundle.target.pools.get(pools[0]) if bundle.target else None
    return {"limit": str(spec.settings.max)} if spec else {}


def _nominated(names: Mapping[str, str], bundle: Bundle) -> Part | None:
    claim = names.get("nodeclaim")
    if claim is None:
        return part_of("nominated a node", node=names.get("node", ""))
    found = bundle.named("NodeClaim", claim)
    if found is not None:
        return _expected(found, of_claim(found), bundle)
    failed = bundle.events_about("NodeClaim", claim)
    if failed and failed[-1]["reason"] in _REFUSED:
        return _launch_error(str(failed[-1]["message"]), failed[-1])
    return part_of("nominated a node claim", claim=claim)


_REFUSED: Final = frozenset({"InsufficientCapacityError", "NodeClassNotReady"})
"""Events of a NodeClaim that Karpenter gives up (karpenter v1.14.1, nodeclaim/lifecycle/events.go)."""
_LEFT_OUT: Final = "NoCompatibleInstanceTypes"
"""Event of a NodePool without a type that EC2 has not just refused (provisioning/scheduling/events.go)."""


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
            return _launch_error(text, None).seen(*seen)
        part = said("nodeclaim", step, {"name": name, "text": text})
        return replace(part, numbers={"nodeClaim": name}).seen(*seen) if part else None
    return None


def _expected(claim: Object, part: Part | None, bundle: Bundle) -> Part | None:
    """The same with the moment until which nodes of the pool usually take pods (`spec.pools.start`)."""
    name = (claim["metadata"].get("labels") or {}).get(keys.NODE_POOL)
    pools = bundle.target.pools.values() if bundle.target else ()
    spec = next((one for pool in pools for one in (pool, *pool.fallbacks) if one.name == name), None)
    if part is None or spec is None:
        return part
    took = launch_seconds(spec)
    until = datetime.fromisoformat(claim["metadata"]["creationTimestamp"]) + timedelta(seconds=took)
    said = f"its node usually takes pods from {until:%H:%M:%SZ} on, {duration(took)} after its launch"
    return replace(part, fix=f"{part.fix}; {said}", numbers={**part.numbers, "expected": f"{until:%Y-%m-%dT%H:%M:%SZ}"})


def refused_launches(pod: Object, bundle: Bundle) -> Part | None:
    """Why a pool that a pod may use gets no node, if Karpenter still acts on it: its NodePool is not ready, the newest
    error with which EC2 refused a node, or no type of the NodePool is left."""
    created = str(pod["metadata"].get("creationTimestamp") or "")
    since = f"{datetime.fromisoformat(created) - REMEMBERED:%Y-%m-%dT%H:%M:%SZ}" if created else ""
    names = _candidates(pod, bundle)
    for pool in bundle.of_kind("NodePool"):
        ready = conditions(pool).get("Ready") or {}
        if _pool(str(pool["metadata"]["name"]), names) and names and ready.get("status") == "False":
            text = str(ready.get("message") or ready.get("reason") or "")
            seen = Evidence(f"condition Ready of {name_of(pool)}", f"False {text}")
            return part_of("NodePool not ready", pool=name_of(pool), text=text).seen(seen)
    for event in reversed(bundle.events_about("NodeClaim", "")):
        pool_of = _pool(str(event["involvedObject"].get("name", "")).rpartition("-")[0], names)
        if event["reason"] in _REFUSED and moment(event) >= since and pool_of:
            return _launch_error(str(event["message"]), event)
    for event in reversed(bundle.events_about("NodePool", "")):
        name = _pool(str(event["involvedObject"].get("name", "")), names)
        if event["reason"] == _LEFT_OUT and moment(event) >= since and name:
            seen = Evidence(f"event {event['reason']} of nodepool/{name} at {moment(event)}", str(event["message"]))
            return part_of("every type refused", pool=name, message=event["message"]).seen(seen)
    return None


def _candidates(pod: Object, bundle: Bundle) -> list[str]:
    """Pools that a pod may use; none if that is unknown."""
    if bundle.target:
        found = misfits("pod", pod["spec"], bundle.target)
        return [name for name, problems in found.items() if not problems] or list(found)
    selected = (pod["spec"].get("nodeSelector") or {}).get(keys.POOL)
    return [selected] if selected else []


def _launch_error(message: str, event: Object | None) -> Part:
    match = _CODE.search(message)
    text = " ".join((match[1] if match else message).split())
    seen = [Evidence(f"event {event['reason']} at {moment(event)}", message)] if event else []
    part = said("ec2", text)
    assert part is not None  # noqa: S101 - its last row matches everything
    return part.seen(*seen)


def unfit(spec: Mapping[str, Any], bundle: Bundle) -> Part | None:
    """That no pool of the stack can ever run a pod, with what the nearest one lacks; None if one can."""
    if bundle.target is None:
        return None
    found = misfits("pod", spec, bundle.target)
    if not found:
        selected = ", ".join(f"{key}={value}" for key, value in (spec.get("nodeSelector") or {}).items())
        return part_of(
            "no pool has the labels", labels=selected or "by affinity", pools=", ".join(for_work(bundle.target))
        )
    if not all(found.values()):
        return None
    pool, (first, *_) = nearest(spec, found, bundle.target)
    numbers = {"pool": pool, "given": str(first.value)}
    fix = first.fix[:1].lower() + first.fix[1:] + offers(spec, bundle.target)
    cause = f"{first.rule} (given: {first.value})"
    return Part(layer=Layer.SCHEDULER, never=True, cause=cause, fix=fix, numbers=numbers)


def for_work(target: Target) -> list[str]:
    """Pools for workloads: those in which the team has a share, if it has one."""
    return [name for name, pool in _open(target).items() if pool.role is not Role.SYSTEM]


def _open(target: Target) -> Mapping[str, PoolSpec]:
    return {name: pool for name, pool in target.pools.items() if name in (target.shares or ())} or target.pools


def nearest(
    spec: Mapping[str, Any], found: Mapping[str, Sequence[Problem]], target: Target
) -> tuple[str, Sequence[Problem]]:
    """The pool that lacks least, and what it lacks: one of the zone and type that the pod selects, then one of
    which the team has a share, then one that has what the pod requests, to which only a toleration may be missing.
    More devices than any pool gives a pod are all that is said: without them, the others may not be missing."""
    devices = {name for name in need(spec) if name.startswith(keys.NVIDIA)}
    for name in () if spec.get("nodeSelector") or spec.get("affinity") else sorted(devices):
        most = {pool: _most(one, name, spec) for pool, one in _open(target).items()}
        pool, amount = max(most, key=lambda pool: most[pool]), int(need(spec)[name])
        if 0 < most[pool] < amount:
            rule = f"a pod can have at most {most[pool]} of {name}, on pool {pool}"
            fix = f"Request {most[pool]} for each of several pods: `slipway quickstart two-nodes` trains on two nodes."
            return pool, [Problem(f"pod.resources[{name}]", rule, amount, fix)]

    def lacks(name: str) -> tuple[bool | int, ...]:
        pool, paths = target.pools[name], [problem.path for problem in found[name]]
        elsewhere = any(".nodeSelector[" in path or ".nodeAffinity[" in path for path in paths)
        too_small = any(not path.endswith(".tolerations") for path in paths)
        asked = pool.role is Role.SYSTEM, elsewhere, name not in _open(target)
        has = devices.issubset(pool.resources), not devices or pool.gpu is not None
        return (*asked, too_small, *(not one for one in has), len(paths))

    best = min(found, key=lacks)
    return best, found[best]


def _most(pool: PoolSpec, device: str, spec: Mapping[str, Any]) -> int:
    """Of a device, what a pod can have on a node of the pool: a container uses one share of a GPU."""
    offered = pool.resources.get(device, 0)
    return min(offered, len(spec.get("containers", ()))) if pool.sharing else offered


def offers(spec: Mapping[str, Any], target: Target) -> str:
    """The pools with GPUs, as the end of a sentence, for a pod that requests some and selects no pool."""
    devices = {name for name in need(spec) if name.startswith(keys.NVIDIA)}
    if not devices or choice(spec, target).named:
        return ""
    listed = [
        f"{name} ({', '.join(f'{each} {count}' for each, count in pool.resources.items())}"
        f"{', one per container' if pool.sharing else ''})"
        for name, pool in _open(target).items()
        if pool.gpu is not None
    ]
    return f" The pools with GPUs are {', '.join(listed)}." if listed else " The team has no share of a pool with GPUs."


def nodes_of(pool: PoolSpec, bundle: Bundle) -> int | None:
    """Number of nodes of a pool; None if nodes can't be read."""
    nodes = list(bundle.of_kind("Node"))
    if not nodes:
        return None
    return sum(str((one["metadata"].get("labels") or {}).get(keys.POOL)) == pool.name for one in nodes)
