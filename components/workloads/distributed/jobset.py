"""A distributed training as a JobSet, or as a TrainJob, whose runtime is the template of a JobSet."""

from __future__ import annotations

from typing import Any, Final

from components.addons.trainer.restarts import failure_policy, job_failures
from components.workloads.checks.bounds import DAY
from components.workloads.distributed.args import MASTER_PORT, DistributedTrainingArgs
from components.workloads.distributed.fabric import pod_annotations, with_environment
from components.workloads.metadata import SKIP_AWAIT, metadata, pod_metadata
from components.workloads.pods import container, pod_spec

NODE: Final = "node"
"""Name of the replicated job and its container, which Trainer requires (Trainer 2.3, runtime guide)."""


def jobset(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """A JobSet that starts torchrun, with the first pod as rendezvous endpoint."""
    spec = _set(name, args, command=_torchrun(name, args))
    ttl = DAY if args.ttl_seconds is None else args.ttl_seconds
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"}),
        "spec": {**spec, "suspend": args.suspend, "ttlSecondsAfterFinished": ttl},
    }


def training_runtime(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """The runtime of one TrainJob. It has no TTL: Trainer would recreate the JobSet after its expiry and train again
    (kubeflow/trainer#3779, seen until 2.2; 2.3 still has no TTL field, #4052)."""
    spec = _set(name, args, command=list(args.pod.command))
    (node,) = spec["replicatedJobs"]
    node["template"]["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    # The TrainJob sets the number of nodes and the deadline.
    for field in ("parallelism", "completions", "activeDeadlineSeconds"):
        node["template"]["spec"].pop(field, None)
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": metadata(name, args.target),
        "spec": {"mlPolicy": {"numNodes": args.nodes, "torch": {}}, "template": {"spec": spec}},
    }


def train_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """The TrainJob. Trainer configures torchrun with `PET_*` variables: the command is `torchrun train.py`."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"}),
        "spec": {
            "activeDeadlineSeconds": args.deadline_seconds,
            "runtimeRef": {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": name},
            "suspend": args.suspend,
            "trainer": {
                "numNodes": args.nodes,
                "numProcPerNode": args.processes_per_node,
                # Repeated from the runtime: Kueue uses it to compute quota.
                "resourcesPerNode": args.pod.resources.manifest(),
            },
        },
    }


def _set(name: str, args: DistributedTrainingArgs, command: list[str]) -> dict[str, Any]:
    pod = with_environment(args)
    node = container(NODE, pod, args.target)
    if command:
        node["command"] = command
    spec = {**pod_spec(pod, args.target, [node], priority=args.priority), "restartPolicy": "Never"}
    job = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "completions": args.nodes,
        "parallelism": args.nodes,
        **job_failures(),
        "template": {"metadata": pod_metadata(name, pod, args.target, pod_annotations(args)), "spec": spec},
    }
    return {
        "failurePolicy": failure_policy(args.retries),
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "replicatedJobs": [{"name": NODE, "replicas": 1, "template": {"spec": job}}],
    }


def _torchrun(name: str, args: DistributedTrainingArgs) -> list[str]:
    """The torchrun command. Pods have the names `<set>-<job>-<job index>-<pod index>` in the set's DNS domain
    (jobset.sigs.k8s.io, "Network")."""
    return [
        "torchrun",
        f"--nnodes={args.nodes}",
        f"--nproc-per-node={args.processes_per_node}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={name}-{NODE}-0-0.{name}:{MASTER_PORT}",
        f"--rdzv-id={name}",
        *args.pod.command,
    ]
