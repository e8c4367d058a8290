"""Rules for jobs and Ray clusters: how long they run, and how many pods they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Fill, Rule, literal
from components.admission.templates import KIND, WORKER_PATHS, O, in_workflow
from spec.jobs import DAY, LONGEST, LONGEST_IDLE, LONGEST_KEPT, LONGEST_STOP, MANAGERS, MAX_RETRIES
from spec.pools import keys

MAX_HISTORY: Final = 20
"""Finished jobs that a schedule keeps, of each kind; Kubernetes keeps three and one (kubernetes.io, "CronJob")."""


def _within(holder: str, field: str, maximum: int, *, required: bool = True) -> str:
    """A list with the field if it exceeds its maximum, or is missing although it is required."""
    path = f"{holder}.{field}"
    fits = f"has({path}) && {path} <= {maximum}" if required else f"!has({path}) || {path} <= {maximum}"
    return f"({fits} ? [] : ['{field}'])"


_FEW: Final = _within("j", "backoffLimit", MAX_RETRIES, required=False)
_DEADLINE: Final = _within("j", "activeDeadlineSeconds", LONGEST)
_BY_INDEX: Final = (
    f"((has(j.maxFailedIndexes) && j.maxFailedIndexes <= {MAX_RETRIES}) || (has(j.backoffLimitPerIndex) && "
    f"has(j.completions) && j.completions * j.backoffLimitPerIndex <= {MAX_RETRIES}))"
)
"""Whether few indexes fail, or all of them together are retried as often as a Job may be."""
_RETRIES: Final = f"((has(j.backoffLimit) && j.backoffLimit <= {MAX_RETRIES}) || {_BY_INDEX} ? [] : ['backoffLimit'])"
_TTL: Final = _within("j", "ttlSecondsAfterFinished", LONGEST_KEPT)
_KEPT: Final = _within("j", "ttlSecondsAfterFinished", LONGEST_KEPT, required=False)


MAX_COMPLETIONS: Final = 10_000
"""Pods that a Job runs one after the other: it keeps them until it ends (kubernetes.io, "Jobs")."""
_ENDLESSLY: Final = (
    _within("j", "completions", MAX_COMPLETIONS, required=False),
    _within("j", "backoffLimitPerIndex", MAX_RETRIES, required=False),
    # Retries that nothing counts; conditions of a pod are the cluster's.
    (
        "(has(j.podFailurePolicy) && j.podFailurePolicy.rules.exists(f, f.action == 'Ignore' && has(f.onExitCodes)) "
        "? ['podFailurePolicy.rules.action (Ignore with onExitCodes)'] : [])"
    ),
)
# Neither deadline nor TTL counts where no controller looks, and Kueue goes on to keep its quota.
_MANAGED: Final = f"(!has(j.managedBy) || j.managedBy in {literal(list(MANAGERS))} ? [] : ['managedBy'])"
_SLOW: Final = f"has(s.terminationGracePeriodSeconds) && s.terminationGracePeriodSeconds > {LONGEST_STOP}"
_STOPS: Final = (
    # The pods of a job that has reached its deadline go on for their grace period.
    f"([variables.specs] + variables.partial).exists(l, l.exists(s, {_SLOW})) "
    "? ['terminationGracePeriodSeconds of its pods'] : []"
)


def max_restarts(spec: str) -> str:
    """Restarts of a JobSet; 0 is upstream's default."""
    policy = f"{spec}.failurePolicy"
    return f"(has({policy}) && has({policy}.maxRestarts) ? {policy}.maxRestarts : 0)"


COUNTED: Final = ("FailJobSet", "RestartJob", "RestartJobSet")
"""Actions of a failure policy that end, or that `maxRestarts` counts (jobset v0.12.0, CRD)."""
UNCOUNTED: Final = ("RestartJobAndIgnoreMaxRestarts", "RestartJobSetAndIgnoreMaxRestarts")
"""Those that nothing counts: only for nodes that are taken away, as in the platform's own runtimes."""


