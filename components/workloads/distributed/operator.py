"""A distributed training as a PyTorchJob of the training operator v1, or an MPIJob of the MPI Operator: both have
replica groups and a `runPolicy`."""

from __future__ import annotations

from typing import Any

from components.workloads.checks.bounds import DAY
from components.workloads.distributed.args import DistributedTrainingArgs
from components.workloads.distributed.fabric import pod_annotations, with_environment
from components.workloads.metadata import SKIP_AWAIT, metadata, pod_metadata
from components.workloads.pods import Pod, container, pod_spec


def pytorch_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """One master and the workers; the operator configures torchrun with `PET_*` variables."""
    template = pod_template(name, args, with_environment(args), "pytorch")
    replicas = {"Master": 1, "Worker": args.nodes - 1}
    specs = {
        role: {"replicas": count, "restartPolicy": "OnFailure", "template": template}
        for role, count in replicas.items()
        if count
    }
    spec = {"nprocPerNode": str(args.processes_per_node), "pytorchReplicaSpecs": specs}
    return training_job("kubeflow.org/v1", "PyTorchJob", name, args, spec)


def training_job(api: str, kind: str, name: str, args: DistributedTrainingArgs, spec: dict[str, Any]) -> dict[str, Any]:
    """A job of an operator, with the bounds of its run."""
    policy = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimit": args.retries,
        "cleanPodPolicy": "Running",
        "suspend": args.suspend,
        "ttlSecondsAfterFinished": DAY if args.ttl_seconds is None else args.ttl_seconds,
    }
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"}),
        "spec": {"runPolicy": policy, **spec},
    }


def pod_template(
    name: str, args: DistributedTrainingArgs, pod: Pod, container_name: str, **more: Any
) -> dict[str, Any]:
    """A pod template; `more` are additional fields of the container."""
    spec = pod_spec(pod, args.target, [container(container_name, pod, args.target, **more)], priority=args.priority)
    return {"metadata": pod_metadata(name, pod, args.target, pod_annotations(args)), "spec": spec}
