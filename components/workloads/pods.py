"""Pod specs that meet the Pod Security Standard `restricted`, with placement on pools, resources and volumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from components.addons.mlflow.values import IMAGE as MLFLOW_IMAGE
from components.base.operator import RESTRICTED
from components.workloads.target import Target
from spec.catalog import mig
from spec.pools import keys
from spec.pools.allocatable import EFA_HUGEPAGES_MIB, HUGEPAGES


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Resources of one container. Requests equal limits unless `cpu_limit` is set, so that the pod has QoS class
    Guaranteed and is evicted last.

    Attributes:
        cpu: vCPUs: `"8"`, `"500m"`.
        memory: Memory: `"64Gi"`.
        gpus: Whole GPUs; on a pool with shared GPUs, one share.
        mig: MIG instances by profile: `{"1g.10gb": 1}`.
        efa: Elastic Fabric Adapters; huge pages are added for them.
        cpu_limit: vCPU limit above the request, to use idle vCPUs of the node.
        scratch: Ephemeral storage for logs and files outside volumes: `"50Gi"`.
    """

    cpu: str
    memory: str
    gpus: int = 0
    mig: Mapping[str, int] = field(default_factory=dict)
    efa: int = 0
    cpu_limit: str | None = None
    scratch: str | None = None

    def manifest(self) -> dict[str, Any]:
        """`resources` of a container."""
        both: dict[str, str] = {"memory": self.memory}
        if self.gpus:
            both[keys.GPU] = str(self.gpus)
        both |= {mig.resource_name(profile): str(count) for profile, count in sorted(self.mig.items())}
        if self.efa:
            both |= {keys.EFA: str(self.efa), HUGEPAGES: f"{EFA_HUGEPAGES_MIB}Mi"}
        if self.scratch:
            both[keys.EPHEMERAL_STORAGE] = self.scratch
        return {"requests": {"cpu": self.cpu, **both}, "limits": {"cpu": self.cpu_limit or self.cpu, **both}}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A PersistentVolumeClaim of the namespace.

    Attributes:
        claim: Its name.
        path: Mount path.
        read_only: Whether to mount it read-only.
        sub_path: Folder of the volume to mount; the whole volume by default.
    """

    claim: str
    path: str
    read_only: bool = False
    sub_path: str | None = None


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """Ephemeral space of the pod: on the node's disk, or in memory.

    Attributes:
        path: Mount path.
        size: Size limit: `"20Gi"`. In memory it counts against the container's memory limit.
        memory: Whether it is in memory.
    """

    path: str
    size: str
    memory: bool = False


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of a ConfigMap of the namespace.

    Attributes:
        config_map: Its name.
        path: Mount path, in which each key is a file.
    """

    config_map: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Staged:
    """Files on the node's disk, copied there before the container starts, with its permissions. Each pod has a copy of
    its own.

    Attributes:
        uri: `s3://BUCKET/FOLDER`, whose objects are copied, or a version of a registered model in the team's MLflow:
            `models:/NAME/VERSION`, `models:/NAME@ALIAS`.
        path: Mount path.
        size: Size limit: `"400Gi"`.
    """

    uri: str
    path: str
    size: str


Volume: TypeAlias = Claim | Scratch | Files | Staged
STAGING: Final = "stage-"  # beginning of the names of containers that copy what is staged
STAGING_IMAGE: Final = "public.ecr.aws/aws-cli/aws-cli:2.31.0"
"""Supports EKS Pod Identity, like every version since 2.15 (EKS User Guide, "Use Pod Identity with the AWS SDK")."""


def volume(name: str, source: Volume) -> dict[str, Any]:
    """An entry of a pod's `volumes`."""
    if isinstance(source, Claim):
        return {"name": name, "persistentVolumeClaim": {"claimName": source.claim}}
    if isinstance(source, Files):
        return {"name": name, "configMap": {"name": source.config_map}}
    medium = {"medium": "Memory"} if isinstance(source, Scratch) and source.memory else {}
    return {"name": name, "emptyDir": {**medium, "sizeLimit": source.size}}


def mount(name: str, source: Volume) -> dict[str, Any]:
    """An entry of a container's `volumeMounts`."""
    entry: dict[str, Any] = {"name": name, "mountPath": source.path}
    if isinstance(source, Files) or (isinstance(source, Claim) and source.read_only):
        entry["readOnly"] = True
    if isinstance(source, Claim) and source.sub_path:
        entry["subPath"] = source.sub_path
    return entry