def _reclaimed(spec: str) -> str:
    """Whether the rule `r` of a failure policy is for nodes that are taken away: nobody but the cluster gives a pod the
    condition `DisruptionTarget` (kubernetes.io, "Pod disruption conditions"), and no other rule of the Jobs fails one
    with the reason that this rule waits for."""
    policy = "t.template.spec.podFailurePolicy"
    lost = (
        "!has(f.onExitCodes) && has(f.onPodConditions) && f.onPodConditions.size() > 0 && "
        "f.onPodConditions.all(c, c.type == 'DisruptionTarget')"
    )
    return (
        f"r.action in {literal(list(UNCOUNTED))} && has(r.onJobFailureReasons) && "
        f"r.onJobFailureReasons == ['PodFailurePolicy'] && has({spec}.replicatedJobs) && "
        f"{spec}.replicatedJobs.all(t, !has({policy}) || "
        f"{policy}.rules.all(f, f.action != 'FailJob' || ({lost})))"
    )


def _uncounted(spec: str) -> str:
    """Whether the rule `r` of a failure policy restarts what nothing counts."""
    return f"has(r.action) && !(r.action in {literal(list(COUNTED))}) && !({_reclaimed(spec)})"


def _restarts(spec: str) -> str:
    """Restarts of a JobSet."""
    rules = f"{spec}.failurePolicy.rules"
    return (
        f"(has({spec}.failurePolicy) && {max_restarts(spec)} > {MAX_RETRIES} ? ['failurePolicy.maxRestarts'] : []) + "
        f"(has({spec}.failurePolicy) && has({rules}) ? {rules}.filter(r, {_uncounted(spec)})"
        f".map(r, 'failurePolicy.rules.action (' + string(r.action) + ')') : [])"
    )


def _at(path: str, *bounds: str) -> str:
    """Fields of `j` that are to be fixed, as a list of paths; the path of `j` is a CEL expression."""
    return f"({' + '.join(bounds)}).map(f, {path} + f)"


def _counts(text: str) -> str:
    """Whether a text is a number of retries that a step may have. It is a number or a text (argo-workflows,
    IntOrString)."""
    return f"(string({text}).matches('^[0-9]{{1,4}}$') && int(string({text})) <= {MAX_RETRIES})"


