"""The component of a distributed training, and its checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pulumi

from components.workloads.checks.bounds import (
    DAY,
    bounds_problems,
    count_problems,
    deadline_problems,
    retries_problems,
    served_problems,
    suspended_problems,
)
from components.workloads.checks.lifetime import lifetime_problems
from components.workloads.checks.need import choice
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests
from components.workloads.distributed.args import DistributedTrainingArgs, Kind
from components.workloads.distributed.fabric import with_environment
from components.workloads.distributed.jobset import jobset, train_job, training_runtime
from components.workloads.distributed.mpi import mpi_job
from components.workloads.distributed.operator import pytorch_job
from components.workloads.pods import container, pod_spec
from components.workloads.refusal import refuse_if_any
from spec.pools import keys
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Jobset, MpiOperator, Trainer, TrainingOperator
from spec.settings.problems import Problem

SERVED_BY: Final[dict[Kind, type[AddonSettings]]] = {
    "TrainJob": Trainer,
    "PyTorchJob": TrainingOperator,
    "MPIJob": MpiOperator,
    "JobSet": Jobset,
}


def distributed_training(name: str, args: DistributedTrainingArgs) -> WorkloadManifests:
    """The manifests of a distributed training.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("DistributedTraining", name, _problems(args))
    if args.kind == "TrainJob":
        return {
            "runtime": WorkloadManifest(training_runtime(name, args)),
            "train-job": WorkloadManifest(train_job(name, args), needs=("runtime",)),
        }
    build = {"JobSet": jobset, "PyTorchJob": pytorch_job, "MPIJob": mpi_job}[args.kind]
    return {"job": WorkloadManifest(build(name, args))}


class DistributedTraining(Workload):
    """The resources of a distributed training."""

    PULUMI_TYPE: Final = "slipway:workloads:DistributedTraining"

    def __init__(self, name: str, args: DistributedTrainingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, distributed_training(name, args), args.target, opts)


def _problems(args: DistributedTrainingArgs) -> Iterator[Problem]:
    pod = with_environment(args)
    spec = pod_spec(pod, args.target, [container("node", pod, args.target)], priority=args.priority)
    yield from served_problems(args.target, args.kind, SERVED_BY[args.kind])
    if args.kind == "TrainJob":
        yield from deadline_problems(args.deadline_seconds)
        yield from retries_problems(args.retries)
        if args.ttl_seconds is not None:
            rule = "a TrainJob of Trainer 2.3 has no TTL: its JobSet would be recreated and train again"
            yield Problem("ttl_seconds", rule, args.ttl_seconds, "Remove it; remove the finished job from the program.")
    else:
        ttl = DAY if args.ttl_seconds is None else args.ttl_seconds
        yield from bounds_problems(args.deadline_seconds, ttl, args.retries)
    yield from count_problems("nodes", args.nodes, 1, 1000)
    yield from suspended_problems(args.suspend, args.target, args.kind)
    yield from _process_problems(args)
    yield from pod_problems("pod", spec, args.target, at_once=args.nodes)
    yield from spot_problems("pod", spec, args.target)
    yield from lifetime_problems("deadline_seconds", args.deadline_seconds, spec, args.target)
    yield from _fabric_problems(args, spec)


def _process_problems(args: DistributedTrainingArgs) -> Iterator[Problem]:
    gpus = args.pod.resources.gpus
    if gpus and args.processes_per_node > gpus:
        rule = f"each process needs a GPU of its own, and a pod has {gpus}"
        yield Problem("processes", rule, args.processes, f"Set it to {gpus}, or remove it.")
    if args.pod.resources.mig and args.nodes > 1:
        rule = "NCCL doesn't support communication between MIG instances"
        yield Problem("pod.resources.mig", rule, dict(args.pod.resources.mig), "Use whole GPUs, or a `Sweep`.")
    if not args.pod.command:
        rule = "a distributed training needs a command, which every node runs"
        yield Problem("pod.command", rule, None, 'Set the script and its arguments: ("torchrun", "train.py").')


def _fabric_problems(args: DistributedTrainingArgs, spec: dict[str, Any]) -> Iterator[Problem]:
    """A topology that no pool has; pods without the pool's EFA, which would use TCP at a tenth of the speed."""
    elsewhere = sorted(set(args.pod.pools) - (args.target.by_topology or frozenset()))
    if args.topology is not None and args.target.by_topology is not None and (elsewhere or not args.pod.pools):
        rule = "a queue places pods by topology only on EFA pools of fixed size, with queues.topology: true"
        yield Problem("topology", rule, elsewhere, "Remove it: without a topology the job would wait forever.")
    if args.nodes == 1:
        return
    for name, pool in choice(spec, args.target).pools.items():
        offered = pool.resources.get(keys.EFA, 0)
        if offered and not args.pod.resources.efa:
            rule = f"nodes of pool {name} have {offered} EFA, and without them NCCL uses TCP"
            share = max(1, offered * args.pod.resources.gpus // max(1, pool.gpu_count))
            yield Problem("pod.resources.efa", rule, 0, f"Request {share}.")
    zones = {zone for name in args.pod.pools if name in args.target.pools for zone in args.target.pools[name].zones}
    efa = args.pod.resources.efa
    if efa and len(zones) > 1:
        rule = "EFA works only within a zone, and these pools have several"
        yield Problem("pod.pools", rule, sorted(zones), "Use pools of one zone.")
