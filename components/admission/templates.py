"""Where each kind has its pods, labels and bounds, in CEL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from components.admission.kinds import RAY, RAY_CLUSTER, RAY_JOB, RAY_SERVICE, REPLICATED
from components.admission.rule import literal

O: Final = "dyn(object)"  # noqa: E741 - short, because every expression uses it
"""The object. `dyn`, because CEL's type checker would look for the fields of a Job in a Pod."""
KIND: Final = "request.kind.kind"
USER: Final = "request.userInfo.username"
_ACCOUNT: Final = "system:serviceaccount:"
BY_A_CONTROLLER: Final = (
    f"({USER}.startsWith('{_ACCOUNT}') && !{USER}.startsWith('{_ACCOUNT}' + request.namespace + ':'))"
)
"""Whether a controller asks. Only the API server gives names that begin with `system:`, and members have permissions in
their namespaces alone."""
OF_CRON_JOB: Final = (
    "(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.size() > 0 && "
    "object.metadata.ownerReferences.all(r, r.kind == 'CronJob' && r.apiVersion == 'batch/v1'))"
)
"""Whether a CronJob owns the object, and nothing else. The garbage collector deletes what names an owner that does not
exist, and the CronJob what its history doesn't keep."""
CHANGED: Final = "request.operation == 'CREATE' || !has(object.spec) || object.spec != oldObject.spec"
"""Whether the spec is new, or there is none: finalizers of objects older than a rule must still be removable."""


def changed(*fields: str) -> str:
    """Whether the spec is new, or one of these fields: `metadata.labels`."""
    parts = [CHANGED]
    for field in fields:
        new, old = (f"(has({each}.{field}) ? dyn({each}.{field}) : dyn(null))" for each in ("object", "oldObject"))
        parts.append(f"{new} != {old}")
    return " || ".join(parts)


def groups(each: str) -> str:
    """An expression over every replica group `g` of a job with groups, as a list."""
    return " : ".join(
        f"{KIND} == '{kind}' ? {O}.spec.{field}.map(r, {O}.spec.{field}[r]).map(g, {each})"
        for kind, field in REPLICATED.items()
    )


_RAY_SPECS: Final = {
    RAY_CLUSTER.kind: f"{O}.spec",
    RAY_SERVICE.kind: f"{O}.spec.rayClusterConfig",
    RAY_JOB.kind: f"{O}.spec.rayClusterSpec",
}


def ray(each: Callable[[str], str]) -> str:
    """An expression over the spec of the Ray cluster of an object, a list; empty for other kinds, and for a RayJob that
    names an existing cluster (`clusterSelector`), which is checked itself."""
    parts = [
        f"{KIND} == '{kind}'{f' && has({spec})' if kind == RAY_JOB.kind else ''} ? {each(spec)}"
        for kind, spec in _RAY_SPECS.items()
    ]
    return f"({' : '.join(parts)} : [])"


def workers(spec: str, each: str) -> str:
    """An expression over every worker group `g` of a Ray cluster, as a list."""
    return f"(has({spec}.workerGroupSpecs) ? {spec}.workerGroupSpecs.map(g, {each}) : [])"


def _heads(part: str) -> str:
    return ray(lambda spec: f"[{spec}.headGroupSpec.template{part}]")


def _submitters(part: str) -> str:
    template = f"{O}.spec.submitterPodTemplate"
    return f"({KIND} == '{RAY_JOB.kind}' && has({template}) ? [{template}{part}] : [])"


HEADS: Final = _heads(".spec")
"""Pod spec of the head of a Ray cluster, as a list."""
SUBMITTERS: Final = _submitters(".spec")
"""Spec of the pod that submits a RayJob, as a list, if its user gives one."""
_RAY: Final = literal([kind.kind for kind in RAY])
_LEADER: Final = f"{O}.spec.leaderWorkerTemplate"


def _pods(part: str) -> str:
    """A part of each pod template of an object, as a list; the whole template if the part is empty."""
    of_workers = ray(lambda spec: workers(spec, f"g.template{part}"))
    return (
        f"{KIND} == 'Pod' ? [{O}{part}] : "
        f"{KIND} == 'CronJob' ? [{O}.spec.jobTemplate.spec.template{part}] : "
        f"{KIND} == 'JobSet' ? {O}.spec.replicatedJobs.map(j, j.template.spec.template{part}) : "
        f"{KIND} == 'ScaledJob' ? [{O}.spec.jobTargetRef.template{part}] : "
        f"{KIND} == 'LeaderWorkerSet' ? [{_LEADER}.workerTemplate{part}] + "
        f"(has({_LEADER}.leaderTemplate) ? [{_LEADER}.leaderTemplate{part}] : []) : "
        f"{groups(f'g.template{part}')} : "
        f"{KIND} in {_RAY} ? {_heads(part)} + {of_workers} + {_submitters(part)} : "
        f"[{O}.spec.template{part}]"
    )


