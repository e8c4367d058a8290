"""A distributed training as a PyTorchJob or MPIJob of the training operator v1, for code that still needs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from components.workloads.checks.bounds import DAY
from components.workloads.distributed.args import DistributedTrainingArgs
from components.workloads.distributed.fabric import environment, pod_annotations, with_environment
from components.workloads.metadata import SKIP_AWAIT, metadata, pod_metadata
from components.workloads.pods import Pod, container, pod_spec
from components.workloads.resources import Resources

API: Final = "kubeflow.org/v1"
LAUNCHER: Final = Resources(cpu="1", memory="2Gi")


def pytorch_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """One master and the workers; the operator configures torchrun with `PET_*` variables."""
    template = _template(name, args, with_environment(args), "pytorch")
    replicas = {"Master": 1, "Worker": args.nodes - 1}
    specs = {
        role: {"replicas": count, "restartPolicy": "OnFailure", "template": template}
        for role, count in replicas.items()
        if count
    }
    spec = {"nprocPerNode": str(args.processes_per_node), "pytorchReplicaSpecs": specs}
    return _job("PyTorchJob", name, args, spec)


def mpi_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """Idle workers, and a launcher that starts the command in each: Horovod, DeepSpeed, NCCL tests."""
    workers = replace(with_environment(args), command=("sleep",), args=("infinity",))
    # The launcher needs no GPU, but the API token, to run commands in the workers.
    launcher = replace(
        with_environment(args),
        resources=LAUNCHER,
        shared_memory=None,
        command=_mpirun(args),
        args=args.pod.args,
        api_token=True,
    )
    first = _template(name, args, launcher, "mpi")
    # The operator creates a service account with those permissions, unless one is set.
    del first["spec"]["serviceAccountName"]
    specs = {
        "Launcher": {"replicas": 1, "restartPolicy": "OnFailure", "template": first},
        "Worker": {
            "replicas": args.nodes,
            "restartPolicy": "Never",
            "template": _template(name, args, workers, "mpi"),
        },
    }
    return _job("MPIJob", name, args, {"slotsPerWorker": args.processes_per_node, "mpiReplicaSpecs": specs})


def _job(kind: str, name: str, args: DistributedTrainingArgs, spec: dict[str, Any]) -> dict[str, Any]:
    policy = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimit": args.retries,
        "cleanPodPolicy": "Running",
        "suspend": args.suspend,
        "ttlSecondsAfterFinished": DAY if args.ttl_seconds is None else args.ttl_seconds,
    }
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"}),
        "spec": {"runPolicy": policy, **spec},
    }


def _template(name: str, args: DistributedTrainingArgs, pod: Pod, container_name: str) -> dict[str, Any]:
    spec = pod_spec(pod, args.target, [container(container_name, pod, args.target)], priority=args.priority)
    return {"metadata": pod_metadata(name, pod, args.target, pod_annotations(args)), "spec": spec}


def _mpirun(args: DistributedTrainingArgs) -> tuple[str, ...]:
    """mpirun over all slots, with the operator's host file. Variables are passed by name (mpirun(1), -x)."""
    passed = [part for key in sorted({**environment(args), **args.pod.env}) for part in ("-x", key)]
    processes = args.nodes * args.processes_per_node
    return ("mpirun", "-np", str(processes), "--bind-to", "none", *passed, *args.pod.command)
