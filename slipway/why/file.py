"""What would hold a manifest after the API server has accepted it, by the settings of the stack: a pure function over
the checks of workloads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice, product
from typing import Any, Final

from components.admission import kinds
from components.admission.isolation import NODE
from components.workloads.checks.fit import (
    capacity_problems,
    choice,
    fits_in_share,
    need,
    node_problems,
    share_of,
    share_problems,
)
from components.workloads.checks.jobs import lifetime_problems
from components.workloads.target import PRIORITIES, Target
from slipway.why import beside, capacity, schema, served
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.judge import is_queued, label
from slipway.why.pods import claims_of
from slipway.why.podsets import PodSet
from slipway.why.runtimes import all_podsets, runtime_problems
from spec.jobs import PODSET, PRIORITY, QUEUE
from spec.pools import PoolSpec, keys
from spec.pools.allocatable import WHOLE, Amounts, allocatable, nodes_of
from spec.pools.allocatable import fitting as pods_in
from spec.quantities import readable
from spec.settings.problems import Problem

_RUN_BY_JOBS: Final = ("Never", "OnFailure")
_RESTARTS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("Job", "CronJob", "ScaledJob"), _RUN_BY_JOBS),
    # JobSet's webhook writes OnFailure if there is none (jobset v0.12.0, pkg/webhooks/jobset_webhook.go, Default).
    "JobSet": (*_RUN_BY_JOBS, ""),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet"), ("Always", "")),
}
"""What `restartPolicy` may be, by kind; empty: absent (kubernetes 1.36, pkg/apis/batch and apps, validation)."""
_WAYS: Final = 10_000
"""Choices of a pool for each pod set, beyond which none is tried."""


@dataclass(frozen=True)
class Finding:
    """One thing that would hold it."""

    layer: Layer
    problem: Problem


def findings(manifest: Object, target: Target, others: Sequence[Object] = ()) -> list[Finding]:
    """What would hold a manifest besides the rules of the API server (`slipway.why.judge`), the layers in order.

    Args:
        manifest: The object.
        target: What the stack offers in its namespace.
        others: The other objects of its file: claims may be among them.
    """
    kind = str(manifest.get("kind"))
    found = [Finding(Layer.ADMISSION, one) for one in schema.kind_problems(manifest, target)]
    if found:
        return found
    refused = (
        *schema.field_problems(manifest),
        *served.features(manifest),
        *runtime_problems(manifest, target, others),
    )
    found = [Finding(Layer.ADMISSION, one) for one in refused]
    found += _queue(kind, manifest, target)
    found += [Finding(Layer.CONTROLLER, one) for one in served.metrics(manifest, target)]
    found += [Finding(Layer.VOLUME, one) for one in served.classes(manifest, target)]
    found += [Finding(Layer.VOLUME, one) for one in beside.unbound(manifest, target, others)]
    groups = all_podsets(manifest, target, others)
    for group in groups:
        found += _pods(kind, manifest, group, target)
        found += [Finding(layer, one) for layer, one in beside.missing(group, target, others)]
        found += [Finding(Layer.VOLUME, one) for one in _volumes(kind, manifest, group, target, others)]
        found += [Finding(Layer.SCHEDULER, one) for one in beside.devices(group, others)]
    found += _sizes(kind, manifest, groups, target)
    order = list(Layer)
    return sorted(found, key=lambda one: order.index(one.layer))


def notes(manifest: Object, target: Target, others: Sequence[Object] = ()) -> list[Problem]:
    """What need not hold it: nodes that don't outlast its deadline, pools of its queue on which it doesn't fit, and a
    later rollout."""
    kind, found = str(manifest.get("kind")), list[Problem]()
    groups = all_podsets(manifest, target, others)
    found += _rollout(kind, manifest, groups, target)
    for group in groups:
        for path, value in _deadlines(kind, manifest):
            found += lifetime_problems(path, value, group.spec, target)
        found += _by_quota(kind, manifest, group, target)
    return found


def _by_quota(kind: str, manifest: Object, group: PodSet, target: Target) -> Iterator[Problem]:
    """Kueue gives pods the first pool with quota for them. It reads the pool that they select and their tolerations, no
    other label and no size of a node (kueue v0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go)."""
    if not is_queued(kind, manifest, target):
        return
    spec = with_tolerations(kind, manifest, group.spec, target)
    named, wanted = choice(spec, target).named, need(spec)
    shares = target.shares
    offered = {
        name: pool
        for name, pool in target.pools.items()
        if shares is None or (name in shares and fits_in_share(pool, shares[name], wanted))
    }
    fitting = {name for name, wrong in usable(kind, manifest, group, target).items() if not wrong and name in offered}
    bare, devices = {"tolerations": spec["tolerations"]}, {name: Decimal(1) for name in wanted if "/" in name}
    others = [
        name
        for name, pool in offered.items()
        if name not in fitting
        and (not named or name in named)
        and not list(node_problems(group.name, bare, pool, devices))
    ]
    if fitting and others:
        rule = f"Kueue goes by quota, and may give the pods pool {', '.join(others)}, on whose nodes they can't run"
        fix = f"Select {keys.POOL}: {' or '.join(sorted(fitting))}."
        yield Problem(f"{group.name}.nodeSelector", rule, spec.get("nodeSelector"), fix)


def beyond_share(manifest: Object, target: Target) -> list[Problem]:
    """Pods of a queued object that never run at once, because the team's share of every pool is too small."""
    kind = str(manifest.get("kind"))
    sizes = _sizes(kind, manifest, all_podsets(manifest, target), target) if is_queued(kind, manifest, target) else ()
    return [one.problem for one in sizes if one.layer is Layer.QUOTA]


