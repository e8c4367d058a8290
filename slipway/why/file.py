"""What would hold a manifest after the API server has accepted it, by the settings of the stack: a pure function over
the checks of workloads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from components.admission import kinds
from components.admission.isolation import NODE
from components.workloads.checks.fit import (
    ZONE,
    Demand,
    choice,
    fits_in_share,
    misfits,
    need,
    node_problems,
    together,
)
from components.workloads.checks.jobs import lifetime_problems
from components.workloads.checks.pods import writes
from components.workloads.target import PRIORITIES, Target
from slipway.why import beside, capacity, schema, served
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.judge import is_queued, label
from slipway.why.podsets import PodSet
from slipway.why.runtimes import all_podsets, runtime_problems
from slipway.why.table import Finding, finding
from spec.jobs import DO_NOT_DISRUPT, PODSET, PRIORITY, QUEUE
from spec.pools import PoolSpec, keys
from spec.pools.allocatable import WHOLE
from spec.pricing.pods import deadline
from spec.settings.problems import Problem

_RUN_BY_JOBS: Final = ("Never", "OnFailure")
RESTARTS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("Job", "CronJob", "ScaledJob"), _RUN_BY_JOBS),
    # JobSet's webhook writes OnFailure if there is none (jobset v0.12.0, pkg/webhooks/jobset_webhook.go, Default).
    "JobSet": (*_RUN_BY_JOBS, ""),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet"), ("Always", "")),
}
"""What `restartPolicy` may be, by kind; empty: absent (kubernetes 1.36, pkg/apis/batch and apps, validation)."""


def findings(manifest: Object, target: Target, others: Sequence[Object] = ()) -> list[Finding]:
    """What would hold a manifest besides the rules of the API server (`slipway.why.judge`), the layers in order.

    Args:
        others: The other objects of its file: claims may be among them.
    """
    if found := list(schema.kind_problems(manifest, target)):
        return found
    found += [*schema.field_problems(manifest), *served.features(manifest), *_queue(manifest, target)]
    found += [*runtime_problems(manifest, target, others), *served.metrics(manifest, target)]
    found += served.classes(manifest, target, others)
    groups = all_podsets(manifest, target, others)
    for group in groups:
        found += [*_pods(manifest, group, target), *beside.missing(group, target, others)]
        found += beside.volumes(group, fits(manifest, group, target), target, others)
    found += _sizes(manifest, groups, target)
    order = list(Layer)
    return sorted(found, key=lambda one: order.index(one.layer))


def notes(manifest: Object, target: Target, others: Sequence[Object] = ()) -> list[Problem]:
    """What need not hold it: nodes that don't outlast its deadline, pools of its queue on which it doesn't fit, a later
    rollout, and nodes that are consolidated."""
    groups = all_podsets(manifest, target, others)
    found = [*_rollout(manifest, groups, target), *_unsaved(manifest, groups, target)]
    for group in groups:
        found += lifetime_problems("activeDeadlineSeconds", deadline(manifest), group.spec, target)
        found += [*_by_quota(manifest, group, target), *_moved(manifest, group, target)]
    return found


UNSAVED_HOURS: Final = 8  # of a job on several GPUs that may write nothing: a working day


def _unsaved(manifest: Object, groups: Sequence[PodSet], target: Target) -> Iterator[Problem]:
    """A long job on several GPUs that writes to no claim: what it has done is lost with any of its nodes."""
    hours = Decimal(deadline(manifest) or 0) / 3600
    gpus = sum(need(one.spec).get(keys.GPU, Decimal(0)) * one.count for one in groups)
    if (
        manifest.get("kind") in _JOBS
        and gpus > 1
        and hours > UNSAVED_HOURS
        and not any(writes(one.spec) for one in groups)
    ):
        fields = {
            "gpus": f"{gpus:f}",
            "hours": f"{hours:.0f}",
            "claim": target.claims.get("checkpoints", "checkpoints"),
        }
        yield finding("unsaved", f"{groups[0].name}.volumes", None, **fields).problem


_JOBS: Final = frozenset(one.kind for one in (*kinds.JOBS, kinds.TRAIN_JOB))


def _moved(manifest: Object, group: PodSet, target: Target) -> Iterator[Problem]:
    """Pods of a job on nodes that Karpenter consolidates are evicted and begin anew (karpenter.sh, "Disruption"); those
    on Spot may be at any time, and have checkpoints."""
    stay = DO_NOT_DISRUPT in (group.metadata.get("annotations") or {}) or manifest.get("kind") not in _JOBS
    pools = {} if stay else fits(manifest, group, target)
    own = (one for one in pools.values() if not one.managed and not one.may_be_spot)
    if names := [one.name for one in own if one.settings.disruption.consolidation_policy != "WhenEmpty"]:
        path = f"{group.name}.metadata.annotations[{DO_NOT_DISRUPT}]"
        yield finding("consolidated", path, None, pools=", ".join(names), key=DO_NOT_DISRUPT).problem


def _by_quota(manifest: Object, group: PodSet, target: Target) -> Iterator[Problem]:
    """Kueue gives pods the first pool with quota for them. It reads the pool that they select and their tolerations, no
    other label and no size of a node (kueue v0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go)."""
    if not is_queued(manifest, target):
        return
    spec = with_tolerations(manifest, group.spec, target)
    named, wanted = choice(spec, target).named, need(spec)
    shares = target.shares
    offered = {
        name: pool
        for name, pool in target.pools.items()
        if shares is None or (name in shares and fits_in_share(pool, shares[name], wanted))
    }
    fitting = {name for name, wrong in usable(manifest, group, target).items() if not wrong and name in offered}
    bare, devices = {"tolerations": spec["tolerations"]}, {name: Decimal(1) for name in wanted if "/" in name}
    others = [
        name
        for name, pool in offered.items()
        if name not in fitting
        and (not named or name in named)
        and not list(node_problems(group.name, bare, pool, devices))
    ]
    if fitting and others:
        fields = {"pools": ", ".join(others), "key": keys.POOL, "fitting": " or ".join(sorted(fitting))}
        yield finding("by quota", f"{group.name}.nodeSelector", spec.get("nodeSelector"), **fields).problem


def beyond(manifest: Object, target: Target, *, updating: bool = False) -> list[Finding]:
    """Pods of an object that never run at once: the team's share is too small, if it is queued, or its pools; or those
    of a rollout, beside its old ones."""
    groups = all_podsets(manifest, target)
    found = [
        one for one in _sizes(manifest, groups, target) if one.layer is Layer.POOL_LIMIT or is_queued(manifest, target)
    ]
    return found or [Finding(Layer.QUOTA, one) for one in (_rollout(manifest, groups, target) if updating else ())]


def usable(manifest: Object, group: PodSet, target: Target) -> dict[str, list[Problem]]:
    """By pool that the pods select: what keeps them from its nodes, with the tolerations that they will get."""
    return misfits(group.name, with_tolerations(manifest, group.spec, target), target)


def with_tolerations(manifest: Object, spec: Object, target: Target) -> dict[str, Any]:
    """The spec with the tolerations that Kueue and the API server add (`components.admission.placement`)."""
    if is_queued(manifest, target):
        added = [
            one.manifest for pool in target.pools.values() for one in pool.tolerations if one.key not in keys.OF_PODS
        ]
    else:
        added = []
    # Kueue looks at a template, to which the API server adds nothing, and at a pod of its own as the server made it.
    # To a pod with claims of devices alone it adds none.
    if need({**spec, "resourceClaims": ()}).get(keys.GPU) and (
        manifest.get("kind") == "Pod" or not is_queued(manifest, target)
    ):
        added.append({"key": keys.GPU, "operator": "Exists"})
    return {**spec, "tolerations": [*(spec.get("tolerations") or ()), *added]}


def _queue(manifest: Object, target: Target) -> Iterator[Finding]:
    queue, priority = (label(manifest, key) for key in (QUEUE, PRIORITY))
    if target.queue is not None and queue not in ("", target.queue, *target.aliases):
        fields = {"namespace": target.namespace, "queue": target.queue}
        yield finding("no such queue", f"metadata.labels[{QUEUE}]", queue, **fields)
    if target.queue is not None and priority and priority not in target.priorities:
        known = ", ".join(target.priorities)
        yield finding("priority of the queue", f"metadata.labels[{PRIORITY}]", priority, known=known)


def _topology(group: PodSet, pools: Collection[str], target: Target) -> Iterator[Finding]:
    """Kueue admits pods that ask for a topology, of any kind, to flavors that have one (kueue v0.19.2,
    pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS)."""
    notes = group.metadata.get("annotations") or {}
    asked = [key for key in notes if key.startswith(PODSET) and key.endswith("topology")]
    if asked and target.by_topology is not None and pools and target.by_topology.isdisjoint(pools):
        at = f"{group.name}.metadata.annotations[{asked[0]}]"
        yield finding("no topology", at, notes[asked[0]], pools=", ".join(sorted(pools)))


def _pods(manifest: Object, group: PodSet, target: Target) -> Iterator[Finding]:
    spec = with_tolerations(manifest, group.spec, target)
    priority = spec.get("priorityClassName")
    if priority in PRIORITIES and priority not in target.priorities:
        known = ", ".join(target.priorities)
        yield finding("priority of the pods", f"{group.name}.priorityClassName", priority, known=known)
    restart = str(spec.get("restartPolicy") or "")
    if restart not in (allowed := RESTARTS.get(str(manifest["kind"]), (restart,))):
        fields = {"kind": manifest["kind"], "words": " or ".join(filter(None, allowed)), "first": allowed[0]}
        yield finding("restart policy", f"{group.name}.restartPolicy", restart or None, **fields)
    pools = usable(manifest, group, target)
    yield from _topology(group, pools, target)
    if not pools:
        fields = {"key": keys.POOL, "pools": ", ".join(capacity.for_work(target))}
        yield finding("no pool", f"{group.name}.nodeSelector", spec.get("nodeSelector"), **fields)
    elif all(pools.values()):
        _, wrong = capacity.nearest(spec, pools, target)
        more = capacity.offers(spec, target)
        yield from (Finding(Layer.SCHEDULER, replace(one, fix=one.fix + more)) for one in wrong)
    else:
        yield from _apart(group, fits(manifest, group, target))


def _apart(group: PodSet, pools: Mapping[str, PoolSpec]) -> Iterator[Finding]:
    """More pods at once that have to be in different zones or on different nodes than their pools have."""
    affinity = (group.spec.get("affinity") or {}).get("podAntiAffinity") or {}
    labels = (group.metadata.get("labels") or {}).items()
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        matched = ((term.get("labelSelector") or {}).get("matchLabels") or {}).items()
        zones = {zone for pool in pools.values() for zone in pool.zones}
        nodes = sum(pool.settings.max for pool in pools.values())
        what, most = {ZONE: ("zones", len(zones)), NODE: ("nodes", nodes)}.get(
            str(term.get("topologyKey")), ("", group.count)
        )
        if matched and matched <= labels and group.count > most:
            fields = {"what": what, "pools": ", ".join(pools), "most": most}
            yield finding("apart", f"{group.name}.affinity.podAntiAffinity", group.count, **fields)


def fits(manifest: Object, group: PodSet, target: Target) -> dict[str, PoolSpec]:
    """The pools on whose nodes the pods fit; of those the team's, if it has a share of one."""
    found = {name: target.pools[name] for name, wrong in usable(manifest, group, target).items() if not wrong}
    return {name: pool for name, pool in found.items() if name in (target.shares or found)} or found