_OTHER_COUNT: Final = (
    f"'{{{{inputs.parameters.' + a.name + '}}}}' == r && (has(a.valueFrom) || "
    f"['default', 'value'].exists(f, f in a && string(a[f]) != r && !{_counts('a[f]')}))"
)
_GIVEN: Final = (
    "((has(x.inputs) ? [x.inputs] : []) + (has(x.arguments) ? [x.arguments] : []) + (has(x.hooks) ? "
    "x.hooks.filter(k, has(x.hooks[k].arguments)).map(k, x.hooks[k].arguments) : []))"
)
_GIVES_OTHER: Final = f"{_GIVEN}.exists(p, has(p.parameters) && p.parameters.exists(a, {_OTHER_COUNT}))"
"""Whether arguments or inputs give the parameter of the limit something that is no such number."""
_BY_PARAMETER: Final = (
    # Kubeflow Pipelines compiles `set_retry` to this: the limit is an input of a template that several steps use, and
    # each gives a number (kubeflow/pipelines 2.17.0, argocompiler/container.go, getTaskRetryParametersWithValues). The
    # inputs of a WorkflowTemplate may come from a workflow that names it.
    f"{KIND} == 'Workflow' && r.startsWith('{{{{inputs.parameters.') && "
    f"!{in_workflow(f'has(t.inline) || {_GIVES_OTHER}')}"
)
_ENDLESS: Final = in_workflow(
    # Without a limit a step is retried forever.
    "has(x.retryStrategy) && ![has(x.retryStrategy.limit) ? string(x.retryStrategy.limit) : ''].exists(r, "
    f"{_counts('r')} || ({_BY_PARAMETER}))"
)
_TTLS: Final = (
    "(has(j.ttlStrategy) ? ['secondsAfterCompletion', 'secondsAfterFailure', 'secondsAfterSuccess'].filter(f, "
    f"f in j.ttlStrategy && j.ttlStrategy[f] > {LONGEST_KEPT}).map(f, 'ttlStrategy.' + f) : [])"
)
_REFERENCE: Final = (
    # A WorkflowTemplate of the namespace is checked itself.
    "(has(j.workflowTemplateRef) && "
    "!(has(j.workflowTemplateRef.clusterScope) && j.workflowTemplateRef.clusterScope) "
    f"? {_within('j', 'activeDeadlineSeconds', LONGEST, required=False)} : {_DEADLINE})"
)
_WORKFLOW: Final = (_REFERENCE, _TTLS, f"({_ENDLESS} ? ['templates.retryStrategy.limit'] : [])")
_OPERATED: Final = literal([kind.kind for kind in kinds.OPERATED])
_ATTEMPTS: Final = "(has(j.backoffLimit) ? j.backoffLimit + 1 : 1)"
_WITHIN: Final = (
    # Each retry makes a new cluster and begins a new deadline (kuberay v1.6.1, initRayJobStatusIfNeed).
    f"(has(j.activeDeadlineSeconds) && j.activeDeadlineSeconds * {_ATTEMPTS} <= {LONGEST} "
    "? [] : ['activeDeadlineSeconds (of each attempt)'])"
)
_JOB_SETS: Final = (
    # Each restart makes the Jobs anew, and with them their deadlines (jobset v0.12.0, failure_policy.go).
    f"(!has(j.activeDeadlineSeconds) || j.activeDeadlineSeconds > {LONGEST} ? ['activeDeadlineSeconds'] : "
    f"j.activeDeadlineSeconds * ({max_restarts(f'{O}.spec')} + 1) > {LONGEST} "
    "? ['activeDeadlineSeconds (of each attempt)'] : [])"
)
_SHUT_DOWN: Final = (
    "((has(j.clusterSelector) && j.clusterSelector.size() > 0) || (has(j.shutdownAfterJobFinishes) && "
    "j.shutdownAfterJobFinishes) ? [] : ['shutdownAfterJobFinishes'])"
)
# The cluster keeps its nodes until its TTL, although Kueue has released its quota.
_IDLE: Final = _within("j", "ttlSecondsAfterFinished", LONGEST_IDLE, required=False)
_RAY_JOB: Final = (_WITHIN, _FEW, _IDLE, _SHUT_DOWN)
_TEMPLATE: Final = "'spec.replicatedJobs[' + string(r.name) + '].template.spec.'"
_REPLICATED_JOBS: Final = (
    f"{KIND} == 'JobSet' ? {O}.spec.replicatedJobs.map(r, [r.template.spec].map(j, "
    f"{_at(_TEMPLATE, _JOB_SETS, _FEW, *_ENDLESSLY)}.join(', '))[0]) : []"
)
_HISTORY: Final = " + ".join(
    f"{_within(f'{O}.spec', f'{which}JobsHistoryLimit', MAX_HISTORY, required=False)}.map(f, 'spec.' + f)"
    for which in ("successful", "failed")
)
"""Finished jobs of a schedule stay until there are so many of them."""
_APART: Final = (
    f"({KIND} == 'CronJob' || (has({O}.spec.concurrencyPolicy) && {O}.spec.concurrencyPolicy in ['Forbid', 'Replace'])"
    " ? [] : ['spec.concurrencyPolicy (Forbid or Replace)'])"
)
"""A quota counts the Jobs of a CronJob, and no Workflows."""
_PLACES: Final = {
    "CronJob": "spec.jobTemplate.spec",
    "CronWorkflow": "spec.workflowSpec",
    "ScaledJob": "spec.jobTargetRef",
    "TrainingRuntime": "spec.template.spec",
    **dict.fromkeys((kind.kind for kind in kinds.OPERATED), "spec.runPolicy"),
}
"""Where a kind has its bounds, if not in its spec."""
_HELD: Final = "".join(
    f"{KIND} == '{kind}' ? [{O}.{_PLACES[kind]}] : "
    for kind in ("CronJob", "CronWorkflow", "ScaledJob", "TrainingRuntime")
)


_BATCH: Final = ("CronJob", "Job", "ScaledJob")
_RUNS: Final = "variables.at == 'spec.runPolicy.'"


def _of(of: Iterable[str], *bounds: str, operated: bool = False) -> str:
    """Fields of the holder that are to be fixed, of these kinds, and of those with a `runPolicy`."""
    runs = f" || {_RUNS}" if operated else ""
    return f"({KIND} in {literal(list(of))}{runs} ? {' + '.join(bounds)} : [])"


