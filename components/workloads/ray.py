"""Ray on KubeRay: a cluster, a job with a cluster of its own, a service on a cluster."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pulumi
import yaml

from components.base.placement import NOT_MOVED
from components.workloads.checks.fit import choice
from components.workloads.checks.jobs import (
    count_problems,
    deadline_problems,
    lifetime_problems,
    retries_problems,
    served_problems,
    suspended_problems,
)
from components.workloads.checks.pods import pod_problems
from components.workloads.component import Workload, WorkloadManifest, WorkloadManifests, refuse_if_any
from components.workloads.metadata import SKIP_AWAIT, kept, metadata, pod_metadata
from components.workloads.pods import Pod, Resources, container, pod_spec
from components.workloads.target import Target
from spec.jobs import LONGEST, LONGEST_IDLE, SPOT_NOTICE_SECONDS
from spec.quantities import is_amount, parse
from spec.settings.addons.batch import Kuberay
from spec.settings.capacity import Market
from spec.settings.problems import Problem
from spec.teams.labels import JOB, SERVING

MINIMUM_VERSION: Final = (2, 52, 0)
"""First version of Ray with token authentication (kuberay v1.6.1, ValidateRayClusterSpec)."""


@dataclass(frozen=True, kw_only=True)
class RayWorkers:
    """A group of equal workers.

    Attributes:
        pod: The worker; its number of CPUs and GPUs, and its memory, are what Ray schedules on. Without
            `shared_memory` a third of its memory is in /dev/shm, for Ray's object store.
        replicas: Number of workers.
    """

    pod: Pod
    replicas: int = 1


@dataclass(frozen=True, kw_only=True)
class RayClusterArgs:
    """Inputs of `RayCluster`.

    Attributes:
        target: The target platform and namespace.
        head: The head, on a pool without GPUs that is not Spot. Ray runs no tasks on it.
        workers: Groups of workers by name, on the pools of their pods, Spot included.
        ray_version: Version of Ray in the images: `"2.52.0"`.
        token: Whether the dashboard, which runs code, and the clients need the token that KubeRay creates in a Secret
            of the cluster's name; Ray supports it from 2.52 on.
        priority: Priority class.
        suspend: Create it suspended; the queue starts all pods together or none.
    """

    target: Target
    head: Pod
    workers: Mapping[str, RayWorkers]
    ray_version: str
    token: bool = True
    priority: str = "interactive"
    suspend: bool = True


@dataclass(frozen=True, kw_only=True)
class RayJobArgs(RayClusterArgs):
    """Inputs of `RayJob`.

    Attributes:
        entrypoint: Shell command of the driver, which runs on the head: `"python train.py"`.
        runtime_env: Runtime environment of the job: `{"working_dir": "s3://bucket/code.zip"}`.
        deadline_seconds: Maximum duration of each attempt, from its start by the queue.
        retries: Attempts after the first; each has a new cluster.
        ttl_seconds: How long the cluster of a finished job is kept. It holds its nodes, outside the quota.
        priority: Priority class.
    """

    entrypoint: str
    runtime_env: Mapping[str, Any] | None = None
    deadline_seconds: int | None = None
    retries: int | None = 3
    ttl_seconds: int = 0
    priority: str = "production-training"


@dataclass(frozen=True, kw_only=True)
class RayServiceArgs(RayClusterArgs):
    """Inputs of `RayService`.

    Attributes:
        serve: Ray Serve's configuration: `{"applications": [...]}`. A change of it is applied without a restart; one
            of the cluster needs a new service.
        priority: Priority class.
    """

    serve: Mapping[str, Any]
    priority: str = "production-inference"


HEAD: Final = "ray-head"
WORKER: Final = "ray-worker"
SERVE_PORT: Final = 8000
METRICS: Final = {"name": "metrics", "containerPort": 8080, "protocol": "TCP"}
_PORTS: Final = {"gcs-server": 6379, "dashboard": 8265, "client": 10001}
"""Names and ports of a head (kuberay v1.6.1, ray-operator/controllers/ray/utils/constant.go)."""
APPLICATION: Final = "app.kubernetes.io/name"
_STORE: Final = 3
"""Ray's object store has 30% of the memory, and /dev/shm must hold it, or Ray uses the disk (docs.ray.io, "Memory
Management", read 2026-11)."""
_MIB: Final = 2**20


