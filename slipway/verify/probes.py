"""The Jobs that prove something: one on each pool, one in each namespace of a team."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.kubernetes.objects import Object
from spec.jobs import QUEUE
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve_all
from spec.pricing.pools import node_hourly
from spec.settings.platform import Platform
from spec.settings.teams import Team
from spec.teams.shares import resources_of

NAMESPACE: Final = "slipway-verify"  # namespace of the Jobs on pools; it exists only while the command runs
LABEL: Final = "platform.slipway/verify"  # label of every object that the command creates
IMAGE: Final = "public.ecr.aws/amazonlinux/amazonlinux:2023-minimal"
"""With glibc, which the `nvidia-smi` of the host needs; the container runtime adds the program."""
SHARED_MODES: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
"""Claims that the Job may mount beside the pods of a team. One that is ReadWriteOnce may be in use on another node."""
WRITABLE: Final = "ReadWriteMany"
_STRICT: Final = "set -e; exec 2>/dev/termination-log"
_WRITE: Final = (
    'file=/claims/{name}/.slipway-verify-$HOSTNAME; echo "$HOSTNAME" >$file; [ "$(cat $file)" = "$HOSTNAME" ]; rm $file'
)
"""A file that the Job writes, reads and removes; what fails is its last message."""
_DISK: Final = "disk"
WRITTEN: Final = "disk written"
_WRITE_DISK: Final = f'file=/{_DISK}/file; echo it >$file; [ "$(cat $file)" = it ]; echo "{WRITTEN}" >&2'
_DEVICES: Final = "nvidia-smi -L >&2"
HOLD: Final = 90
"""Seconds that the Job of a team runs, so that Prometheus sees its pod and its cost. It scrapes and evaluates rules
every 30 s (prometheus-operator, API reference of Prometheus, defaults of `scrapeInterval` and `evaluationInterval`)."""
_USER: Final = 1000


@dataclass(frozen=True)
class Probe:
    """One Job."""

    subject: str  # `pool h100`, `team vision (vision)`
    pool: PoolSpec  # the pool that it runs on
    job: Object  # its manifest
    devices: Mapping[str, int]  # the extended resources that it requests, with their number
    claims: tuple[str, ...] = ()  # names of the claims that it mounts
    queued: bool = False  # whether it waits for its queue
    before: tuple[Object, ...] = ()  # what is created before the Job
    written: tuple[str, ...] = ()  # those of them to which it writes
    disk: bool = False  # whether it writes to a volume of its own, of the class for one node at a time


def of_pools(platform: Platform, deadline: int) -> list[Probe]:
    """A Job on every pool that can have nodes; `deadline` in seconds."""
    found = []
    for name, pool in sorted(resolve_all(platform).items()):
        if not pool.waiting and pool.settings.max:
            devices = dict.fromkeys((one for one in pool.resources if one.startswith(keys.NVIDIA)), 1)
            command = "; ".join([_STRICT, _WRITE_DISK, *([_DEVICES] if devices else [])])
            job = short_job(f"pool-{name}", NAMESPACE, pool, devices, deadline, command=command)
            _add_disk(job, platform.storage.block_class)
            found.append(Probe(f"pool {name}", pool, job, devices, disk=True))
    return found


def of_teams(platform: Platform, claims: Mapping[str, Iterable[Object]], deadline: int) -> list[Probe]:
    """A Job in every namespace of a team that has a share, on the pool of its shares that costs least.

    Args:
        claims: PersistentVolumeClaims by namespace.
    """
    pools, found = resolve_all(platform), []
    queued = platform.addons.kueue is not None
    hold = HOLD if platform.addons.kube_prometheus_stack else 0
    for team, settings in sorted(platform.teams.items()):
        pool = cheapest(settings, pools)
        if settings.retired or pool is None:
            continue
        devices = dict.fromkeys((one for one in resources_of(pool) if one.startswith(keys.NVIDIA)), 1)
        for namespace in settings.namespaces_of(team):
            shared = [one for one in claims.get(namespace, ()) if SHARED_MODES & set(one["spec"]["accessModes"])]
            names = tuple(sorted(one["metadata"]["name"] for one in shared))
            written = tuple(one["metadata"]["name"] for one in shared if WRITABLE in one["spec"]["accessModes"])
            writes = (_WRITE.format(name=name) for name in sorted(written))
            command = "; ".join([_STRICT, *writes, 'sleep "${HOLD:-0}"'])
            job = short_job("slipway-verify", namespace, pool, devices, deadline, command=command, claims=shared)
            job["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "HOLD", "value": str(hold)}]
            if queued:
                queue(job)
            found.append(Probe(f"team {team} ({namespace})", pool, job, devices, names, queued, written=written))
    return found


def cheapest(team: Team, pools: Mapping[str, PoolSpec]) -> PoolSpec | None:
    """The pool of a team's shares that costs least; None if it has none that can have nodes."""
    shares = [pools[name] for name, share in team.shares.items() if share.nominal_quota and name in pools]
    usable = [pool for pool in shares if not pool.waiting]
    return min(usable, key=lambda pool: (node_hourly(pool) or 0, pool.name), default=None)


def queue(job: Object) -> Object:
    """The Job, suspended until its queue admits it."""
    job["metadata"]["labels"][QUEUE] = "default"
    job["spec"]["suspend"] = True
    return job


def namespace() -> Object:
    """The namespace of the Jobs on pools, with the strictest level of Pod Security."""
    labels = {LABEL: "true", "pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}


def _add_disk(job: Object, block: str) -> None:
    """A volume that this class makes for the pod and deletes with it (Kubernetes, "Generic ephemeral volumes")."""
    pod = job["spec"]["template"]["spec"]
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": block, "resources": {"requests": {"storage": "1Gi"}}}
    template = {"metadata": {"labels": {LABEL: "true"}}, "spec": claim}
    pod["volumes"].append({"name": _DISK, "ephemeral": {"volumeClaimTemplate": template}})
    pod["containers"][0]["volumeMounts"].append({"name": _DISK, "mountPath": f"/{_DISK}"})


def short_job(
    name: str,
    where: str,
    pool: PoolSpec,
    devices: Mapping[str, int],
    deadline: int,
    *,
    command: str,
    claims: Iterable[Object] = (),
) -> Object:
    """A Job of one small pod on a pool."""
    every = list(claims)
    amounts = {"cpu": "100m", "memory": "128Mi", **{key: str(count) for key, count in devices.items()}}
    container: dict[str, Any] = {
        "name": "verify",
        "image": IMAGE,
        "command": ["sh", "-c", command],
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [
            {
                "name": f"claim-{one['metadata']['name']}",
                "mountPath": f"/claims/{one['metadata']['name']}",
                "readOnly": WRITABLE not in one["spec"]["accessModes"],
            }
            for one in every
        ],
    }
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": {keys.POOL: pool.name},
        "tolerations": [one.manifest for one in pool.tolerations],
        # As the pods of workloads (components.workloads.pods).
        "securityContext": {
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "fsGroupChangePolicy": "OnRootMismatch",
        },
        "containers": [container],
        "volumes": [
            {
                "name": f"claim-{one['metadata']['name']}",
                "persistentVolumeClaim": {"claimName": one["metadata"]["name"]},
            }
            for one in every
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": where, "labels": {LABEL: "true"}},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": deadline,
            "ttlSecondsAfterFinished": 3600,
            "template": {"metadata": {"labels": {LABEL: "true"}}, "spec": pod},
        },
    }