_LACKS: Final = {
    "at": f"[{literal(_PLACES)}].map(p, {KIND} in p ? p[{KIND}] + '.' : 'spec.')[0]",
    "held": f"{_HELD}{_RUNS} ? (has({O}.spec.runPolicy) ? [{O}.spec.runPolicy] : []) : [{O}.spec]",
    # A CronJob, with the Jobs that `kubectl create job --from` makes of it, and a ScaledJob clean up by their history.
    "byHistory": f"{KIND} in ['CronJob', 'ScaledJob'] || variables.ofCronJob",
    "bounds": "variables.held.map(j, "
    + " + ".join(
        (
            _of((*_BATCH, "JobSet"), f"(variables.byHistory ? {_KEPT} : {_TTL})", operated=True),
            _of((*_BATCH, "TrainJob"), _DEADLINE, operated=True),
            _of(_BATCH, _RETRIES, operated=True),
            _of(_BATCH, *_ENDLESSLY),
            _of((*_BATCH, "JobSet"), _MANAGED),
            _of(("JobSet", "TrainingRuntime"), _restarts("j")),
            _of(("RayJob",), *_RAY_JOB),
        )
    )
    + ")",
    "flow": f"variables.held.map(j, {_of([kind.kind for kind in kinds.WORKFLOWS], *_WORKFLOW)})",
    "sets": _REPLICATED_JOBS,
    "schedule": f"{KIND} in ['CronJob', 'CronWorkflow'] ? {_HISTORY} + {_APART} : []",
    "stops": _STOPS,
    "lacks": "((variables.bounds + variables.flow).map(l, l.map(f, variables.at + f).join(', ')) + variables.sets + "
    "(variables.held.size() == 0 ? ['spec.runPolicy'] : []) + variables.schedule + variables.stops)"
    ".filter(t, t != '')",
}
_OPERATED_BY: Final = {kind.kind: ["spec.runPolicy+"] for kind in kinds.OPERATED}
_HOLDERS: Final = {
    "Job": ["spec"],
    "CronJob": ["spec.jobTemplate.spec"],
    "ScaledJob": ["spec.jobTargetRef"],
    **_OPERATED_BY,
}
"""What has the bounds of a Job, with a TTL but of what cleans up by its history."""
_EACH_JOB: Final = {"JobSet": ["spec.replicatedJobs[].template.spec"]}
_WORKFLOWS: Final = {
    "Workflow": ["spec"], "WorkflowTemplate": ["spec"], "CronWorkflow": ["spec.workflowSpec"],
}  # fmt: skip
_PER_ATTEMPT: Final = LONGEST // (MAX_RETRIES + 1)  # a deadline that any allowed number of attempts may have: 16 hours


def _capped(
    paths: Mapping[str, Sequence[str]], field: str, maximum: int, *, value: int | None = None, when: str = "false"
) -> Fill:
    """A number that is at most the maximum, and has another value where it is absent."""
    absent = str(maximum if value is None else value)
    return Fill(paths=paths, field=field, value=absent, when=when, wrong=f"s.{field} > {maximum}", right=str(maximum))