def volumes(sources: Mapping[str, Volume]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """`volumes` of a pod and `volumeMounts` of its container, sorted by name."""
    return [volume(*each) for each in sorted(sources.items())], [mount(*each) for each in sorted(sources.items())]


USER: Final = 1000
"""User and group of containers, and owner of volumes; images of Jupyter, PyTorch and vLLM run as any user."""
TMP: Final = Scratch(path="/tmp", size="20Gi")  # noqa: S108 - an emptyDir of the pod's own
"""The only writable folder besides volumes. HOME is in it, for caches of libraries."""


@dataclass(frozen=True, kw_only=True)
class SecretKey:
    """A value from a Secret of the namespace."""

    secret: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Pod:
    """One container and its placement.

    Attributes:
        image: Image with a tag other than `latest`, or a digest.
        pools: Pools that it may run on; it must fit on each.
        resources: Its resources.
        command: Command, replacing the image's entrypoint.
        args: Arguments.
        env: Environment variables by name.
        volumes: Volumes by name.
        shared_memory: Size of /dev/shm; by default the container runtime's 64 MiB.
        user: User ID; not 0.
        writable_root: Whether its root file system is writable; by default only `/tmp` and volumes are.
        grace_seconds: Termination grace period.
        api_token: Whether to mount the service account's API token; AWS permissions don't need it.
        labels: Additional labels of the pod.
        annotations: Additional annotations of the pod.
    """

    image: str
    pools: tuple[str, ...]
    resources: Resources
    command: Sequence[str] = ()
    args: Sequence[str] = ()
    env: Mapping[str, str | SecretKey] = field(default_factory=dict)
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    shared_memory: str | None = None
    user: int = USER
    writable_root: bool = False
    grace_seconds: int = 30
    api_token: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


def all_volumes(pod: Pod) -> dict[str, Volume]:
    """Volumes of the pod, including those that every pod has."""
    shared = {"shm": Scratch(path="/dev/shm", size=pod.shared_memory, memory=True)} if pod.shared_memory else {}  # noqa: S108
    return {"tmp": TMP, **shared, **pod.volumes}


def environment(env: Mapping[str, str | SecretKey]) -> list[dict[str, Any]]:
    """`env` of a container, sorted by name."""
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": value.secret, "key": value.key}}}
        if isinstance(value, SecretKey)
        else {"name": name, "value": value}
        for name, value in sorted(env.items())
    ]


def container_security(pod: Pod) -> dict[str, Any]:
    """Security context that `restricted` requires of a container (kubernetes.io, "Pod Security Standards")."""
    return {**RESTRICTED, "readOnlyRootFilesystem": not pod.writable_root}


def pod_security(pod: Pod) -> dict[str, Any]:
    """Security context of the pod. The owner of a volume's files is changed only if its root folder has another owner:
    visiting millions of files would delay every start."""
    return {
        "runAsNonRoot": True,
        "runAsUser": pod.user,
        "runAsGroup": pod.user,
        "fsGroup": pod.user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container(name: str, pod: Pod, target: Target, **more: Any) -> dict[str, Any]:
    """The container; `more` are additional fields, such as probes. The pod's variables override those of the target."""
    _, mounts = volumes(all_volumes(pod))
    fields: dict[str, Any] = {"name": name, "image": pod.image}
    if pod.command:
        fields["command"] = list(pod.command)
    if pod.args:
        fields["args"] = list(pod.args)
    return {
        **fields,
        "env": environment({"HOME": TMP.path, **target.env, **pod.env}),
        "resources": pod.resources.manifest(),
        "securityContext": container_security(pod),
        "volumeMounts": mounts,
        **more,
    }


REGISTERED: Final = "models:/"
"""Beginning of MLflow's address of a registered model (mlflow.org, "Referencing Artifacts")."""


def _copying(source: Staged) -> tuple[str, tuple[str, ...]]:
    """The image and the command that copies. The address is the last word but one."""
    if source.uri.startswith(REGISTERED):
        words = ("python", "-m", "mlflow", "artifacts", "download", "--artifact-uri", source.uri)
        return MLFLOW_IMAGE, (*words, f"--dst-path={source.path}")
    return STAGING_IMAGE, ("aws", "s3", "sync", "--only-show-errors", source.uri, source.path)


def staging(pod: Pod, target: Target) -> list[dict[str, Any]]:
    """Init containers that copy what is staged. They may use what the pod has of CPU and memory, which costs nothing: a
    pod's request is the larger of theirs and its containers' (kubernetes.io, "Init Containers")."""
    own = Resources(cpu=pod.resources.cpu, memory=pod.resources.memory, cpu_limit=pod.resources.cpu_limit)
    fetch = replace(pod, resources=own, env={}, writable_root=False)
    staged = {name: source for name, source in sorted(pod.volumes.items()) if isinstance(source, Staged)}
    containers = []
    for name, (image, (command, *args)) in ((name, _copying(source)) for name, source in staged.items()):
        copying = replace(fetch, image=image, command=(command,), args=args)
        containers.append(container(f"{STAGING}{name}", copying, target))
    return containers


def pod_spec(pod: Pod, target: Target, containers: Sequence[Mapping[str, Any]], *, priority: str) -> dict[str, Any]:
    """Pod spec with these containers, without a restart policy."""
    pod_volumes, _ = volumes(all_volumes(pod))
    before = staging(pod, target)
    return {
        **placement(pod.pools, target),
        "automountServiceAccountToken": pod.api_token,
        "containers": [dict(each) for each in containers],
        "enableServiceLinks": False,
        **({"initContainers": before} if before else {}),
        "priorityClassName": priority,
        "securityContext": pod_security(pod),
        "serviceAccountName": target.service_account,
        "terminationGracePeriodSeconds": pod.grace_seconds,
        "volumes": pod_volumes,
    }


def placement(pools: Sequence[str], target: Target) -> dict[str, Any]:
    """Placement on the pools: a node selector for one, an affinity for several, and their tolerations. The checks
    report unknown pools."""
    known = [target.pools[name] for name in pools if name in target.pools]
    tolerations = sorted({toleration for spec in known for toleration in spec.tolerations})
    fields: dict[str, Any] = {"tolerations": [each.manifest for each in tolerations]} if tolerations else {}
    if len(pools) == 1:
        return {"nodeSelector": {keys.POOL: pools[0]}, **fields}
    term = {"matchExpressions": [{"key": keys.POOL, "operator": "In", "values": list(pools)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}, **fields}