def _deadlines(kind: str, manifest: Object) -> Iterator[tuple[str, int | None]]:
    """Path and value of each deadline of a job."""
    spec = manifest.get("spec") or {}
    holders = {"spec": spec}
    if kind == "CronJob":
        holders = {"spec.jobTemplate.spec": (spec.get("jobTemplate") or {}).get("spec") or {}}
    elif kind in {one.kind for one in kinds.OPERATED}:
        holders = {"spec.runPolicy": spec.get("runPolicy") or {}}
    elif kind == "JobSet":
        holders = {
            f"spec.replicatedJobs[{one.get('name')}].template.spec": (one.get("template") or {}).get("spec") or {}
            for one in spec.get("replicatedJobs") or ()
        }
    for path, holder in holders.items():
        value = holder.get("activeDeadlineSeconds")
        yield f"{path}.activeDeadlineSeconds", value if isinstance(value, int) else None


def usable(kind: str, manifest: Object, group: PodSet, target: Target) -> dict[str, list[Problem]]:
    """By pool that the pods select: what keeps them from its nodes, with the tolerations that they will get."""
    spec = with_tolerations(kind, manifest, group.spec, target)
    wanted = need(spec)
    return {
        name: list(node_problems(group.name, spec, pool, wanted)) for name, pool in choice(spec, target).pools.items()
    }


def with_tolerations(kind: str, manifest: Object, spec: Object, target: Target) -> dict[str, Any]:
    """The spec with the tolerations that Kueue and the API server add (`components.admission.placement`)."""
    if is_queued(kind, manifest, target):
        added = [one.manifest for pool in target.pools.values() for one in pool.tolerations if one.key != keys.GPU]
    elif kind != "Pod" and need(spec).get(keys.GPU):
        added = [{"key": keys.GPU, "operator": "Exists"}]
    else:
        added = []
    return {**spec, "tolerations": [*(spec.get("tolerations") or ()), *added]}


def _queue(kind: str, manifest: Object, target: Target) -> Iterator[Finding]:
    queue, priority = label(kind, manifest, QUEUE), label(kind, manifest, PRIORITY)
    spec = manifest.get("spec") or {}
    suspended = bool(spec.get("suspend") or (spec.get("runPolicy") or {}).get("suspend"))
    if kind != "CronJob" and suspended and not is_queued(kind, manifest, target):
        rule, fix = "it starts when somebody resumes it: no queue does", f"Remove it, or set the label {QUEUE}."
        yield Finding(Layer.CONTROLLER, Problem("spec.suspend", rule, True, fix))
    if target.queue is not None and queue not in ("", target.queue, *target.aliases):
        rule, fix = f"namespace {target.namespace} has no such LocalQueue", f"Write {target.queue}."
        yield Finding(Layer.QUEUE, Problem(f"metadata.labels[{QUEUE}]", rule, queue, fix))
    if target.queue is not None and priority and priority not in target.priorities:
        yield Finding(Layer.QUEUE, _priority(f"metadata.labels[{PRIORITY}]", priority, target))


