"""Where each kind has its pods, labels and bounds, in CEL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from components.admission.kinds import RAY_CLUSTER, RAY_JOB, RAY_SERVICE, REPLICATED
from components.admission.rule import listed, literal

O: Final = "dyn(object)"  # noqa: E741 - short, because every expression uses it
"""The object. `dyn`, because CEL's type checker would look for the fields of a Job in a Pod."""
KIND: Final = "request.kind.kind"
USER: Final = "request.userInfo.username"
ACCOUNT: Final = "system:serviceaccount:"
BY_A_CONTROLLER: Final = (
    f"({USER}.startsWith('{ACCOUNT}') && !{USER}.startsWith('{ACCOUNT}' + request.namespace + ':'))"
)
"""Whether a controller asks. Only the API server gives names that begin with `system:`, and members have permissions in
their namespaces alone."""
BY_A_USER: Final = f"!params.data.trusted.contains(',' + request.operation + ' ' + {KIND} + ' ' + {USER} + ',')"
"""Whether someone else asks than a controller that the kind's parent, or an earlier check, vouches for.

Pods are always checked: a runtime or a workflow is complete only in its pods.
"""
MAKES_PODS: Final = f"{USER} in {listed('makesPods')}"  # whether a controller asks that makes pods
OF_CRON_JOB: Final = (
    "(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.size() > 0 && "
    "object.metadata.ownerReferences.all(r, r.kind == 'CronJob' && r.apiVersion == 'batch/v1'))"
)
"""Whether a CronJob owns the object, and nothing else. The garbage collector deletes what names an owner that does not
exist, and the CronJob what its history doesn't keep."""
CHANGED: Final = "oldObject == null || !has(object.spec) || object.spec != oldObject.spec"
"""Whether the spec is new, or there is none: finalizers of objects older than a rule must still be removable."""


def changed(*fields: str, spec: str = CHANGED) -> str:
    """Whether the spec is new, or one of these fields: `metadata.labels`."""
    parts = [spec]
    for field in fields:
        new, old = (f"(has({each}.{field}) ? dyn({each}.{field}) : dyn(null))" for each in ("object", "oldObject"))
        parts.append(f"{new} != {old}")
    return " || ".join(parts)


_WITH_TEMPLATE: Final = ("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")
_PATCH: Final = "p.trainingRuntimeSpec"
_JOBS: Final = (
    "(has(t.spec) && has(t.spec.replicatedJobs) ? "
    "t.spec.replicatedJobs.filter(j, has(j.template)).map(j, j.template) : [])"
)
JOB: Final = "job_"
"""Begins the names of shared variables of the job that a rule declares as `job`, of the kind `kind`, instead of the
object."""
RUNTIMES: Final = ("TrainJob", "TrainingRuntime")
"""Kinds of the Trainer, whose pods are in the template of a JobSet or in patches of one."""


def _of_object(text: str) -> str:
    """An expression over the object `o` and its kind `k`, whose names are shorter here."""
    return f"[{O}].map(o, [{KIND}].map(k, {text})[0])[0]"


