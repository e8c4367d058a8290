"""A training as a JobSet, and as a TrainJob, whose runtime is the template of a JobSet."""

from __future__ import annotations

from typing import Any, Final

from components.workloads.checks.bounds import DAY
from components.workloads.distributed.args import MASTER_PORT, DistributedTrainingArgs
from components.workloads.distributed.fabric import pod_annotations, with_environment
from components.workloads.metadata import SKIP_AWAIT, metadata, pod_metadata
from components.workloads.pods import container, pod_spec

NODE: Final = "node"
"""Name of the replicated job and of its container: Trainer looks for it by this name (Trainer 2.3, runtime guide)."""
RECLAIMED: Final = {
    # A job of the set that ends because a node was taken away restarts the set without counting as a failure: its own
    # failure policy gives that reason (jobset.sigs.k8s.io, "Failure Policy", host maintenance; 0.12).
    "name": "reclaimed",
    "action": "RestartJobSetAndIgnoreMaxRestarts",
    "onJobFailureReasons": ["PodFailurePolicy"],
}


def jobset(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """A JobSet that starts torchrun by itself, with the first pod as the meeting point."""
    spec = _set(name, args, command=_torchrun(name, args))
    ttl = DAY if args.ttl_seconds is None else args.ttl_seconds
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"}),
        "spec": {**spec, "suspend": args.suspend, "ttlSecondsAfterFinished": ttl},
    }


def training_runtime(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """The runtime of one TrainJob. It has no time to live: Trainer would make the JobSet anew once that is over, and so
    train again (kubeflow/trainer#3779, seen until 2.2; 2.3 still has no field of its own for it, #4052)."""
    spec = _set(name, args, command=list(args.pod.command))
    (node,) = spec["replicatedJobs"]
    node["template"]["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    # Number and deadline come from the TrainJob.
    for field in ("parallelism", "completions", "activeDeadlineSeconds"):
        node["template"]["spec"].pop(field, None)
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": metadata(name, args.target),
        "spec": {"mlPolicy": {"numNodes": args.nodes, "torch": {}}, "template": {"spec": spec}},
    }


def train_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """The TrainJob. Trainer tells torchrun of the others by `PET_*` variables: the command is `torchrun train.py`."""
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
                # Repeated from the runtime: Kueue counts quota by it.
                "resourcesPerNode": args.pod.resources.manifest(),
            },
        },
    }


def _set(name: str, args: DistributedTrainingArgs, command: list[str]) -> dict[str, Any]:
    pod = with_environment(args)
    node = container(NODE, pod)
    if command:
        node["command"] = command
    spec = {**pod_spec(pod, args.target, [node], priority=args.priority), "restartPolicy": "Never"}
    job = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimit": 0,
        "completions": args.nodes,
        "parallelism": args.nodes,
        "podFailurePolicy": {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
        "template": {"metadata": pod_metadata(name, pod, args.target, pod_annotations(args)), "spec": spec},
    }
    return {
        "failurePolicy": {"maxRestarts": args.retries, "rules": [dict(RECLAIMED)]},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "replicatedJobs": [{"name": NODE, "replicas": 1, "template": {"spec": job}}],
    }


def _torchrun(name: str, args: DistributedTrainingArgs) -> list[str]:
    """torchrun in front of the script. Pods have the names `<set>-<job>-<job index>-<pod index>` in the set's domain
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
