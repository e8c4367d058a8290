"""What a job may cost until its deadline: its pods, times the price of their part of a node, times its deadline.

The rule takes the lowest price of the pools that a pod may use, and counts no idle part of a node: it refuses only what
costs more in any case. `slipway why FILE` says what whole nodes cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from components.admission import kinds
from components.admission.context import StackContext
from components.admission.jobs import max_restarts
from components.admission.placement import SELECTED
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, PARTIAL, O, groups, ray, workers
from spec.teams.labels import JOB_USD

_LIMITS: Final = "has(c.resources) && has(c.resources.limits)"
_UNIT: Final = 1000 * 3600
"""Prices are in thousandths of a USD an hour, and times in seconds: CEL adds whole numbers of one type."""
_DEVICES: Final = (
    f"s.containers.filter(c, {_LIMITS}).map(c, c.resources.limits.filter(r, r in p.usd)"
    ".map(r, quantity(string(c.resources.limits[r])).asInteger() * p.usd[r]).sum()).sum()"
)
# A pod that asks for no GPU of any pool costs nothing here.
_RATE: Final = (
    f"[variables.priced.filter(p, {SELECTED}).map(p, {_DEVICES}).filter(u, u > 0)]"
    ".map(us, us.size() == 0 ? 0 : us.min())[0]"
)
"""Lowest price of one pod `s`, in thousandths of a USD an hour."""


def _part(pod: str, count: str, seconds: str) -> str:
    """What pods that are alike cost, as a list of one."""
    return f"[{pod}].map(s, {_RATE} * ({count}) * ({seconds}))"


def _deadline(holder: str) -> str:
    """Without a deadline the rule `job-bounds` refuses it."""
    return f"(has({holder}.activeDeadlineSeconds) ? int({holder}.activeDeadlineSeconds) : 0)"


def _number(holder: str, field: str) -> str:
    return f"(has({holder}.{field}) ? int({holder}.{field}) : 1)"


def _job(holder: str) -> str:
    return _part(f"{holder}.template.spec", _number(holder, "parallelism"), _deadline(holder))


_OPERATED: Final = literal([kind.kind for kind in kinds.OPERATED])
_RUNS: Final = f"(has({O}.spec.runPolicy) ? {_deadline(f'{O}.spec.runPolicy')} : 0)"
_ATTEMPTS: Final = f"((has({O}.spec.backoffLimit) ? int({O}.spec.backoffLimit) : 0) + 1)"
_RAY_SECONDS: Final = f"{_deadline(f'{O}.spec')} * {_ATTEMPTS}"
_SET_SECONDS: Final = f"{_deadline('j.template.spec')} * ({max_restarts(f'{O}.spec')} + 1)"
_SET_PODS: Final = f"{_number('j', 'replicas')} * {_number('j.template.spec', 'parallelism')}"
_NODE: Final = f"{O}.spec.trainer.resourcesPerNode"
# The runtime has the rest of the pod: the pool that it selects is known only where the TrainJob patches it.
_SELECTS: Final = (
    f"{PARTIAL}.map(l, l.filter(s, has(s.nodeSelector))).filter(l, l.size() > 0).map(l, l[0].nodeSelector)"
)
_TRAINER: Final = (
    f"dyn({{'containers': dyn([{{'resources': {_NODE}}}]), "
    f"'nodeSelector': [{_SELECTS}].map(l, l.size() > 0 ? dyn(l[0]) : dyn({{}}))[0]}})"
)


def _ray(spec: str) -> str:
    group = _part("g.template.spec", _number("g", "replicas"), _RAY_SECONDS)
    return f"{_part(f'{spec}.headGroupSpec.template.spec', '1', _RAY_SECONDS)} + {workers(spec, f'{group}[0]')}"


_EACH: Final = (
    f"{KIND} == 'CronJob' ? {_job(f'{O}.spec.jobTemplate.spec')} : "
    f"{KIND} == 'ScaledJob' ? {_job(f'{O}.spec.jobTargetRef')} : "
    f"{KIND} == 'JobSet' ? {O}.spec.replicatedJobs.map(j, "
    f"{_part('j.template.spec.template.spec', _SET_PODS, _SET_SECONDS)}[0]) : "
    f"{KIND} in {_OPERATED} ? ({groups(_part('g.template.spec', _number('g', 'replicas'), _RUNS) + '[0]')} : []) : "
    f"{KIND} == 'RayJob' ? {ray(_ray)} : "
    f"{KIND} == 'TrainJob' ? (has({O}.spec.trainer) && has({_NODE}) ? "
    f"{_part(_TRAINER, _number(f'{O}.spec.trainer', 'numNodes'), _deadline(f'{O}.spec'))} : []) : "
    f"{_job(f'{O}.spec')}"
)
_TEMPLATE: Final = f"{O}.spec.trialTemplate"
_TRIAL: Final = f"{_TEMPLATE}.trialSpec"
_JOBS: Final = (*kinds.JOBS, kinds.TRAIN_JOB)
_TRIALS: Final = (
    f"has({_TEMPLATE}) && has({_TRIAL}) && has({_TRIAL}.kind) && has({_TRIAL}.spec) && has({O}.spec.maxTrialCount) && "
    f"{_TRIAL}.kind in {literal([kind.kind for kind in _JOBS])} ? "
    f"({_EACH.replace(f'{O}.', f'{_TRIAL}.').replace(KIND, f'{_TRIAL}.kind')}).sum() * int({O}.spec.maxTrialCount) : 0"
)
"""What all trials of an Experiment cost: each is the job of its template (`components.admission.experiments`)."""
_NOTES: Final = "namespaceObject.metadata.annotations"
_MOST: Final = f"(has({_NOTES}) && '{JOB_USD}' in {_NOTES} ? int({_NOTES}['{JOB_USD}']) : -1)"


def job_cost(context: StackContext) -> Rule:
    """A job costs at most what its team lets one job cost."""
    return Rule(
        name="job-cost",
        kinds=(*_JOBS, kinds.EXPERIMENT),
        what="a job, or all trials of an Experiment, cost at most `teams.X.jobUsd` until the deadline, by the GPUs of "
        "the pods",
        why="a job that hangs costs its deadline times its nodes: four with eight H100 each are 15,000 USD a weekend",
        variables={
            "priced": literal(_priced(context.prices)),
            "usd": f"({KIND} == '{kinds.EXPERIMENT.kind}' ? ({_TRIALS}) : ({_EACH}).sum()) / {_UNIT}",
            "most": _MOST,
        },
        expression="variables.most < 0 || variables.usd <= variables.most",
        message=Message(
            wrong="this job may cost ",
            found="string(variables.usd) + ' USD or more until its deadline, and one job of this team at most ' + "
            "string(variables.most)",
            shown="USD until its deadline, and the bound of its team",
            fix=". Lower activeDeadlineSeconds, the number of pods, trials or GPUs, and continue from a checkpoint; or "
            "have `teams.X.jobUsd` raised in the stack file",
        ),
        left="only its author knows how long it has to run",
    )


def _priced(prices: Mapping[str, Mapping[str, int]]) -> Sequence[Mapping[str, object]]:
    return [{"name": pool, "usd": dict(sorted(devices.items()))} for pool, devices in sorted(prices.items()) if devices]
