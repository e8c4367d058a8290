"""What would hold a manifest after the API server has accepted it, by the settings of the stack: a pure function over
the checks of workloads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from components.admission import kinds
from components.workloads.checks.fit import (
    capacity_problems,
    choice,
    fits_in_share,
    need,
    node_problems,
    share_problems,
)
from components.workloads.checks.jobs import lifetime_problems, served_problems
from components.workloads.target import PRIORITIES, Target
from slipway.why import capacity, served
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.judge import is_queued, label
from slipway.why.pods import claims_of
from slipway.why.podsets import PodSet, podsets
from spec.jobs import PODSET, PRIORITY, QUEUE
from spec.pools import PoolSpec, keys
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Jobset, Katib, Kuberay, LeaderWorkerSet, MpiOperator, Trainer, TrainingOperator
from spec.settings.problems import Problem

_ADDONS: Final[Mapping[tuple[str, str], type[AddonSettings]]] = {
    (kind.group, kind.kind): addon
    for addon, served in (
        (Jobset, (kinds.JOB_SET,)), (LeaderWorkerSet, (kinds.LEADER_WORKER_SET,)), (Trainer, (kinds.TRAIN_JOB,)),
        (MpiOperator, (kinds.MPI_JOB,)), (Katib, (kinds.EXPERIMENT,)), (TrainingOperator, kinds.TRAINING),
        (Kuberay, kinds.RAY),
    )
    for kind in served
}  # fmt: skip
_ZONE: Final = "topology.kubernetes.io/zone"


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
    found = [Finding(Layer.ADMISSION, one) for one in _served(kind, manifest, target)]
    found += [Finding(Layer.ADMISSION, one) for one in served.features(manifest)]
    found += _queue(kind, manifest, target)
    found += [Finding(Layer.CONTROLLER, one) for one in served.metrics(manifest, target)]
    found += [Finding(Layer.VOLUME, one) for one in served.classes(manifest, target)]
    for group in podsets(manifest):
        found += _pods(kind, manifest, group, target)
        found += [Finding(Layer.VOLUME, one) for one in _claims(group, target, others)]
    order = list(Layer)
    return sorted(found, key=lambda one: order.index(one.layer))


def notes(manifest: Object, target: Target) -> list[Problem]:
    """What need not hold it: nodes that don't outlast its deadline, and pools of its queue on which it doesn't fit."""
    kind, found = str(manifest.get("kind")), list[Problem]()
    for group in podsets(manifest):
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
    found: list[Problem] = []
    for group in podsets(manifest) if is_queued(kind, manifest, target) else ():
        fitting = {
            name: target.pools[name] for name, wrong in usable(kind, manifest, group, target).items() if not wrong
        }
        amounts = _amounts(group, fitting, need(group.spec), target) if fitting else ()
        found += [one.problem for one in amounts if one.layer is Layer.QUOTA]
    return found


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


def _served(kind: str, manifest: Object, target: Target) -> Iterator[Problem]:
    # Katib and Seldon Core both have Experiments.
    addon = _ADDONS.get((str(manifest.get("apiVersion", "")).rpartition("/")[0], kind))
    if addon is not None:
        yield from served_problems(target, kind, addon)


def _queue(kind: str, manifest: Object, target: Target) -> Iterator[Finding]:
    queue, priority = label(kind, manifest, QUEUE), label(kind, manifest, PRIORITY)
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
    wanted = need(spec)
    priority = spec.get("priorityClassName")
    if priority in PRIORITIES and priority not in target.priorities:
        yield Finding(Layer.ADMISSION, _priority(f"{group.name}.priorityClassName", priority, target))
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
        fitting = {name: target.pools[name] for name, problems in pools.items() if not problems}
        yield from _amounts(group, fitting, wanted, target)
        yield from (Finding(Layer.SCHEDULER, one) for one in _apart(group, fitting))


def _apart(group: PodSet, pools: Mapping[str, PoolSpec]) -> Iterator[Problem]:
    """More pods at once that have to be in different zones than their pools have zones."""
    affinity = (group.spec.get("affinity") or {}).get("podAntiAffinity") or {}
    labels = (group.metadata.get("labels") or {}).items()
    zones = {zone for pool in pools.values() for zone in pool.zones}
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        matched = ((term.get("labelSelector") or {}).get("matchLabels") or {}).items()
        if term.get("topologyKey") == _ZONE and matched and matched <= labels and group.count > len(zones):
            rule = f"its pods have to be in different zones, and pool {', '.join(pools)} has {len(zones)}"
            fix = f"Run at most {len(zones)} at once, or write it as `preferredDuringSchedulingIgnoredDuringExecution`."
            yield Problem(f"{group.name}.affinity.podAntiAffinity", rule, group.count, fix)


def _amounts(group: PodSet, pools: Mapping[str, PoolSpec], wanted: Any, target: Target) -> Iterator[Finding]:
    """All pods at once: against the share of the team in one of the pools, and the number of nodes of all. What pods
    without requests get from the LimitRange of the namespace is not known here."""
    if not wanted:
        return
    if target.shares is not None:
        shared = {name: pool for name, pool in pools.items() if name in target.shares} or pools
        shares = target.shares
        best = max(shared, key=lambda name: fits_in_share(shared[name], shares.get(name, 0), wanted))
        problems = share_problems(group.name, {best: shared[best]}, target.shares, wanted, group.count)
        yield from (Finding(Layer.QUOTA, one) for one in problems)
    for one in capacity_problems(group.name, list(pools.values()), wanted, group.count):
        yield Finding(Layer.POOL_LIMIT, one)


def _claims(group: PodSet, target: Target, others: Sequence[Object]) -> Iterator[Problem]:
    """Claims that neither the platform nor the file makes."""
    made = {
        str((one.get("metadata") or {}).get("name")) for one in others if one.get("kind") == "PersistentVolumeClaim"
    }
    for name in claims_of(group.spec):
        if name not in made | set(target.claims.values()):
            known = ", ".join(sorted(target.claims.values()))
            rule = "the platform makes no claim of that name, and neither does the file"
            yield Problem(f"{group.name}.volumes", rule, name, f"Use one of {known}, or create the claim.")