# All pods at once: the pod sets of an object start together, or not at all.


def sets_of(manifest: Object, groups: Sequence[PodSet], target: Target) -> list[Demand]:
    """What pod sets request; pods that share a node of their own count as one that needs all of it."""
    found = []
    for one in groups:
        wanted = {name: amount * (one.alone or 1) for name, amount in need(one.spec).items()}
        whole = {WHOLE: Decimal(1)} if one.alone else {}
        pools = fits(manifest, one, target) if one.count else {}
        found.append(Demand(one.name, {**wanted, **whole}, one.count // (one.alone or 1), pools))
    return [one for one in found if one.count]


def _sizes(manifest: Object, groups: Sequence[PodSet], target: Target) -> list[Finding]:
    """All pods at once, against the team's shares and the number of nodes of the pools. What pods without requests get
    from the LimitRange of the namespace is not known here."""
    demands = [one for one in sets_of(manifest, groups, target) if one.wanted and one.pools]
    found = together(demands, target.shares, queued=is_queued(manifest, target))
    return [Finding(Layer.QUOTA if share else Layer.POOL_LIMIT, one) for share, one in found]


def _rollout(manifest: Object, groups: Sequence[PodSet], target: Target) -> Iterator[Problem]:
    """A rolling update starts a pod before it ends one, unless one may be unavailable (kubernetes.io, "Deployments"):
    it never ends if the old pods take all that there is. A LeaderWorkerSet does so with whole groups, if it is asked to
    (lws v0.10.0, api/leaderworkerset/v1: by default one may be unavailable, and none is added)."""
    kind, spec = manifest.get("kind"), manifest.get("spec") or {}
    services, sets = kind == kinds.INFERENCE_SERVICE.kind, kind == kinds.LEADER_WORKER_SET.kind
    for group in groups[: 1 if sets else None] if services or sets or kind == kinds.DEPLOYMENT.kind else ():
        path = f"{group.name}.deploymentStrategy" if services else "rolloutStrategy" if sets else "strategy"
        strategy = (spec.get(group.name) or {}).get("deploymentStrategy") if services else spec.get(path)
        rolling = (strategy or {}).get("rollingUpdateConfiguration" if sets else "rollingUpdate") or {}
        lost = str(rolling.get("maxUnavailable", 1 if sets else "25%"))
        count = int(spec.get("replicas", 1)) if sets else group.count
        part = lost.removesuffix("%")
        ends = int(part if part.isdecimal() else 0) * (count if "%" in lost else 100) // 100
        if ends or (strategy or {}).get("type") == "Recreate" or str(rolling.get("maxSurge")) in ("0", "0%"):
            continue
        added = {one.name: one.count // max(count, 1) if sets else int(one is group) for one in groups}
        more = [replace(one, count=one.count + added[one.name]) for one in groups]
        for one in _sizes(manifest, more, target):
            yield finding("rollout", f"spec.{path}", one.problem.value, rule=one.problem.rule).problem