def cluster_spec(name: str, args: RayClusterArgs, *, serves: bool = False) -> dict[str, Any]:
    """The spec of the cluster. Worker groups have a fixed size: Kueue counts `replicas`, and KubeRay starts a number
    between the other two."""
    return {
        "authOptions": {"mode": "token" if args.token else "disabled"},
        "headGroupSpec": {
            # Without CPUs Ray schedules no task there (docs.ray.io, "Best practices for large clusters").
            "rayStartParams": {"num-cpus": "0"},
            "template": head(name, args, serves=serves),
        },
        "rayVersion": args.ray_version,
        "workerGroupSpecs": [
            {
                "groupName": group,
                "replicas": each.replicas,
                "minReplicas": each.replicas,
                "maxReplicas": each.replicas,
                # KubeRay adds to this map, which must exist.
                "rayStartParams": {},
                "template": worker(name, args, each.pod, serves=serves),
            }
            for group, each in sorted(args.workers.items())
        ],
    }


def head(name: str, args: RayClusterArgs, *, serves: bool) -> dict[str, Any]:
    """Pod template of the head."""
    ports = [{"name": port, "containerPort": number, "protocol": "TCP"} for port, number in _PORTS.items()]
    return _template(name, args, HEAD, args.head, [*ports, METRICS], serves=serves, moved=False)


def worker(name: str, args: RayClusterArgs, pod: Pod, *, serves: bool) -> dict[str, Any]:
    """Pod template of a worker. One that serves may be moved to another node: requests go to the others."""
    return _template(name, args, WORKER, pod, [METRICS], serves=serves, moved=serves)


def with_store(pod: Pod) -> Pod:
    """The pod with shared memory for the object store."""
    memory = pod.resources.memory
    if pod.shared_memory is not None or not is_amount(memory):
        return pod
    return replace(pod, shared_memory=f"{int(parse(memory)) // _STORE // _MIB}Mi")


def _template(
    name: str, args: RayClusterArgs, role: str, pod: Pod, ports: list[Mapping[str, Any]], *, serves: bool, moved: bool
) -> dict[str, Any]:
    ours = with_store(pod)
    serve = [{"name": "serve", "containerPort": SERVE_PORT, "protocol": "TCP"}] if serves else []
    ray = container(role, ours, args.target, ports=[*ports, *serve])
    # Load balancers reach the workers, which answer requests; the head has the dashboard.
    more = {SERVING: "true"} if serves and role == WORKER else {}
    meta = pod_metadata(name, ours, args.target, None if moved else kept(ours, args.target), more=more)
    # KubeRay sets this label, and the head's Service of a RayJob or RayService selects its value (v1.6.1,
    # HeadServiceLabels).
    del meta["labels"][APPLICATION]
    return {"metadata": meta, "spec": pod_spec(ours, args.target, [ray], priority=args.priority)}


MOST_GROUPS: Final = 16
"""A Workload of Kueue has at most 18 pod sets (v0.19.2, jobframework.MaxPodSets): head, submitter and groups."""
_GROUP: Final = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")
_VERSION: Final = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")


def cluster_problems(kind: str, args: RayClusterArgs, *, serves: bool = False) -> Iterator[Problem]:
    """Problems of the cluster: its pods, their number and places."""
    yield from served_problems(args.target, kind, Kuberay)
    yield from suspended_problems(args.suspend, args.target, kind)
    yield from _version_problems(args)
    yield from _head_problems(args, head("check", args, serves=serves)["spec"])
    if not args.workers or len(args.workers) > MOST_GROUPS:
        rule = f"a Ray cluster has from 1 to {MOST_GROUPS} groups of workers, because its head runs no tasks"
        yield Problem("workers", rule, sorted(args.workers), "Add a group, or join equal ones.")
    for name, group in sorted(args.workers.items()):
        path = f"workers.{name}"
        spec = worker("check", args, group.pod, serves=serves)["spec"]
        if not _GROUP.fullmatch(name) or name in ("head", "submitter"):
            rule = (
                "a group's name has at most 20 lowercase letters, digits and hyphens, and head and submitter are taken"
            )
            yield Problem("workers", rule, name, "Rename it.")
        yield from count_problems(f"{path}.replicas", group.replicas, 1, 1000)
        yield from _command_problems(f"{path}.pod", group.pod)
        yield from pod_problems(f"{path}.pod", spec, args.target, at_once=group.replicas)
        yield from _grace_problems(f"{path}.pod", group.pod, spec, args)