_SELECTS: Final = "(has(s.clusterSelector) && s.clusterSelector.size() > 0)"
_BOUNDED: Final = (
    _capped(_HOLDERS | {"TrainJob": ["spec"]}, "activeDeadlineSeconds", LONGEST, value=DAY, when="true"),
    _capped(_WORKFLOWS, "activeDeadlineSeconds", LONGEST, value=DAY, when="!has(s.workflowTemplateRef)"),
    *(
        Fill(paths=paths, field="activeDeadlineSeconds", value=str(_PER_ATTEMPT), wrong=f"{all_attempts} > {LONGEST}")
        for paths, all_attempts in (
            (_EACH_JOB, f"s.activeDeadlineSeconds * ({max_restarts(f'{O}.spec')} + 1)"),
            ({"RayJob": ["spec"]}, f"s.activeDeadlineSeconds * {_ATTEMPTS.replace('j.', 's.')}"),
        )
    ),
    Fill(
        paths=_HOLDERS,
        field="backoffLimit",
        value="3",
        # The API server gives a Job 6, and one that counts by index no limit.
        when=f"{KIND} != 'Job' || has(s.backoffLimitPerIndex)",
        wrong=f"s.backoffLimit > {MAX_RETRIES} && ![s].exists(j, {_BY_INDEX})",
        right=str(MAX_RETRIES),
    ),
    _capped(_EACH_JOB | {"RayJob": ["spec"]}, "backoffLimit", MAX_RETRIES),
    _capped({"JobSet": ["spec.failurePolicy"]}, "maxRestarts", MAX_RETRIES),
    Fill(
        paths={"JobSet": ["spec.failurePolicy.rules[]"]},
        field="action",
        when="false",
        wrong=f"s.action in {literal(list(UNCOUNTED))} && [s].exists(r, {_uncounted(f'{O}.spec')})",
        right="s.action.replace('AndIgnoreMaxRestarts', '')",
    ),
    _capped(
        {"JobSet": ["spec"], "Job": ["spec"], **_OPERATED_BY},
        "ttlSecondsAfterFinished",
        LONGEST_KEPT,
        value=DAY,
        # Those of a CronJob are no matter of it: the API server fills in nothing there.
        when="true",
    ),
    _capped({kind: _HOLDERS[kind] for kind in ("CronJob", "ScaledJob")}, "ttlSecondsAfterFinished", LONGEST_KEPT),
    *(
        _capped({"CronJob": ["spec"], "CronWorkflow": ["spec"]}, f"{which}JobsHistoryLimit", MAX_HISTORY)
        for which in ("successful", "failed")
    ),
    Fill(
        paths={"CronWorkflow": ["spec"]},
        field="concurrencyPolicy",
        value="'Forbid'",
        wrong="s.concurrencyPolicy == 'Allow'",
    ),
    Fill(
        paths={"RayJob": ["spec"]},
        field="shutdownAfterJobFinishes",
        value="true",
        when=f"!{_SELECTS}",
        wrong=f"!s.shutdownAfterJobFinishes && !{_SELECTS}",
    ),
    _capped({"RayJob": ["spec"]}, "ttlSecondsAfterFinished", LONGEST_IDLE),
)
JOB_BOUNDS: Final = Rule(
    name="job-bounds",
    kinds=(*kinds.JOBS, kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME, *kinds.WORKFLOWS),
    variables=_LACKS,
    expression="variables.lacks.size() == 0",
    found="variables.lacks",
    names={
        "days": LONGEST // DAY,
        "max_retries": MAX_RETRIES,
        "kept_days": LONGEST_KEPT // DAY,
        "day": DAY,
        "longest": LONGEST,
        "longest_kept": LONGEST_KEPT,
        "longest_idle": LONGEST_IDLE,
        "counted": ", ".join(COUNTED),
        "longest_stop": LONGEST_STOP,
        "max_history": MAX_HISTORY,
    },
    fills=_BOUNDED,
)


_FEWER: Final = "has(g.minReplicas) && int(g.minReplicas) > (has(g.replicas) ? int(g.replicas) : 0)"
# Kueue counts `replicas` (v0.19.2, pkg/controller/jobs/raycluster/common.go, effectiveWorkerCount), and KubeRay starts
# at least `minReplicas` (v1.6.1, GetWorkerGroupDesiredReplicas).
_GROUP: Final = f"{_FEWER} ? 'minReplicas of group ' + string(g.groupName) : ''"
_UNCOUNTED: Final = f"variables.workers.map(g, {_GROUP})"
_INGRESS: Final = (
    "variables.ray.map(r, has(r.headGroupSpec.enableIngress) && r.headGroupSpec.enableIngress ? 'enableIngress' : '')"
)
_SERVICES: Final = (
    "(variables.ray.filter(r, has(r.headGroupSpec.headService)).map(r, r.headGroupSpec.headService) + "
    f"(has({O}.spec.serveService) ? [{O}.spec.serveService] : []))"
)
# The quota refuses such a Service to KubeRay only, where its user doesn't look.
_OUTSIDE: Final = (
    f"({_SERVICES}.exists(v, has(v.spec) && has(v.spec.type) && v.spec.type != 'ClusterIP') || variables.ray.exists(r, "
    "has(r.headGroupSpec.serviceType) && r.headGroupSpec.serviceType != 'ClusterIP') "
    "? ['a Service of another type than ClusterIP'] : [])"
)
# While a RayService upgrades, KubeRay runs a second cluster, and Kueue counts one (v1.6.1, RayServiceUpgradeStrategy;
# v0.19.2, pkg/controller/jobs/rayservice, PodSets).
_STRATEGY: Final = f"{O}.spec.upgradeStrategy"
_SECOND: Final = (
    f"({KIND} == '{kinds.RAY_SERVICE.kind}' && !(has({_STRATEGY}) && has({_STRATEGY}.type) && "
    f"{_STRATEGY}.type == 'None') ? ['upgradeStrategy.type'] : [])"
)
# Kueue leaves out a RayJob with a clusterSelector, and with it the pod that submits it (v0.19.2, RayJob.Skip).
_SUBMITTER: Final = (
    f"(variables.submitters.exists(t, [t.spec].exists(s, {placement.ASKS})) ? ['GPUs of submitterPodTemplate'] : [])"
)