RAY_PATHS: Final = {
    RAY_CLUSTER.kind: "spec",
    RAY_SERVICE.kind: "spec.rayClusterConfig",
    RAY_JOB.kind: "spec.rayClusterSpec",
}
"""Where the spec of a Ray cluster is."""
_GROUPS: Final = (
    # No kind but those of the training operators has such fields (components.admission.kinds, REPLICATED).
    "((has(o.spec) ? o.spec.filter(f, f.endsWith('ReplicaSpecs')).map(f, o.spec[f]).map(m, m.map(r, m[r])) : [])"
)
_RAY: Final = (
    f"(k == '{RAY_CLUSTER.kind}' ? [o.spec] : k.startsWith('Ray') ? "
    f"{literal([path.partition('.')[2] for path in RAY_PATHS.values() if '.' in path])}"
    ".filter(f, f in o.spec).map(f, o.spec[f]) : [])"
)
_SUBMITTERS: Final = f"(k == '{RAY_JOB.kind}' && has(o.spec.submitterPodTemplate) ? [o.spec.submitterPodTemplate] : [])"
VARIABLES: Final[Mapping[str, str]] = {
    # Replica groups of a job with groups.
    "groups": _of_object(f"{_GROUPS} + [[]])[0]"),
    # Spec of the Ray cluster; none of a RayJob that names an existing cluster (`clusterSelector`), which is checked
    # itself.
    "ray": _of_object(_RAY),
    # Worker groups of the Ray cluster.
    "workers": "(variables.ray.filter(r, has(r.workerGroupSpecs)).map(r, r.workerGroupSpecs) + [[]])[0]",
    # Whether its autoscaler adds workers.
    "scales": "variables.ray.exists(r, has(r.enableInTreeAutoscaling) && r.enableInTreeAutoscaling)",
    # Template of the pod that submits a RayJob, if its user gives one.
    "submitters": _of_object(_SUBMITTERS),
    # Pod templates of the object, with their metadata; none of a kind that has none, or parts of them alone.
    "templates": _of_object(
        f"k == 'Pod' ? [o] : k in {literal(list(_WITH_TEMPLATE))} ? [o.spec.template] : "
        "k == 'CronJob' ? [o.spec.jobTemplate.spec.template] : "
        "k == 'JobSet' ? o.spec.replicatedJobs.map(j, j.template.spec.template) : "
        "k == 'ScaledJob' ? [o.spec.jobTargetRef.template] : "
        "k == 'LeaderWorkerSet' ? [o.spec.leaderWorkerTemplate].map(l, [l.workerTemplate] + "
        "(has(l.leaderTemplate) ? [l.leaderTemplate] : []))[0] : "
        f"{_GROUPS} + {_RAY}.map(r, [r.headGroupSpec] + (has(r.workerGroupSpecs) ? r.workerGroupSpecs : [])) + "
        f"[[]])[0].map(g, g.template) + {_SUBMITTERS}"
    ),
    "specs": "variables.templates.map(t, t.spec)",
    # Containers of each of the specs.
    "containers": "variables.specs.map(s, s.containers + (has(s.initContainers) ? s.initContainers : []) + "
    "(has(s.ephemeralContainers) ? s.ephemeralContainers : []))",
    # JobSet templates of a TrainingRuntime, and what a TrainJob changes in them (trainer v2.3.0, CRD).
    "patches": f"{KIND} == 'TrainingRuntime' ? [{O}.spec.template] : "
    f"{KIND} == 'TrainJob' && has({O}.spec.runtimePatches) ? {O}.spec.runtimePatches"
    f".filter(p, has({_PATCH}) && has({_PATCH}.template)).map(p, {_PATCH}.template) : []",
    # Pod templates with a spec of a kind of the Trainer, in lists.
    "patched": f"variables.patches.map(t, {_JOBS}.filter(j, has(j.spec) && has(j.spec.template)).map(j, "
    "j.spec.template))",
    # Their specs: those of a patch have no containers that the runtime has.
    "partial": "variables.patched.map(l, l.filter(t, has(t.spec)).map(t, t.spec))",
    # Everything in the object that has `metadata`, itself included, in lists.
    "holders": _of_object(
        "k == 'Pod' ? [[o]] : [[o], variables.templates, variables.patches, k == 'CronJob' ? [o.spec.jobTemplate] : "
        "k == 'JobSet' ? o.spec.replicatedJobs.map(j, j.template) : "
        "k == 'InferenceService' ? ['predictor', 'transformer', 'explainer'].filter(p, p in o.spec)"
        f".map(p, dyn({{'metadata': o.spec[p]}})) : []] + variables.patches.map(t, {_JOBS}) + variables.patched"
    ),
    "ofCronJob": f"{KIND} == 'Job' && {OF_CRON_JOB}",
    # Labels in which Kueue looks for the queue: those of the object, of the Jobs of a CronJob, and of a ReplicaSet's
    # pods: Kueue has no integration for ReplicaSets.
    "labels": _of_object(
        "[k == 'CronJob' ? o.spec.jobTemplate : k == 'ReplicaSet' ? o.spec.template : o].map(h, has(h.metadata) && "
        "has(h.metadata.labels) ? h.metadata.labels : {})[0]"
    ),
    # The spec of a workflow; empty for other kinds.
    "workflow": f"{KIND} == 'CronWorkflow' ? {O}.spec.workflowSpec : "
    f"{KIND} in ['Workflow', 'WorkflowTemplate'] ? {O}.spec : dyn({{}})",
    # The workflow, what its templates have by default, and its templates.
    "stages": "[variables.workflow].map(w, [w] + (has(w.templateDefaults) ? [w.templateDefaults] : []) + "
    "(has(w.templates) ? w.templates : []))[0]",
    # The same, and the steps and tasks of the templates, in lists of lists.
    "tasks": "[[variables.stages]] + variables.stages.filter(h, has(h.dag) && has(h.dag.tasks)).map(h, [h.dag.tasks]) "
    "+ variables.stages.filter(h, has(h.steps)).map(h, h.steps)",
}
"""Parts of an object that several rules read, in CEL: a policy declares those that its expressions use."""
TEMPLATE_PATHS: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(_WITH_TEMPLATE, ("spec.template",)),
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


def in_workflow(condition: str) -> str:
    """Whether a workflow, one of its templates, steps or tasks, or a template inline in those meets a condition."""
    each = f"([t] + (has(t.inline) ? [t.inline] : [])).exists(x, {condition})"
    return f"variables.tasks.exists(g, g.exists(l, l.exists(t, {each})))"