def _version_problems(args: RayClusterArgs) -> Iterator[Problem]:
    match = _VERSION.fullmatch(args.ray_version)
    if match is None:
        yield Problem("ray_version", "it must be a version of Ray", args.ray_version, "Write it like 2.52.0.")
    elif args.token and tuple(map(int, match.groups())) < MINIMUM_VERSION:
        least = ".".join(map(str, MINIMUM_VERSION))
        rule = f"token authentication needs Ray {least}"
        fix = "Use a newer image, or token=False: every pod of the team can then run code on the cluster."
        yield Problem("ray_version", rule, args.ray_version, fix)


def _head_problems(args: RayClusterArgs, spec: dict[str, Any]) -> Iterator[Problem]:
    yield from _command_problems("head", args.head)
    if args.head.resources.gpus or args.head.resources.mig:
        rule = "the head runs no tasks, so it needs no GPU"
        yield Problem("head.resources", rule, args.head.resources.gpus or "mig", "Request GPUs for the workers.")
    spot = [name for name, pool in choice(spec, args.target).pools.items() if pool.market is Market.SPOT]
    if spot:
        rule = f"the whole cluster is lost with its head, and nodes of pool {spot[0]} are Spot"
        yield Problem("head.pools", rule, spot, "Use a pool that is not Spot, like the general CPU pool.")
    yield from pod_problems("head", spec, args.target)


def _command_problems(path: str, pod: Pod) -> Iterator[Problem]:
    if pod.command or pod.args:
        rule = "KubeRay sets the command, `ray start`, and would run another one first, without end"
        yield Problem(f"{path}.command", rule, [*pod.command, *pod.args], "Remove it; a RayJob has an `entrypoint`.")


def _grace_problems(path: str, pod: Pod, spec: dict[str, Any], args: RayClusterArgs) -> Iterator[Problem]:
    spot = any(pool.market is Market.SPOT for pool in choice(spec, args.target).pools.values())
    if spot and pod.grace_seconds > SPOT_NOTICE_SECONDS:
        rule = f"a Spot node is terminated {SPOT_NOTICE_SECONDS} s after the interruption notice"
        yield Problem(f"{path}.grace_seconds", rule, pod.grace_seconds, "Let the worker end within two minutes.")


API: Final = "ray.io/v1"


def ray_cluster(name: str, args: RayClusterArgs) -> WorkloadManifests:
    """The manifests of a Ray cluster.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("RayCluster", name, cluster_problems("RayCluster", args))
    spec = {**cluster_spec(name, args), "suspend": args.suspend}
    return {"cluster": WorkloadManifest(ray_object("RayCluster", name, args, spec))}


def ray_object(kind: str, name: str, args: RayClusterArgs, spec: dict[str, Any]) -> dict[str, Any]:
    """An object of KubeRay in its queue."""
    meta = metadata(name, args.target, queued_as=args.priority, annotations={SKIP_AWAIT: "true"})
    return {"apiVersion": API, "kind": kind, "metadata": meta, "spec": spec}


class RayCluster(Workload):
    """The resources of a Ray cluster."""

    PULUMI_TYPE: Final = "slipway:workloads:RayCluster"

    def __init__(self, name: str, args: RayClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, ray_cluster(name, args), args.target, opts)


SUBMITTER: Final = "ray-job-submitter"
SUBMITTER_RESOURCES: Final = Resources(cpu="500m", memory="1Gi")


def ray_job(name: str, args: RayJobArgs) -> WorkloadManifests:
    """The manifests of a Ray job.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("RayJob", name, _job_problems(args))
    spec = {
        "activeDeadlineSeconds": args.deadline_seconds,
        "backoffLimit": args.retries,
        "entrypoint": args.entrypoint,
        "rayClusterSpec": cluster_spec(name, args),
        "shutdownAfterJobFinishes": True,
        "submissionMode": "K8sJobMode",
        "submitterPodTemplate": _submitter(name, args),
        "suspend": args.suspend,
        "ttlSecondsAfterFinished": args.ttl_seconds,
    }
    if args.runtime_env is not None:
        spec["runtimeEnvYAML"] = yaml.safe_dump(dict(args.runtime_env), sort_keys=True)
    return {"job": WorkloadManifest(ray_object("RayJob", name, args, spec))}


