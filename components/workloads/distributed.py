"""Training on several nodes, which start together or not at all: as a JobSet, a TrainJob, a PyTorchJob, a TFJob or an
MPIJob (Horovod, DeepSpeed).

Of an MPIJob the launcher is a Job that runs `mpirun`, which starts the processes on the workers by SSH; the operator
creates the key and the host file. The image has what `mpioperator/base` has: Open MPI, and an SSH server that user 1000
(`mpiuser`) can start with its own configuration on port 2222 (github.com/kubeflow/mpi-operator v0.8.2, build/base).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import pulumi

from components.addons.kubeflow_crds import KINDS
from components.addons.trainer import failure_policy, job_failures
from components.workloads.checks.fit import choice
from components.workloads.checks.jobs import (
    bounds_problems,
    count_problems,
    deadline_problems,
    lifetime_problems,
    retries_problems,
    served_problems,
    suspended_problems,
)
from components.workloads.checks.pods import pod_problems, spot_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, gang, kept, metadata, placed, pod_metadata
from components.workloads.pods import Pod, Resources, Staged, container, container_security, pod_spec
from components.workloads.target import Target
from spec.jobs import DAY, PODSET
from spec.pools import keys
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Jobset, MpiOperator, Trainer, TrainingOperator
from spec.settings.problems import Problem


def environment(args: DistributedTrainingArgs) -> dict[str, str]:
    """Environment of each process; the user's variables override it.

    Only what is needed: NCCL and aws-ofi-nccl detect the rest, and most settings of older guides slow them down or
    break them (aws-samples/awsome-distributed-training, efa-cheatsheet.md, 2026-08: `NCCL_BUFFSIZE`,
    `NCCL_MIN_CHANNELS`, `NCCL_PROTO`, `FI_EFA_USE_DEVICE_RDMA`, `FI_EFA_FORK_SAFE` and `RDMAV_FORK_SAFE` are best left
    out with libfabric >= 1.18 and aws-ofi-nccl >= 1.7).
    """
    common = {
        # WARN names a failing peer; INFO also shows whether NCCL uses EFA ("NET/OFI Selected provider is efa").
        "NCCL_DEBUG": args.nccl_debug,
        # The bootstrap uses TCP, on the only network interface of a pod with the VPC CNI (aws/amazon-vpc-cni-k8s,
        # README: the container's interface is eth0).
        "NCCL_SOCKET_IFNAME": "eth0",
    }
    if not args.pod.resources.efa:
        return common
    # libfabric would silently fall back to TCP if EFA isn't usable; with the provider set, it fails instead (fi_efa(7),
    # libfabric 1.22; EKS User Guide, "Run machine learning training on Amazon EKS with EFA").
    return {**common, "FI_PROVIDER": "efa"}


def with_environment(args: DistributedTrainingArgs) -> Pod:
    """The pod with the environment of the fabric; the user's variables override it."""
    return replace(args.pod, env={**environment(args), **args.pod.env})


def pod_annotations(args: DistributedTrainingArgs) -> dict[str, str]:
    """Annotations of the pod template."""
    ours = kept(args.pod, args.target)
    if args.topology is not None:
        ours[f"{PODSET}{'required' if args.topology.required else 'preferred'}-topology"] = args.topology.level
    return placed(ours, args.pod, args.target)


def together(args: DistributedTrainingArgs, spec: Mapping[str, Any]) -> dict[str, str]:
    """The same of pods that start together."""
    return {**pod_annotations(args), **gang(args.nodes, spec, args.target)}


LAUNCHER_NAME: Final = "launcher"  # Container of the pod that starts the others. It is no member of their gang.
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
        "template": {"metadata": pod_metadata(name, pod, args.target, together(args, spec)), "spec": spec},
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


_CONTAINER: Final = {"PyTorchJob": "pytorch", "TFJob": "tensorflow"}
"""Name of the container that the training operator configures, by kind (v1.9.4, pkg/apis/kubeflow.org/v1,
`*JobDefaultContainerName`)."""


