"""What would hold a manifest, by the settings of the stack alone: a pure function over the rules of workloads.

The API server evaluates its own rules (`slipway.why.manifests`); here are those that Python has too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.addons.kueue import FRAMEWORKS
from components.admission import kinds
from components.admission.isolation import PRIORITY_CLASS
from components.workloads.checks.fit import (
    capacity_problems,
    choice,
    fits_in_share,
    need,
    node_problems,
    share_problems,
)
from components.workloads.checks.jobs import lifetime_problems, served_problems
from components.workloads.checks.pods import image_problems
from components.workloads.target import Target
from slipway.why import capacity
from slipway.why.answer import Layer
from slipway.why.bundle import Object
from slipway.why.pods import claims_of
from slipway.why.podsets import PodSet, podsets
from spec.jobs import LONGEST, LONGEST_IDLE, LONGEST_KEPT, MAX_RETRIES, PRIORITY, QUEUE
from spec.pools import PoolSpec, keys
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Jobset, Kuberay, LeaderWorkerSet, MpiOperator, Trainer, TrainingOperator
from spec.settings.admission import Action, Admission
from spec.settings.problems import Problem

_ADDONS: Final[Mapping[str, type[AddonSettings]]] = {
    "JobSet": Jobset, "LeaderWorkerSet": LeaderWorkerSet, "TrainJob": Trainer, "MPIJob": MpiOperator,
    **dict.fromkeys((kind.kind for kind in kinds.TRAINING), TrainingOperator),
    **dict.fromkeys((kind.kind for kind in kinds.RAY), Kuberay),
}  # fmt: skip
_QUEUED: Final = frozenset(one.kind for one in (*kinds.JOBS, kinds.TRAIN_JOB))


@dataclass(frozen=True)
class Finding:
    """One thing that would hold it."""

    layer: Layer
    problem: Problem


def findings(manifest: Object, target: Target, rules: Admission, others: Sequence[Object] = ()) -> list[Finding]:
    """What would hold a manifest, the layers in order.

    Args:
        manifest: The object.
        target: What the stack offers in its namespace.
        rules: Which admission rules are on.
        others: The other objects of its file: claims may be among them.
    """
    kind = str(manifest.get("kind"))
    found = [Finding(Layer.ADMISSION, one) for one in _admission(kind, manifest, target, rules)]
    found += _queue(kind, manifest, target, rules)
    for group in podsets(manifest):
        found += _pods(kind, manifest, group, target, rules)
        found += [Finding(Layer.VOLUME, one) for one in _claims(group, target, others)]
    order = list(Layer)
    return sorted(found, key=lambda one: order.index(one.layer))


def notes(manifest: Object, target: Target) -> list[Problem]:
    """What would not hold it but may end it: nodes that don't outlast its deadline."""
    found: list[Problem] = []
    for group in podsets(manifest):
        for path, value, *_ in _bounds(str(manifest.get("kind")), manifest):
            if path.endswith("activeDeadlineSeconds"):
                found += lifetime_problems(path, value, group.spec, target)
    return found


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


def is_queued(kind: str, manifest: Object, target: Target) -> bool:
    """Whether Kueue queues it: by its label, or because it queues every object of the kind in namespaces of teams."""
    return target.queue is not None and (
        bool(_label(kind, manifest, QUEUE)) or FRAMEWORKS.get(kind) in (target.queued or ())
    )


def _label(kind: str, manifest: Object, key: str) -> str:
    metadata = manifest.get("metadata") or {}
    if kind == "CronJob":
        metadata = ((manifest.get("spec") or {}).get("jobTemplate") or {}).get("metadata") or {}
    return str((metadata.get("labels") or {}).get(key) or "")


def _admission(kind: str, manifest: Object, target: Target, rules: Admission) -> Iterator[Problem]:
    if kind in _ADDONS:
        yield from served_problems(target, kind, _ADDONS[kind])
    denied = rules.queue_name is Action.DENY and target.queue is not None
    if denied and kind in _QUEUED and not is_queued(kind, manifest, target):
        rule = "jobs of a team are queued (rule queueName)"
        yield Problem(f"metadata.labels[{QUEUE}]", rule, None, f"Add the label {QUEUE}: {target.queue}.")
    if rules.job_bounds is Action.DENY:
        for path, value, maximum, required in _bounds(kind, manifest):
            if (value is None and required) or (value is not None and value > maximum):
                rule = "a job must be bounded (rule jobBounds)"
                yield Problem(path, rule, value, f"Set a number up to {maximum}.")