class RayJob(Workload):
    """The resources of a Ray job."""

    PULUMI_TYPE: Final = "slipway:workloads:RayJob"

    def __init__(self, name: str, args: RayJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, ray_job(name, args), args.target, opts)


def _submitter(name: str, args: RayJobArgs) -> dict[str, Any]:
    """The pod that submits the job and prints the driver's log. KubeRay's own has no security context, which the level
    `restricted` refuses."""
    pod = replace(args.head, resources=SUBMITTER_RESOURCES, shared_memory=None, volumes={})
    spec = pod_spec(pod, args.target, [container(SUBMITTER, pod, args.target)], priority=args.priority)
    return {"metadata": pod_metadata(name, pod, args.target, NOT_MOVED), "spec": {**spec, "restartPolicy": "Never"}}


def _job_problems(args: RayJobArgs) -> Iterator[Problem]:
    yield from cluster_problems("RayJob", args)
    if not args.entrypoint.strip():
        yield Problem("entrypoint", "a job needs a command", args.entrypoint, "Set it: python train.py.")
    yield from deadline_problems(args.deadline_seconds)
    yield from retries_problems(args.retries)
    yield from count_problems("ttl_seconds", args.ttl_seconds, 0, LONGEST_IDLE)
    if args.deadline_seconds is None or args.retries is None:
        return
    if args.deadline_seconds * (args.retries + 1) > LONGEST:
        rule = f"all {args.retries + 1} attempts together may take at most {LONGEST} s, and each may take the deadline"
        fix = f"Set at most {LONGEST // (args.retries + 1)}, or fewer retries."
        yield Problem("deadline_seconds", rule, args.deadline_seconds, fix)
    for template in (head("check", args, serves=False), *(worker("check", args, each.pod, serves=False)
                     for _, each in sorted(args.workers.items()))):  # fmt: skip
        yield from lifetime_problems("deadline_seconds", args.deadline_seconds, template["spec"], args.target)


def ray_service(name: str, args: RayServiceArgs) -> WorkloadManifests:
    """The manifests of a Ray service.

    Raises:
        WorkloadRefused: With all problems.
    """
    refuse_if_any("RayService", name, _service_problems(args))
    spec = {
        # The head has the dashboard, and answers no requests.
        "excludeHeadPodFromServeSvc": True,
        "rayClusterConfig": {**cluster_spec(name, args, serves=True), "suspend": args.suspend},
        "serveConfigV2": yaml.safe_dump(dict(args.serve), sort_keys=True),
        # Otherwise a change of the cluster starts a second one beside it, which Kueue doesn't count.
        "upgradeStrategy": {"type": "None"},
    }
    budget = _budget(name, args)
    return {
        "service": WorkloadManifest(ray_object("RayService", name, args, spec)),
        **({"budget": WorkloadManifest(budget)} if budget else {}),
    }


class RayService(Workload):
    """The resources of a Ray service."""

    PULUMI_TYPE: Final = "slipway:workloads:RayService"

    def __init__(self, name: str, args: RayServiceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, ray_service(name, args), args.target, opts)


def _budget(name: str, args: RayServiceArgs) -> dict[str, Any] | None:
    """A PodDisruptionBudget: one worker at a time; None for a single worker, whose drain it would block.

    `maxUnavailable` would block every drain: it needs a controller with a subresource `scale`, which a RayCluster
    doesn't have (kubernetes.io, "Specifying a Disruption Budget", arbitrary workloads).
    """
    workers = sum(group.replicas for group in args.workers.values())
    if workers < 2:
        return None
    selector = {"matchLabels": {JOB: name, "ray.io/node-type": "worker"}}
    spec = {"minAvailable": workers - 1, "selector": selector, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    meta = metadata(name, args.target)
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def _service_problems(args: RayServiceArgs) -> Iterator[Problem]:
    yield from cluster_problems("RayService", args, serves=True)
    applications = args.serve.get("applications")
    if not isinstance(applications, list | tuple) or not applications:
        rule = "Serve's configuration has a list of applications"
        yield Problem("serve", rule, sorted(args.serve), 'Write {"applications": [{"name": ..., "import_path": ...}]}.')
