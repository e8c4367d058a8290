"""What a job may cost until its deadline: its pods, times the price of their part of a node, times its deadline.

The rule takes the lowest price of the pools that a pod may use, and counts no idle part of a node: it refuses only what
costs more in any case. `slipway why FILE` says what whole nodes cost.
"""

from __future__ import annotations

from typing import Final

from components.addons.trainer import NAME as RUNTIME
from components.admission import kinds
from components.admission.jobs import RAY_PODS, max_restarts
from components.admission.placement import RATE, SELECTED
from components.admission.rule import Rule, literal
from components.admission.templates import JOB, KIND, O
from spec.jobs import LONGEST
from spec.teams.labels import JOB_USD

_UNIT: Final = 1000 * 3600
"""Prices are in thousandths of a USD an hour, and times in seconds: CEL adds whole numbers of one type."""
_SCALED: Final = 100  # Jobs that KEDA runs at once by default (keda.sh, "Scaling Jobs", `maxReplicaCount`)
_UNBOUNDED: Final = 10_000  # Pods of what has no maximum: more would overflow a price
_JOBS: Final = (*kinds.JOBS, kinds.TRAIN_JOB)
_TEMPLATE: Final = f"{O}.spec.trialTemplate"
_TRIAL: Final = f"{_TEMPLATE}.trialSpec"


def _number(holder: str, field: str, absent: int = 1) -> str:
    return f"(has({holder}.{field}) ? int({holder}.{field}) : {absent})"


def _deadline(holder: str) -> str:
    """What has no deadline has the longest that a job may have."""
    return _number(holder, "activeDeadlineSeconds", LONGEST)


def _part(pod: str, count: str, ends: str, attempts: str = "1") -> str:
    """Pods that are alike, their number, what has the deadline of each attempt, and how many attempts there are."""
    return f"{{'s': dyn({pod}), 'n': dyn({count}), 'e': dyn({ends}), 'a': dyn({attempts})}}"


_BATCH: Final = _part(
    "j.template.spec",
    f"{_number('j', 'parallelism')} * (variables.kind == 'ScaledJob' ? "
    f"{_number('o.spec', 'maxReplicaCount', _SCALED)} : 1)",
    "j",
)
_OPERATED: Final = _part(
    "g.template.spec",
    # An elastic job grows to as many workers.
    f"[{_number('g', 'replicas')}, has(o.spec.elasticPolicy) ? {_number('o.spec.elasticPolicy', 'maxReplicas', 0)} : 0]"
    ".max()",
    "has(o.spec.runPolicy) ? o.spec.runPolicy : {}",
)
_SET: Final = _part(
    "j.template.spec.template.spec",
    f"{_number('j', 'replicas')} * {_number('j.template.spec', 'parallelism')}",
    "j.template.spec",
    f"{max_restarts('o.spec')} + 1",
)
_RAY: Final = ("o.spec", f"{_number('o.spec', 'backoffLimit', 0)} + 1")
_NODES: Final = f"(has(o.spec.trainer) ? {_number('o.spec.trainer', 'numNodes')} : 1)"
_RESOURCES: Final = "(has(o.spec.trainer) && has(o.spec.trainer.resourcesPerNode))"
# The runtime has the rest of the pod: the pool that it selects is known only where the TrainJob patches it.
_SELECTORS: Final = (
    "variables.job_partial.map(l, l.filter(s, has(s.nodeSelector))).filter(l, l.size() > 0).map(l, l[0].nodeSelector)"
)
_NODE: Final = _part(
    "{'containers': dyn([{'resources': o.spec.trainer.resourcesPerNode}]), 'nodeSelector': "
    f"[{_SELECTORS}].map(l, l.size() > 0 ? dyn(l[0]) : dyn({{}}))[0]}}",
    _NODES,
    "o.spec",
)
_PARTS: Final = (
    f"variables.kind == 'JobSet' ? o.spec.replicatedJobs.map(j, {_SET}) : "
    f"variables.kind == 'TrainJob' ? ({_RESOURCES} ? [{_NODE}] : []) : "
    "variables.kind in ['CronJob', 'Job', 'ScaledJob'] ? [variables.kind == 'CronJob' ? o.spec.jobTemplate.spec : "
    f"variables.kind == 'Job' ? o.spec : o.spec.jobTargetRef].map(j, {_BATCH}) : "
    f"variables.job_groups.map(g, {_OPERATED}) + "
    f"variables.job_ray.map(r, {_part('r.headGroupSpec.template.spec', '1', *_RAY)}) + "
    f"variables.job_workers.map(g, {_part('g.template.spec', f'[{RAY_PODS % JOB}, {_UNBOUNDED}].min()', *_RAY)})"
)
_REFERENCE: Final = "o.spec.runtimeRef"
_OF_CLUSTER: Final = f"(!has({_REFERENCE}.kind) || {_REFERENCE}.kind == 'ClusterTrainingRuntime')"
# A runtime of the platform has whole nodes of its pool (`components.addons.trainer`).
_WHOLE: Final = (
    f"variables.kind == 'TrainJob' && !{_RESOURCES} && {_OF_CLUSTER} ? variables.pools"
    f".filter(p, {_REFERENCE}.name == '{RUNTIME}-' + string(p.name))"
    f".map(p, p.devices.map(d, d.count * d.price).sum() * {_NODES} * {_deadline('o.spec')}) : []"
)
_OPEN: Final = (
    f"(!{_RESOURCES} && variables.whole.size() == 0 && !({_OF_CLUSTER} && {_REFERENCE}.name == '{RUNTIME}')) || "
    "variables.job_partial.exists(l, l.exists(s, has(s.containers) && s.containers.exists(c, has(c.resources))))"
)
"""Whether nobody but its runtime, or a patch of that, knows the GPUs of a TrainJob."""
_LOWEST: Final = (
    f"[variables.pools.filter(p, {SELECTED}).map(p, {RATE}).filter(u, u > 0)].map(us, us.size() == 0 ? 0 : us.min())[0]"
)
_STEP: Final = (
    "{'containers': dyn(['container', 'script'].filter(f, f in x).map(f, x[f]) + "
    "(has(x.containerSet) ? x.containerSet.containers : [])), "
    "'nodeSelector': dyn(has(x.nodeSelector) ? x.nodeSelector : has(w.nodeSelector) ? w.nodeSelector : {})}"
)
_ENDS: Final = (
    f"{{'activeDeadlineSeconds': [{_deadline('w')}, has(x.activeDeadlineSeconds) && "
    "string(x.activeDeadlineSeconds).matches('^[0-9]{1,8}$') ? "
    f"int(string(x.activeDeadlineSeconds)) : {LONGEST}].min()}}"
)
_STEPS: Final = (
    "[variables.workflow].map(w, variables.tasks.map(g, g.map(l, (l + l.filter(t, has(t.inline)).map(t, t.inline))"
    f".map(x, {_part(_STEP, '1', _ENDS)}))))[0]"
)
# Steps share the workflow's deadline, and how many run at once is often known only while it runs.
_DEAREST: Final = "([0] + variables.prices.map(g, ([0] + g.map(l, ([0] + l).max())).max())).max()"
_OF_STEPS: Final = f"{KIND}.contains('Workflow')"
_EXPERIMENT: Final = kinds.EXPERIMENT.kind
_NOTES: Final = "namespaceObject.metadata.annotations"


