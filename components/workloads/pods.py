"""A pod that passes the Pod Security Standard `restricted`, runs on the pools it names and asks for what it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from components.workloads.resources import Resources
from components.workloads.target import Target
from components.workloads.volumes import Scratch, Volume, volumes
from spec.pools import keys

USER: Final = 1000
"""User and group of containers, and owner of volumes; images of Jupyter, PyTorch and vLLM run with any."""
TMP: Final = Scratch(path="/tmp", size="20Gi")  # noqa: S108 - an emptyDir of the pod's own
"""The one folder that can be written beside volumes. HOME is in it, where libraries keep their caches."""


@dataclass(frozen=True, kw_only=True)
class SecretKey:
    """A value that comes from a Secret of the namespace."""

    secret: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Pod:
    """One container and where it runs.

    Attributes:
        image: Image with a tag other than `latest`, or a digest.
        pools: Pools that it may run on; each must be able to hold it.
        resources: What it asks for.
        command: Instead of the image's entry point.
        args: Arguments.
        env: Environment by name.
        volumes: What it mounts, by a name.
        shared_memory: Size of /dev/shm; the container runtime's 64 MiB where not given.
        user: Number of the user; not 0.
        writable_root: Let it write in its image; else in `/tmp` and in volumes only.
        grace_seconds: Time between the signal to end and the end.
        api_token: Mount the token of the service account; AWS rights come without it.
        labels: Labels of the pod of your own.
        annotations: Annotations of the pod of your own.
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
    """What the pod mounts, with what every pod has."""
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
    """What `restricted` asks of a container (kubernetes.io, "Pod Security Standards")."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": not pod.writable_root,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def pod_security(pod: Pod) -> dict[str, Any]:
    """Security context of the pod. Volumes change owner only where the top folder has another: a walk through millions
    of files would hold up every start."""
    return {
        "runAsNonRoot": True,
        "runAsUser": pod.user,
        "runAsGroup": pod.user,
        "fsGroup": pod.user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container(name: str, pod: Pod, **more: Any) -> dict[str, Any]:
    """The container; `more` are fields of one kind of workload, such as probes."""
    _, mounts = volumes(all_volumes(pod))
    fields: dict[str, Any] = {"name": name, "image": pod.image}
    if pod.command:
        fields["command"] = list(pod.command)
    if pod.args:
        fields["args"] = list(pod.args)
    return {
        **fields,
        "env": environment({"HOME": TMP.path, **pod.env}),
        "resources": pod.resources.manifest(),
        "securityContext": container_security(pod),
        "volumeMounts": mounts,
        **more,
    }


def pod_spec(pod: Pod, target: Target, containers: Sequence[Mapping[str, Any]], *, priority: str) -> dict[str, Any]:
    """Spec of the pod around its containers, without a restart policy."""
    pod_volumes, _ = volumes(all_volumes(pod))
    return {
        **placement(pod.pools, target),
        "automountServiceAccountToken": pod.api_token,
        "containers": [dict(each) for each in containers],
        "enableServiceLinks": False,
        "priorityClassName": priority,
        "securityContext": pod_security(pod),
        "serviceAccountName": target.service_account,
        "terminationGracePeriodSeconds": pod.grace_seconds,
        "volumes": pod_volumes,
    }


def placement(pools: Sequence[str], target: Target) -> dict[str, Any]:
    """What brings a pod to the pools: a selector for one, an affinity for several, and their tolerations. A pool that
    does not exist is left to the checks, which name those that do."""
    known = [target.pools[name] for name in pools if name in target.pools]
    tolerations = sorted({toleration for spec in known for toleration in spec.tolerations})
    fields: dict[str, Any] = {"tolerations": [each.manifest for each in tolerations]} if tolerations else {}
    if len(pools) == 1:
        return {"nodeSelector": {keys.POOL: pools[0]}, **fields}
    term = {"matchExpressions": [{"key": keys.POOL, "operator": "In", "values": list(pools)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}, **fields}