def _bounds(kind: str, manifest: Object) -> Iterator[tuple[str, int | None, int, bool]]:
    """Path, value, maximum and whether it is required, of each bound of a job."""
    spec = manifest.get("spec") or {}
    holder, prefix = spec, "spec"
    if kind == "CronJob":
        holder, prefix = (spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec"
    elif kind in {one.kind for one in kinds.OPERATED}:
        holder, prefix = spec.get("runPolicy") or {}, "spec.runPolicy"
    elif kind == "JobSet":
        yield "spec.ttlSecondsAfterFinished", spec.get("ttlSecondsAfterFinished"), LONGEST_KEPT, True
        for one in spec.get("replicatedJobs") or ():
            inner = (one.get("template") or {}).get("spec") or {}
            path = f"spec.replicatedJobs[{one.get('name')}].template.spec"
            yield f"{path}.activeDeadlineSeconds", inner.get("activeDeadlineSeconds"), LONGEST, True
        return
    elif kind == "TrainJob":
        yield "spec.activeDeadlineSeconds", spec.get("activeDeadlineSeconds"), LONGEST, True
        return
    elif kind == kinds.RAY_JOB.kind:
        # The deadline is that of each attempt, and the TTL that of the cluster.
        retries = int(spec.get("backoffLimit") or 0)
        yield "spec.activeDeadlineSeconds", spec.get("activeDeadlineSeconds"), LONGEST // (retries + 1), True
        yield "spec.backoffLimit", retries, MAX_RETRIES, False
        yield "spec.ttlSecondsAfterFinished", spec.get("ttlSecondsAfterFinished"), LONGEST_IDLE, False
        return
    elif kind != "Job":
        return
    yield f"{prefix}.activeDeadlineSeconds", holder.get("activeDeadlineSeconds"), LONGEST, True
    if holder.get("maxFailedIndexes") is None:
        yield f"{prefix}.backoffLimit", holder.get("backoffLimit"), MAX_RETRIES, True
    yield f"{prefix}.ttlSecondsAfterFinished", holder.get("ttlSecondsAfterFinished"), LONGEST_KEPT, kind != "CronJob"


def _queue(kind: str, manifest: Object, target: Target, rules: Admission) -> Iterator[Finding]:
    queue, priority = _label(kind, manifest, QUEUE), _label(kind, manifest, PRIORITY)
    if target.queue is not None and queue not in ("", target.queue):
        rule, fix = f"namespace {target.namespace} has no such LocalQueue", f"Write {target.queue}."
        yield Finding(Layer.QUEUE, Problem(f"metadata.labels[{QUEUE}]", rule, queue, fix))
    if target.queue is not None and priority and priority not in target.priorities:
        rule = "it must be a priority class of the platform that the team may use"
        fix = f"Use one of {', '.join(target.priorities)}."
        refused = rules.priority_class is Action.DENY and kind in {one.kind for one in PRIORITY_CLASS.kinds}
        layer = Layer.ADMISSION if refused else Layer.QUEUE
        yield Finding(layer, Problem(f"metadata.labels[{PRIORITY}]", rule, priority, fix))


def _pods(kind: str, manifest: Object, group: PodSet, target: Target, rules: Admission) -> Iterator[Finding]:
    spec = with_tolerations(kind, manifest, group.spec, target)
    wanted = need(spec)
    priority = spec.get("priorityClassName")
    if priority and priority not in target.priorities:
        rule = "it must be a priority class of the platform that the team may use"
        fix = f"Use one of {', '.join(target.priorities)}."
        yield Finding(Layer.ADMISSION, Problem(f"{group.name}.priorityClassName", rule, priority, fix))
    gpus = any(name.startswith(keys.NVIDIA) for name in wanted)
    pools = usable(kind, manifest, group, target)
    if not pools:
        fix = f"Select {keys.POOL}: one of {', '.join(target.pools)}."
        rule = "a pool must have the labels that the pod selects"
        yield Finding(Layer.SCHEDULER, Problem(f"{group.name}.nodeSelector", rule, spec.get("nodeSelector"), fix))
    elif all(pools.values()):
        refused = gpus and rules.gpu_pool is Action.DENY and kind in {one.kind for one in kinds.WITH_PODS}
        layer = Layer.ADMISSION if refused else Layer.SCHEDULER
        yield from (Finding(layer, one) for one in min(pools.values(), key=len))
    else:
        fitting = {name: target.pools[name] for name, problems in pools.items() if not problems}
        yield from _amounts(group, fitting, wanted, target)

    queued = is_queued(kind, manifest, target)
    for problem in capacity.problems(kind, group, target, rules, pools, queued=queued):
        yield Finding(Layer.ADMISSION, problem)
    if rules.image_tag is Action.DENY:
        for field in ("initContainers", "containers"):
            for container in spec.get(field) or ():
                path = f"{group.name}.{field}.{container.get('name')}.image"
                found = image_problems(path, str(container.get("image") or ""))
                yield from (Finding(Layer.ADMISSION, each) for each in found)


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