def _within(runtime: str) -> str:
    """Pod templates of a JobSet's spec that may be partial, each with a spec."""
    return (
        f"({runtime}.replicatedJobs.filter(j, has(j.template) && has(j.template.spec) && has(j.template.spec.template) "
        "&& has(j.template.spec.template.spec)).map(j, j.template.spec.template))"
    )


SPECS: Final = _pods(".spec")
"""Pod specs of an object."""
TEMPLATES: Final = _pods("")
"""Pod templates of an object, with their metadata."""
CONTAINERS: Final = (
    "variables.specs.map(s, s.containers + (has(s.initContainers) ? s.initContainers : []) + "
    "(has(s.ephemeralContainers) ? s.ephemeralContainers : []))"
)
"""Containers of each of the `specs`."""


_PATCHES: Final = (
    f"({KIND} == 'TrainingRuntime' ? [{O}.spec.template] : has({O}.spec.runtimePatches) ? {O}.spec.runtimePatches"
    ".filter(p, has(p.trainingRuntimeSpec) && has(p.trainingRuntimeSpec.template))"
    ".map(p, p.trainingRuntimeSpec.template) : [])"
)
"""JobSet templates of a TrainingRuntime, and what a TrainJob changes in them (trainer v2.3.0, CRD)."""
_JOBS: Final = (
    "(has(t.spec) && has(t.spec.replicatedJobs) ? "
    "t.spec.replicatedJobs.filter(j, has(j.template)).map(j, j.template) : [])"
)
_COMPONENTS: Final = (
    f"['predictor', 'transformer', 'explainer'].filter(p, p in {O}.spec).map(p, dyn({{'metadata': {O}.spec[p]}}))"
)
RUNTIMES: Final = ("TrainJob", "TrainingRuntime")
"""Kinds of the Trainer, whose pods are in the template of a JobSet or in patches of one."""
PARTIAL: Final = (
    f"({KIND} in {literal(list(RUNTIMES))} ? {_PATCHES}.filter(t, has(t.spec) && has(t.spec.replicatedJobs))"
    f".map(t, {_within('t.spec')}.map(p, p.spec)) : [])"
)
"""Pod specs of a kind of the Trainer, in lists: those of a patch have no containers that the runtime has."""
HOLDERS: Final = (
    f"{KIND} == 'Pod' ? [[{O}]] : "
    f"{KIND} in ['TrainJob', 'TrainingRuntime'] ? [[{O}], {_PATCHES}] + {_PATCHES}.map(t, {_JOBS}) + "
    f"{_PATCHES}.map(t, {_JOBS}.filter(j, has(j.spec) && has(j.spec.template)).map(j, j.spec.template)) : "
    f"{KIND} == 'InferenceService' ? [[{O}], {_COMPONENTS}] : "
    f"[[{O}], {TEMPLATES}, {KIND} == 'CronJob' ? [{O}.spec.jobTemplate] : "
    f"{KIND} == 'JobSet' ? {O}.spec.replicatedJobs.map(j, j.template) : []]"
)
"""Everything in an object that has `metadata`, itself included, in lists."""


def _labels(metadata: str) -> str:
    return f"(has({metadata}.labels) ? {metadata}.labels : {{}})"


