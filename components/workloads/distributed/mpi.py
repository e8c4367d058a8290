"""A distributed training as an MPIJob of the MPI Operator: Horovod, DeepSpeed, NCCL tests.

The launcher is a Job that runs `mpirun`, which starts the processes on the workers by SSH; the operator creates the key
and the host file. The image has what `mpioperator/base` has: Open MPI, and an SSH server that user 1000 (`mpiuser`) can
start with its own configuration on port 2222 (github.com/kubeflow/mpi-operator v0.8.2, build/base).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from components.workloads.distributed.args import DistributedTrainingArgs
from components.workloads.distributed.fabric import environment, with_environment
from components.workloads.distributed.operator import pod_template, training_job
from components.workloads.pods import container_security
from components.workloads.resources import Resources

API: Final = "kubeflow.org/v2beta1"
HOME: Final = "/home/mpiuser"
SSH_PORT: Final = 2222
LAUNCHER: Final = Resources(cpu="1", memory="2Gi")
_SSHD: Final = ("/usr/sbin/sshd", "-De", "-f", f"{HOME}/.sshd_config", "-o", "PidFile=none")
"""Without a PID file, because the root file system is read-only."""
_PATHS: Final = ("LD_LIBRARY_PATH", "PATH")
"""Variables of the image that a session of SSH doesn't have."""


def mpi_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """The workers with an SSH server each, and the launcher."""
    worker = replace(with_environment(args), command=_SSHD, args=())
    launcher = replace(
        with_environment(args), resources=LAUNCHER, shared_memory=None, command=_mpirun(args), args=args.pod.args
    )
    # The image's sshd has this file capability, and the kernel starts such a file only if the container may have it
    # (capabilities(7)). It is the only one that the Pod Security Standard `restricted` allows.
    security = container_security(worker)
    security["capabilities"] = {**security["capabilities"], "add": ["NET_BIND_SERVICE"]}
    answers = {"tcpSocket": {"port": SSH_PORT}, "periodSeconds": 5}
    specs = {
        "Launcher": {
            "replicas": 1,
            "restartPolicy": "OnFailure",
            "template": pod_template(name, args, launcher, "launcher"),
        },
        "Worker": {
            "replicas": args.nodes,
            "restartPolicy": "Never",
            "template": pod_template(name, args, worker, "worker", readinessProbe=answers, securityContext=security),
        },
    }
    spec = {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": specs,
        "slotsPerWorker": args.processes_per_node,
        "sshAuthMountPath": f"{HOME}/.ssh",
    }
    return training_job(API, "MPIJob", name, args, spec)


def _mpirun(args: DistributedTrainingArgs) -> tuple[str, ...]:
    """mpirun over all slots, with the operator's host file. Variables are passed by name (mpirun(1), -x)."""
    names = sorted({*_PATHS, *environment(args), *args.target.env, *args.pod.env})
    passed = [part for key in names for part in ("-x", key)]
    processes = args.nodes * args.processes_per_node
    return ("mpirun", "-np", str(processes), "--bind-to", "none", *passed, *args.pod.command)
