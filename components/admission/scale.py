"""A limit on the number of pods of a workload."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, O, groups, ray, workers

_NO_BOUND: Final = 2**31 - 1
_PART: Final = f"{O}.spec[p].maxReplicas"
_JOB: Final = "(has(j.parallelism) ? j.parallelism : 1)"
_SIZE: Final = f"{O}.spec.leaderWorkerTemplate"
_ELASTIC: Final = f"{O}.spec.elasticPolicy"
_OPERATED: Final = literal([kind.kind for kind in kinds.OPERATED])
_RAY: Final = literal([kind.kind for kind in kinds.RAY])
_GROUPS: Final = (
    f"[({groups('has(g.replicas) ? int(g.replicas) : 1')} : []).sum()] + "
    f"(has({_ELASTIC}) && has({_ELASTIC}.maxReplicas) ? [int({_ELASTIC}.maxReplicas)] : [])"
)
_MOST: Final = f"(has(g.maxReplicas) ? int(g.maxReplicas) : {_NO_BOUND})"
_LEAST: Final = "(has(g.minReplicas) ? int(g.minReplicas) : 0)"
_WANTED: Final = "(has(g.replicas) ? int(g.replicas) : 0)"
_HOSTS: Final = "(has(g.numOfHosts) ? int(g.numOfHosts) : 1)"


def _ray(spec: str) -> str:
    """Workers of a Ray cluster: its autoscaler adds some up to `maxReplicas`; otherwise KubeRay raises `replicas` to
    `minReplicas` (kuberay v1.6.1, GetWorkerGroupDesiredReplicas)."""
    scales = f"has({spec}.enableInTreeAutoscaling) && {spec}.enableInTreeAutoscaling"
    fixed = f"({_LEAST} > {_WANTED} ? {_LEAST} : {_WANTED})"
    return f"[{workers(spec, f'{_HOSTS} * ({scales} ? {_MOST} : {fixed})')}.sum()]"


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
    f"{KIND} in {_RAY} ? {ray(_ray)} : "
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
        what="a workload has at most `maxReplicas` pods, and an autoscaled one sets a maximum",
        why="a wrong metric would scale it until the pools are full, at full cost",
        variables={"beyond": f"({_COUNTS}).filter(n, n > {maximum})"},
        expression="variables.beyond.size() == 0",
        message=Message(
            wrong="too many pods in this workload: ",
            found=f"variables.beyond.map(n, n >= {_NO_BOUND} ? 'no maximum' : string(n)).join(', ')",
            shown="numbers",
            fix=f". Set a maximum of at most {maximum}: maxReplicas of an autoscaler or InferenceService, "
            "maxReplicaCount of a ScaledObject, replicas, parallelism, maxReplicas of a Ray worker group",
        ),
    )