_CRON: Final = f"{O}.spec.jobTemplate.metadata"
_REPLICA: Final = f"{O}.spec.template.metadata"
LABELS: Final = (
    f"{KIND} == 'CronJob' ? (has({_CRON}) ? {_labels(_CRON)} : {{}}) : "
    # Kueue has no integration for ReplicaSets; it queues each of their pods.
    f"{KIND} == 'ReplicaSet' ? (has({_REPLICA}) ? {_labels(_REPLICA)} : {{}}) : "
    f"{_labels(f'{O}.metadata')}"
)
"""Labels in which Kueue looks for the queue: those of the object, of the Jobs of a CronJob, of a ReplicaSet's pods."""
RAY_PATHS: Final = {
    RAY_CLUSTER.kind: "spec",
    RAY_SERVICE.kind: "spec.rayClusterConfig",
    RAY_JOB.kind: "spec.rayClusterSpec",
}
"""Where the spec of a Ray cluster is."""
TEMPLATE_PATHS: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("Job", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), ("spec.template",)),
    "CronJob": ("spec.jobTemplate.spec.template",),
    "JobSet": ("spec.replicatedJobs[].template.spec.template",),
    "ScaledJob": ("spec.jobTargetRef.template",),
    "LeaderWorkerSet": ("spec.leaderWorkerTemplate.workerTemplate", "spec.leaderWorkerTemplate.leaderTemplate"),
    **{kind: (f"spec.{field}{{}}.template",) for kind, field in REPLICATED.items()},
    **{
        kind: (
            f"{spec}.headGroupSpec.template",
            f"{spec}.workerGroupSpecs[].template",
            *(("spec.submitterPodTemplate",) if kind == RAY_JOB.kind else ()),
        )
        for kind, spec in RAY_PATHS.items()
    },
}
"""Where the pod templates are, by kind, as `components.admission.rule.Fill` writes paths."""
SPEC_PATHS: Final[Mapping[str, Sequence[str]]] = {
    "Pod": ("spec",),
    **{kind: tuple(f"{path}.spec" for path in paths) for kind, paths in TEMPLATE_PATHS.items()},
}
"""Where the pod specs are."""
_RUNTIME_SPECS: Final = "template.spec.replicatedJobs[].template.spec.template.spec"
EVERY_SPEC: Final[Mapping[str, Sequence[str]]] = {
    **SPEC_PATHS,
    "TrainJob": (f"spec.runtimePatches[].trainingRuntimeSpec.{_RUNTIME_SPECS}",),
    "TrainingRuntime": (f"spec.{_RUNTIME_SPECS}",),
}
"""The same, and the parts of pod specs that kinds of the Trainer have."""
METADATA_PATHS: Final[Mapping[str, Sequence[str]]] = {
    **{
        kind: ("metadata", *(f"{path.removesuffix('spec')}metadata" for path in paths if path != "spec"))
        for kind, paths in SPEC_PATHS.items()
    },
    "TrainJob": ("metadata",),
    "CronJob": ("metadata", "spec.jobTemplate.metadata", "spec.jobTemplate.spec.template.metadata"),
    "JobSet": (
        "metadata", "spec.replicatedJobs[].template.metadata", "spec.replicatedJobs[].template.spec.template.metadata",
    ),
}  # fmt: skip
"""Where labels and annotations are: those of the object, of what it makes, and of its pods."""
WORKER_PATHS: Final = {kind: (f"{spec}.workerGroupSpecs[]",) for kind, spec in RAY_PATHS.items()}


def below(paths: Mapping[str, Sequence[str]], *parts: str) -> dict[str, list[str]]:
    """Paths of parts of what is at these paths."""
    return {kind: [f"{path}.{part}" for path in found for part in parts] for kind, found in paths.items()}


TEMPLATE_METADATA: Final = below(TEMPLATE_PATHS, "metadata+")
TEMPLATE_NOTES: Final = below(TEMPLATE_PATHS, "metadata.annotations")
"""Where the metadata and the annotations of pod templates are."""
SHOWN: Final = 20
"""Values that a message lists."""


def in_steps(template: str, condition: str) -> str:
    """Whether a step or task `s` of a template of Argo meets a condition."""
    return (
        f"(has({template}.steps) && {template}.steps.exists(p, p.exists(s, {condition}))) || "
        f"(has({template}.dag) && has({template}.dag.tasks) && {template}.dag.tasks.exists(s, {condition}))"
    )


def joined(texts: str, separator: str = ", ") -> str:
    """The values of a list of strings that aren't empty, sorted, each once, as one text.

    CEL walks through a map in an order that differs from request to request, and `sort` exists since Kubernetes 1.34
    (k8s.io/apiserver, pkg/cel/environment): the value of each rank is looked up.
    """
    ranks = literal(list(range(SHOWN)))
    return (
        f"[({texts}).filter(t, t != '')].map(ts, {ranks}.filter(i, i < ts.size())"
        ".map(i, ts.filter(t, ts.filter(u, u < t).size() == i)).filter(f, f.size() > 0).map(f, f[0])"
        f".join('{separator}'))[0]"
    )
