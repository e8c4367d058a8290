"""Rules for jobs."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, O
from components.workloads.checks.bounds import DAY, LONGEST, LONGEST_IDLE, LONGEST_KEPT, MAX_RETRIES

_RESTARTS: Final = "failurePolicy.maxRestarts"
_RETRY: Final = "t.retryStrategy"


def _within(holder: str, field: str, maximum: int, *, required: bool = True) -> str:
    """A list with the field if it exceeds its maximum, or is missing although it is required."""
    path = f"{holder}.{field}"
    fits = f"has({path}) && {path} <= {maximum}" if required else f"!has({path}) || {path} <= {maximum}"
    return f"({fits} ? [] : ['{field}'])"


_DEADLINE: Final = _within("j", "activeDeadlineSeconds", LONGEST)
_RETRIES: Final = (
    f"((has(j.backoffLimit) && j.backoffLimit <= {MAX_RETRIES}) || "
    f"(has(j.maxFailedIndexes) && j.maxFailedIndexes <= {MAX_RETRIES}) ? [] : ['backoffLimit'])"
)
_TTL: Final = _within("j", "ttlSecondsAfterFinished", LONGEST_KEPT)
_KEPT: Final = _within("j", "ttlSecondsAfterFinished", LONGEST_KEPT, required=False)


def _restarts(spec: str) -> str:
    """Restarts of a JobSet."""
    return (
        f"(has({spec}.failurePolicy) && has({spec}.failurePolicy.maxRestarts) && "
        f"{spec}.failurePolicy.maxRestarts > {MAX_RETRIES} ? ['{_RESTARTS}'] : [])"
    )


def _of(spec: str, *bounds: str) -> str:
    return f"[{spec}].map(j, ({' + '.join(bounds)}).join(', '))"


_ENDLESS: Final = (
    # Without a limit a step is retried forever. It is a number or a text (argo-workflows, IntOrString).
    f"(has(j.templates) && j.templates.exists(t, has({_RETRY}) && !(has({_RETRY}.limit) && "
    f"string({_RETRY}.limit).matches('^[0-9]{{1,4}}$') && int(string({_RETRY}.limit)) <= {MAX_RETRIES})) "
    "? ['retryStrategy.limit'] : [])"
)
_TTLS: Final = " + ".join(
    f"(has(j.ttlStrategy) ? {_within('j.ttlStrategy', field, LONGEST_KEPT, required=False)} : [])"
    for field in ("secondsAfterCompletion", "secondsAfterFailure", "secondsAfterSuccess")
)
_REFERENCE: Final = (
    # A WorkflowTemplate of the namespace is checked itself.
    "(has(j.workflowTemplateRef) && "
    "!(has(j.workflowTemplateRef.clusterScope) && j.workflowTemplateRef.clusterScope) "
    f"? {_within('j', 'activeDeadlineSeconds', LONGEST, required=False)} : {_DEADLINE})"
)
_WORKFLOW: Final = (_REFERENCE, _TTLS, _ENDLESS)
_OPERATED: Final = literal([kind.kind for kind in kinds.OPERATED])
_ATTEMPTS: Final = "(has(j.backoffLimit) ? j.backoffLimit + 1 : 1)"
_WITHIN: Final = (
    # Each retry makes a new cluster and begins a new deadline (kuberay v1.6.1, initRayJobStatusIfNeed).
    f"(has(j.activeDeadlineSeconds) && j.activeDeadlineSeconds * {_ATTEMPTS} <= {LONGEST} "
    "? [] : ['activeDeadlineSeconds (of each attempt)'])"
)
_SHUT_DOWN: Final = (
    "((has(j.clusterSelector) && j.clusterSelector.size() > 0) || (has(j.shutdownAfterJobFinishes) && "
    "j.shutdownAfterJobFinishes) ? [] : ['shutdownAfterJobFinishes'])"
)
# The cluster keeps its nodes until its TTL, although Kueue has released its quota.
_IDLE: Final = _within("j", "ttlSecondsAfterFinished", LONGEST_IDLE, required=False)
_RAY_JOB: Final = (_WITHIN, _within("j", "backoffLimit", MAX_RETRIES, required=False), _IDLE, _SHUT_DOWN)
_LACKS: Final = (
    # A CronJob and a ScaledJob clean up by their history limits.
    f"{KIND} == 'CronJob' ? {_of(f'{O}.spec.jobTemplate.spec', _DEADLINE, _RETRIES, _KEPT)} : "
    f"{KIND} == 'ScaledJob' ? {_of(f'{O}.spec.jobTargetRef', _DEADLINE, _RETRIES, _KEPT)} : "
    f"{KIND} == 'JobSet' ? {_of(f'{O}.spec', _TTL, _restarts('j'))} + "
    f"{O}.spec.replicatedJobs.map(r, r.template.spec).map(j, "
    f"({_DEADLINE} + {_within('j', 'backoffLimit', MAX_RETRIES, required=False)}).join(', ')) : "
    f"{KIND} in {_OPERATED} ? (has({O}.spec.runPolicy) ? "
    f"{_of(f'{O}.spec.runPolicy', _TTL, _DEADLINE, _RETRIES)} : ['runPolicy']) : "
    f"{KIND} == 'RayJob' ? {_of(f'{O}.spec', *_RAY_JOB)} : "
    f"{KIND} == 'TrainJob' ? {_of(f'{O}.spec', _DEADLINE)} : "
    f"{KIND} == 'TrainingRuntime' ? {_of(f'{O}.spec.template.spec', _restarts('j'))} : "
    f"{KIND} == 'CronWorkflow' ? {_of(f'{O}.spec.workflowSpec', *_WORKFLOW)} : "
    f"{KIND} in ['Workflow', 'WorkflowTemplate'] ? {_of(f'{O}.spec', *_WORKFLOW)} : "
    f"{_of(f'{O}.spec', _TTL, _DEADLINE, _RETRIES)}"
)
JOB_BOUNDS: Final = Rule(
    name="job-bounds",
    kinds=(*kinds.JOBS, kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME, *kinds.WORKFLOWS),
    what=f"a job has a deadline of at most {LONGEST // DAY} days, at most {MAX_RETRIES} retries, and a TTL of at most "
    f"{LONGEST_KEPT // DAY} days",
    why="a job that hangs holds its GPUs until someone notices, one that fails immediately restarts for days, and "
    "finished ones pile up in the API server",
    variables={"lacks": f"({_LACKS}).filter(t, t != '')"},
    expression="variables.lacks.size() == 0",
    message=Message(
        wrong="a job must be bounded: fix ",
        found="variables.lacks.join(', ')",
        shown="fields",
        fix=f". For example activeDeadlineSeconds: {DAY} (at most {LONGEST}; in a JobSet in each template), "
        f"backoffLimit: 3 (at most {MAX_RETRIES}), ttlSecondsAfterFinished: {DAY} (at most {LONGEST_KEPT}); "
        "those of a Kubeflow job are in runPolicy; a RayJob sets shutdownAfterJobFinishes: true and a TTL of at most "
        f"{LONGEST_IDLE}, and its deadline counts for each attempt",
    ),
)