def _priority(path: str, given: str, target: Target) -> Problem:
    rule = "it must be a priority class of the platform that the team may use"
    return Problem(path, rule, given, f"Use one of {', '.join(target.priorities)}.")


def _topology(group: PodSet, pools: Collection[str], target: Target) -> Iterator[Finding]:
    """Kueue admits pods that ask for a topology, of any kind, to flavors that have one (kueue v0.19.2,
    pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS)."""
    notes = group.metadata.get("annotations") or {}
    asked = [key for key in notes if key.startswith(PODSET) and key.endswith("topology")]
    if asked and target.by_topology is not None and pools and target.by_topology.isdisjoint(pools):
        at = f"{group.name}.metadata.annotations[{asked[0]}]"
        rule = f"no flavor of {', '.join(sorted(pools))} has a topology, so the queue never admits these pods"
        fix = "Remove the annotation; `queues.topology` places jobs by the network, on EFA pools of a fixed size."
        yield Finding(Layer.QUEUE, Problem(at, rule, notes[asked[0]], fix))


def _pods(kind: str, manifest: Object, group: PodSet, target: Target) -> Iterator[Finding]:
    spec = with_tolerations(kind, manifest, group.spec, target)
    priority = spec.get("priorityClassName")
    if priority in PRIORITIES and priority not in target.priorities:
        yield Finding(Layer.ADMISSION, _priority(f"{group.name}.priorityClassName", priority, target))
    restart = str(spec.get("restartPolicy") or "")
    if restart not in (allowed := _RESTARTS.get(kind, (restart,))):
        words = " or ".join(one for one in allowed if one)
        rule = f"the pods of a {kind} have the restart policy {words}, and no other; Always is the default of pods"
        yield Finding(Layer.ADMISSION, Problem(f"{group.name}.restartPolicy", rule, restart, f"Write {allowed[0]}."))
    pools = usable(kind, manifest, group, target)
    yield from _topology(group, pools, target)
    if not pools:
        fix = f"Select {keys.POOL}: one of {', '.join(capacity.for_work(target))}."
        rule = "a pool must have the labels that the pod selects"
        yield Finding(Layer.SCHEDULER, Problem(f"{group.name}.nodeSelector", rule, spec.get("nodeSelector"), fix))
    elif all(pools.values()):
        name, _ = capacity.nearest(spec, pools, target)
        more = capacity.offers(spec, target)
        yield from (Finding(Layer.SCHEDULER, replace(one, fix=one.fix + more)) for one in pools[name])
    else:
        yield from (Finding(Layer.SCHEDULER, one) for one in _apart(group, fits(kind, manifest, group, target)))


def _apart(group: PodSet, pools: Mapping[str, PoolSpec]) -> Iterator[Problem]:
    """More pods at once that have to be in different zones or on different nodes than their pools have."""
    affinity = (group.spec.get("affinity") or {}).get("podAntiAffinity") or {}
    labels = (group.metadata.get("labels") or {}).items()
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        matched = ((term.get("labelSelector") or {}).get("matchLabels") or {}).items()
        zones = {zone for pool in pools.values() for zone in pool.zones}
        nodes = sum(pool.settings.max for pool in pools.values())
        what, most = {beside.ZONE: ("zones", len(zones)), NODE: ("nodes", nodes)}.get(
            str(term.get("topologyKey")), ("", group.count)
        )
        if matched and matched <= labels and group.count > most:
            rule = f"its pods have to be in different {what}, and pool {', '.join(pools)} has {most}"
            fix = f"Run at most {most} at once, or write it as `preferredDuringSchedulingIgnoredDuringExecution`."
            yield Problem(f"{group.name}.affinity.podAntiAffinity", rule, group.count, fix)