_AT_LEAST: Final = "has(s.minReplicas) && int(s.minReplicas) > "
_COUNTED_PODS: Final = (
    Fill(
        paths=WORKER_PATHS,
        field="replicas",
        # KubeRay starts as many anyway.
        value="int(s.minReplicas)",
        when=f"{_AT_LEAST}0",
        wrong=f"{_AT_LEAST}int(s.replicas)",
    ),
    Fill(
        paths={kinds.RAY_SERVICE.kind: ["spec.upgradeStrategy+"]},
        field="type",
        value="'None'",
        wrong="s.type != 'None'",
    ),
)


def ray_cluster(context: StackContext) -> Rule:
    """The head of a Ray cluster is not on Spot, and its pods are those that the queue counts."""
    reaches = f"p.spot && ({placement.OFFERS}) && ({placement.SELECTED}) && ({placement.TOLERATED})"
    spot = f"variables.ray.exists(r, [r.headGroupSpec.template.spec].exists(s, variables.pools.exists(p, {reaches})))"
    beyond = f" + {_UNCOUNTED} + {_SECOND} + {_SUBMITTER}" if context.queues else ""
    return Rule(
        name="ray-cluster",
        kinds=kinds.RAY,
        variables={
            "wrong": f"({spot} ? ['a head that may run on Spot'] : []) + {_INGRESS} + {_OUTSIDE}{beyond}",
        },
        expression="variables.wrong.all(t, t == '')",
        found="variables.wrong",
        names={"pool": keys.POOL},
        fills=_COUNTED_PODS if context.queues else (),
    )


_NO_BOUND: Final = 2**31 - 1
_PART: Final = f"{O}.spec[p].maxReplicas"
_JOB: Final = "(has(j.parallelism) ? j.parallelism : 1)"
_SIZE: Final = f"{O}.spec.leaderWorkerTemplate"
_ELASTIC: Final = f"{O}.spec.elasticPolicy"
_RAY: Final = literal([kind.kind for kind in kinds.RAY])
_GROUPS: Final = (
    "[variables.groups.map(g, has(g.replicas) ? int(g.replicas) : 1).sum()] + "
    f"(has({_ELASTIC}) && has({_ELASTIC}.maxReplicas) ? [int({_ELASTIC}.maxReplicas)] : [])"
)
_MOST: Final = f"(has(g.maxReplicas) ? int(g.maxReplicas) : {_NO_BOUND})"
_LEAST: Final = "(has(g.minReplicas) ? int(g.minReplicas) : 0)"
_WANTED: Final = "(has(g.replicas) ? int(g.replicas) : 0)"
_HOSTS: Final = "(has(g.numOfHosts) ? int(g.numOfHosts) : 1)"
RAY_PODS: Final = f"{_HOSTS} * (variables.%sscales ? {_MOST} : {_LEAST} > {_WANTED} ? {_LEAST} : {_WANTED})"
"""Pods of worker group `g` of a Ray cluster: its autoscaler adds some up to `maxReplicas`; otherwise KubeRay raises
`replicas` to `minReplicas` (kuberay v1.6.1, GetWorkerGroupDesiredReplicas)."""
_JOBS: Final = (
    "(has(j.replicas) ? int(j.replicas) : 1) * "
    "(has(j.template.spec.parallelism) ? int(j.template.spec.parallelism) : 1)"
)


def _replicated(spec: str) -> str:
    """Pods of all jobs of a JobSet."""
    return f"(has({spec}.replicatedJobs) ? {spec}.replicatedJobs.map(j, {_JOBS}).sum() : 0)"