def job_cost() -> Rule:
    """A job costs at most what its team lets one job cost."""
    return Rule(
        name="job-cost",
        kinds=(*_JOBS, kinds.EXPERIMENT, *kinds.WORKFLOWS),
        variables={
            "most": f"has({_NOTES}) && '{JOB_USD}' in {_NOTES} ? int({_NOTES}['{JOB_USD}']) : -1",
            # Of an Experiment, the job of its template (`components.admission.experiments`).
            "trials": f"{KIND} == '{_EXPERIMENT}' && has({_TEMPLATE}) && has({_TRIAL}) && has({_TRIAL}.kind) && "
            f"has({_TRIAL}.spec) && has({O}.spec.maxTrialCount) && "
            f"{_TRIAL}.kind in {literal([kind.kind for kind in _JOBS])} ? int({O}.spec.maxTrialCount) : 0",
            "job": f"variables.trials > 0 ? {_TRIAL} : {O}",
            "kind": f"variables.trials > 0 ? string({_TRIAL}.kind) : {KIND}",
            # Pods that are alike in lists of lists of lists, as the steps of a workflow are.
            "parts": f"{_OF_STEPS} ? {_STEPS} : [variables.job].map(o, [[{_PARTS}]])[0]",
            "prices": "variables.parts.map(g, g.map(l, l.filter(x, x.n > 0 && x.a > 0).map(x, [x.s].map(s, "
            f"{_LOWEST} * x.n * x.a * {_deadline('x.e')})[0])))",
            "whole": f"[variables.job].map(o, {_WHOLE})[0]",
            "usd": f"({_OF_STEPS} ? {_DEAREST} : variables.prices[0][0].sum() + variables.whole.sum()) * "
            f"(variables.trials > 0 ? variables.trials : 1) / {_UNIT}",
            "open": f"variables.kind == 'TrainJob' && [variables.job].exists(o, {_OPEN}) ? "
            "'an unknown number of USD: the GPUs of its nodes are not in trainer.resourcesPerNode' : "
            f"{KIND} == 'CronJob' && variables.usd > 0 && ![{O}.spec].exists(o, has(o.concurrencyPolicy) && "
            "o.concurrencyPolicy in ['Forbid', 'Replace']) ? string(variables.usd) + ' USD or more for each run, and "
            "runs overlap: concurrencyPolicy is not Forbid or Replace' : ''",
        },
        expression="variables.most < 0 || (variables.usd <= variables.most && variables.open == '')",
        found="[(variables.open != '' ? variables.open : string(variables.usd) + "
        "' USD or more until its deadline') + ', and one job of this team at most ' + string(variables.most)]",
    )