def fits(kind: str, manifest: Object, group: PodSet, target: Target) -> dict[str, PoolSpec]:
    """The pools on whose nodes the pods fit; of those the team's, if it has a share of one."""
    found = {name: target.pools[name] for name, wrong in usable(kind, manifest, group, target).items() if not wrong}
    return {name: pool for name, pool in found.items() if name in (target.shares or found)} or found


def _volumes(kind: str, manifest: Object, group: PodSet, target: Target, others: Sequence[Object]) -> Iterator[Problem]:
    yield from beside.apart(group, fits(kind, manifest, group, target), others)
    for one in others:
        if one.get("kind") == served.CLAIM and (name := one["metadata"].get("name")) in claims_of(group.spec):
            for wrong in (*served.classes(one, target), *beside.unbound(one, target, others)):
                yield replace(wrong, path=f"{group.name}.volumes, claim {name}: {wrong.path}")


# All pods at once: the pod sets of an object start together, or not at all.


@dataclass(frozen=True)
class _Set:
    """Pods of one pod set: what each requests, how many there are, and their pools."""

    name: str
    wanted: Amounts
    count: int
    pools: Mapping[str, PoolSpec]


def _set(one: PodSet, pools: Mapping[str, PoolSpec]) -> _Set:
    """Pods that share a node of their own count as one that needs all of it."""
    wanted: Amounts = need(one.spec)
    if not one.alone:
        return _Set(one.name, wanted, one.count, pools)
    whole = {**{name: amount * one.alone for name, amount in wanted.items()}, WHOLE: Decimal(1)}
    return _Set(one.name, whole, one.count // one.alone, pools)


def _sizes(kind: str, manifest: Object, groups: Sequence[PodSet], target: Target) -> list[Finding]:
    """All pods at once: against the share of the team, and the number of nodes of the pools; first each pod set, then
    all of them. What pods without requests get from the LimitRange of the namespace is not known here."""
    fitted = [(one, fits(kind, manifest, one, target)) for one in groups if one.count and need(one.spec)]
    sets = [_set(one, pools) for one, pools in fitted if pools]
    found = [each for one in sets for each in _amounts(one, target)]
    whole = is_queued(kind, manifest, target) or all(len(one.pools) == 1 for one in sets)
    return found or (list(_together(sets, target)) if whole and len(sets) > 1 else [])


def _amounts(one: _Set, target: Target) -> Iterator[Finding]:
    if target.shares is not None:
        shares, pools = target.shares, one.pools
        best = max(pools, key=lambda name: fits_in_share(pools[name], shares.get(name, 0), one.wanted))
        problems = share_problems(one.name, {best: pools[best]}, shares, one.wanted, one.count)
        yield from (Finding(Layer.QUOTA, each) for each in problems)
    for each in capacity_problems(one.name, list(one.pools.values()), one.wanted, one.count):
        yield Finding(Layer.POOL_LIMIT, each)


def _together(sets: Sequence[_Set], target: Target) -> Iterator[Finding]:
    """Pod sets that fit one by one and not together. Kueue gives all pods of a pod set one pool, and admits all sets or
    none (kueue.sigs.k8s.io, "Workload")."""
    ways = list(islice(product(*(one.pools for one in sets)), _WAYS))
    over = [_over_share(sets, way, target) for way in ways]
    limits = [_over_nodes(sets, way, target) for way, more in zip(ways, over, strict=True) if not more]
    found, layer, what = (limits, Layer.POOL_LIMIT, "`max` of the pool") if limits else (over, Layer.QUOTA, "the share")
    if len(ways) < _WAYS and all(found) and found[0] is not None:
        fix = f"Run fewer at the same time, or raise {what}."
        yield Finding(layer, replace(found[0], path=" + ".join(one.name for one in sets), fix=fix))


def _over_share(sets: Sequence[_Set], way: Sequence[str], target: Target) -> Problem | None:
    """What all pods request together beyond the team's share of a pool."""
    for pool in dict.fromkeys(way):
        own = [one for one, name in zip(sets, way, strict=True) if name == pool]
        share = (target.shares or {}).get(pool, 0)
        for resource, most in share_of(target.pools[pool], share).items() if target.shares is not None else ():
            parts = {one.name: one.wanted.get(resource, Decimal(0)) * one.count for one in own}
            asked = sum(parts.values(), Decimal(0))
            if asked > most:
                has = f"{readable(resource, most)} of {resource}"
                rule = f"pod sets start together, and the team's share of pool {pool} is {share}: {has}"
                listed = ", ".join(f"{name} {readable(resource, each)}" for name, each in parts.items() if each)
                return Problem("", rule, f"{readable(resource, asked)}: {listed}", "")
    return None


def _over_nodes(sets: Sequence[_Set], way: Sequence[str], target: Target) -> Problem | None:
    """The nodes that all pods need together, if a pool may not have as many."""
    for pool in dict.fromkeys(way):
        own = [one for one, name in zip(sets, way, strict=True) if name == pool]
        groups = [(one.wanted, one.count) for one in own]
        rooms = [
            one for one in allocatable(target.pools[pool]) if all(pods_in(one.amounts, each) for each, _ in groups)
        ]
        nodes = min((nodes_of(one, groups) for one in rooms), default=0)
        if nodes > (most := target.pools[pool].settings.max):
            rule = f"pod sets start together, and pool {pool} has at most {most} {'node' if most == 1 else 'nodes'}"
            listed = ", ".join(f"{one.count} of {one.name}" for one in own)
            return Problem("", rule, f"{nodes}: {listed}", "")
    return None


def _rollout(kind: str, manifest: Object, groups: Sequence[PodSet], target: Target) -> Iterator[Problem]:
    """A rolling update that starts a new pod before it ends an old one, if the old ones take all that there is."""
    for path, strategy, replicas, default, sets in _strategies(kind, manifest, groups):
        rolling = {**default, **(strategy.get("rollingUpdate") or strategy.get("rollingUpdateConfiguration") or {})}
        surge, lost = (_part(rolling[each], replicas, up=each == "maxSurge") for each in ("maxSurge", "maxUnavailable"))
        if strategy.get("type") == "Recreate" or lost or not surge or not replicas:
            continue
        more = [replace(one, count=one.count // replicas * (replicas + 1)) for one in sets]
        for one in [] if _sizes(kind, manifest, sets, target) else _sizes(kind, manifest, more, target)[:1]:
            rule = f"a rolling update starts a pod before it ends an old one, and would never end: {one.problem.rule}"
            fix = "Write `maxSurge: 0` and `maxUnavailable: 1`" + (
                ", or `type: Recreate`." if kind != "LeaderWorkerSet" else "."
            )
            yield Problem(path, rule, one.problem.value, fix)


_ROLLING: Final = {"maxSurge": "25%", "maxUnavailable": "25%"}


def _strategies(
    kind: str, manifest: Object, groups: Sequence[PodSet]
) -> Iterator[tuple[str, Object, int, Mapping[str, Any], Sequence[PodSet]]]:
    """Path, strategy, replicas, defaults and pod sets of each rollout of an object."""
    spec = manifest.get("spec") or {}
    replicas = int(spec.get("replicas", 1))
    if kind == "Deployment":
        yield "spec.strategy", spec.get("strategy") or {}, replicas, _ROLLING, groups
    elif kind == "LeaderWorkerSet":
        # lws v0.10.0, api/leaderworkerset/v1/leaderworkerset_types.go.
        default = {"maxSurge": 0, "maxUnavailable": 1}
        yield "spec.rolloutStrategy", spec.get("rolloutStrategy") or {}, replicas, default, groups
    elif kind == kinds.INFERENCE_SERVICE.kind:
        for one in groups:
            part = spec.get(one.name) or {}
            yield (
                f"spec.{one.name}.deploymentStrategy",
                part.get("deploymentStrategy") or {},
                one.count,
                _ROLLING,
                [one],
            )


def _part(value: Any, replicas: int, *, up: bool) -> int:
    """A number, or a percentage of the replicas, rounded as Deployments do (kubernetes.io, "Deployments")."""
    text = str(value)
    if not text.endswith("%"):
        return int(value)
    part = int(text.removesuffix("%")) * replicas
    return -(-part // 100) if up else part // 100