_POLICY: Final = f"{O}.spec.mlPolicy"
_ROLLING: Final = f"{O}.spec.strategy.rollingUpdate"
_SURGE: Final = (
    f"({KIND} == 'Deployment' && has({O}.spec.strategy) && has({_ROLLING}) && has({_ROLLING}.maxSurge)"
    f" ? [{_ROLLING}.maxSurge].map(m, type(m) == int ? int(m) : "
    f"(int(string(m).replace('%', '')) > 100 ? {_NO_BOUND} : 0)) : [])"
)
"""Pods beyond `replicas` while a Deployment changes; a percentage grows with `kubectl scale`, so twice is the most."""
_COUNTS: Final = (
    f"{KIND} == 'HorizontalPodAutoscaler' ? [{O}.spec.maxReplicas] : "
    f"{KIND} == 'ScaledObject' ? [has({O}.spec.maxReplicaCount) ? {O}.spec.maxReplicaCount : {_NO_BOUND}] : "
    # In KServe 0 or no value means no limit.
    f"{KIND} == 'InferenceService' ? ['predictor', 'transformer', 'explainer'].filter(p, p in {O}.spec)"
    f".map(p, has({_PART}) && {_PART} > 0 ? {_PART} : {_NO_BOUND}) : "
    f"{KIND} == 'Job' ? [has({O}.spec.parallelism) ? {O}.spec.parallelism : 1] : "
    f"{KIND} == 'CronJob' ? [{O}.spec.jobTemplate.spec].map(j, {_JOB}) : "
    # KEDA's default is 100 (keda.sh, "Scaling Jobs").
    f"{KIND} == 'ScaledJob' ? [{O}.spec.jobTargetRef].map(j, {_JOB} * "
    f"(has({O}.spec.maxReplicaCount) ? {O}.spec.maxReplicaCount : 100)) : "
    f"{KIND} == 'LeaderWorkerSet' ? [(has({O}.spec.replicas) ? {O}.spec.replicas : 1) * "
    f"(has({_SIZE}.size) ? {_SIZE}.size : 1)] : "
    f"{KIND} == 'TrainJob' ? [has({O}.spec.trainer) && has({O}.spec.trainer.numNodes) "
    f"? {O}.spec.trainer.numNodes : 1] : "
    f"{KIND} in {_OPERATED} ? {_GROUPS} : "
    f"{KIND} in {_RAY} ? [variables.workers.map(g, {RAY_PODS % ''}).sum()] : "
    f"{KIND} == 'JobSet' ? [{_replicated(f'{O}.spec')}] : "
    # The Trainer makes a JobSet of it; a TrainJob without numNodes has that of the runtime.
    f"{KIND} == 'TrainingRuntime' ? [{_replicated(f'{O}.spec.template.spec')}, "
    f"has({_POLICY}) && has({_POLICY}.numNodes) ? int({_POLICY}.numNodes) : 1] : "
    f"{KIND} == 'InferenceGraph' ? ['minReplicas', 'maxReplicas'].filter(p, p in {O}.spec).map(p, int({O}.spec[p])) : "
    f"[has({O}.spec.replicas) ? int({O}.spec.replicas) : 1] + {_SURGE}"
)


def scale_bounds(maximum: int) -> Rule:
    """A workload has at most `maximum` pods."""
    return Rule(
        name="scale-bounds",
        kinds=(
            *kinds.JOBS,
            kinds.TRAIN_JOB,
            *(kind for kind in kinds.SERVERS if kind != kinds.DAEMON_SET),
            *kinds.SCALES,
            kinds.AUTOSCALER,
            kinds.SCALED_OBJECT,
            kinds.INFERENCE_SERVICE,
            kinds.INFERENCE_GRAPH,
            kinds.TRAINING_RUNTIME,
        ),
        variables={"beyond": f"({_COUNTS}).filter(n, n > {maximum})"},
        expression="variables.beyond.size() == 0",
        found=f"variables.beyond.map(n, n >= {_NO_BOUND} ? 'no maximum' : string(n))",
        names={"maximum": maximum},
        fills=(
            Fill(
                paths={"InferenceService": [f"spec.{part}" for part in ("predictor", "transformer", "explainer")]},
                field="maxReplicas",
                value="has(s.minReplicas) && int(s.minReplicas) > 1 ? int(s.minReplicas) : 1",
                wrong="s.maxReplicas == 0",
            ),
            # KEDA's own default is 100 (keda v2.20.2, CRD).
            Fill(paths={"ScaledObject": ["spec"]}, field="maxReplicaCount", value=str(min(100, maximum))),
        ),
    )