def operated_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """A job of the training operator, which configures torchrun with `PET_*` variables and TensorFlow with `TF_CONFIG`.

    One pod of a PyTorchJob is its master. A TFJob has equal workers, as MultiWorkerMirroredStrategy takes them, and
    ends when all have: by default it would end, and stop the others, with the first one.
    """
    if args.kind == "PyTorchJob":
        replicas, more = {"Master": 1, "Worker": args.nodes - 1}, {"nprocPerNode": str(args.processes_per_node)}
    else:
        replicas, more = {"Worker": args.nodes}, {"successPolicy": "AllWorkers"}
    template = pod_template(name, args, with_environment(args), _CONTAINER[args.kind])
    specs = {
        role: {"replicas": count, "restartPolicy": "OnFailure", "template": template}
        for role, count in replicas.items()
        if count
    }
    return training_job("kubeflow.org/v1", args.kind, name, args, {KINDS[args.kind].replicas: specs, **more})


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
    notes = pod_annotations(args) if container_name == LAUNCHER_NAME else together(args, spec)
    return {"metadata": pod_metadata(name, pod, args.target, notes), "spec": spec}


API: Final = "kubeflow.org/v2beta1"
HOME: Final = "/home/mpiuser"
SSH_PORT: Final = 2222
LAUNCHER: Final = Resources(cpu="1", memory="2Gi")
_SSHD: Final = ("/usr/sbin/sshd", "-De", "-f", f"{HOME}/.sshd_config", "-o", "PidFile=none")
"""Without a PID file, because the root file system is read-only."""
_PATHS: Final = ("LD_LIBRARY_PATH", "PATH")  # variables of the image that a session of SSH doesn't have


def mpi_job(name: str, args: DistributedTrainingArgs) -> dict[str, Any]:
    """The workers with an SSH server each, and the launcher."""
    worker = replace(with_environment(args), command=_SSHD, args=())
    volumes = {name: source for name, source in worker.volumes.items() if not isinstance(source, Staged)}
    launcher = replace(
        with_environment(args),
        resources=LAUNCHER,
        shared_memory=None,
        command=_mpirun(args),
        args=args.pod.args,
        # Its processes are the workers'.
        volumes=volumes,
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
            "template": pod_template(name, args, launcher, LAUNCHER_NAME),
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


Kind = Literal["TrainJob", "PyTorchJob", "TFJob", "MPIJob", "JobSet"]
MASTER_PORT: Final = 29400  # rendezvous port of the processes; torchrun's default


@dataclass(frozen=True, kw_only=True)
class Topology:
    """How close to each other the pods are placed, by Kueue's topology-aware scheduling.

    Attributes:
        level: Node label with the same value for all pods: a level of the Topology of the pool's flavor.
        required: Wait until such a placement is possible; otherwise it is only preferred.
    """

    level: str = "topology.k8s.aws/network-node-layer-3"
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class DistributedTrainingArgs:
    """Inputs of `DistributedTraining`.

    Attributes:
        target: The target platform and namespace.
        pod: The pod on each node. For MPIJob, the launcher starts its command on all of them.
        nodes: Number of pods; each has its own node if it requests all GPUs of one.
        processes: Processes per pod; by default one per GPU. Not for TFJob, whose processes use all GPUs of a pod.
        kind: Controller: Trainer (`TrainJob`), training operator (`PyTorchJob`, `TFJob`), MPI Operator (`MPIJob`) or
            only JobSet.
        deadline_seconds: Maximum total duration, including restarts.
        ttl_seconds: How long the finished job is kept; a day by default. Not for TrainJob, which has no TTL.
        retries: Failures before it fails; disruptions don't count for TrainJob and JobSet.
        topology: How close to each other the pods are placed.
        priority: Priority class.
        suspend: Create it suspended; the queue starts all pods together or none.
        nccl_debug: Log level of NCCL.
    """

    target: Target
    pod: Pod
    nodes: int
    processes: int | None = None
    kind: Kind = "TrainJob"
    deadline_seconds: int | None = None
    ttl_seconds: int | None = None
    retries: int | None = 3
    topology: Topology | None = None
    priority: str = "production-training"
    suspend: bool = True
    nccl_debug: Literal["WARN", "INFO"] = "WARN"

    @property
    def processes_per_node(self) -> int:
        """Processes per pod."""
        return self.processes or max(1, self.pod.resources.gpus)


SERVED_BY: Final[dict[Kind, type[AddonSettings]]] = {
    "TrainJob": Trainer,
    "PyTorchJob": TrainingOperator,
    "TFJob": TrainingOperator,
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
    build = {"JobSet": jobset, "MPIJob": mpi_job}.get(args.kind, operated_job)
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
    if args.processes is not None and args.kind == "TFJob":
        rule = "a pod of a TFJob is one process, which uses all of its GPUs"
        yield Problem("processes", rule, args.processes, "Remove it.")
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
