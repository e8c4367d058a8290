"""Manifests of the volumes and claims of a team namespace. Pure.

A statically provisioned volume binds one claim, so each namespace has its own volumes; `claimRef` reserves a volume for
its claim. All have the reclaim policy that keeps the data: deleting them only removes access to it.

The root of a team's volume is its own prefix, like in the IAM policy of its pods. The drivers mount with their own
permissions, so only the volume's root keeps a pod out of other teams' data.

| claim | mode | backed by the first of these that exists |
|---|---|---|
| `raw` | read-only many | the team's directory of Lustre, linked to the bucket `raw`; its prefix of the bucket |
| `datasets` | read-only many | the EFS access point `datasets`, which all teams read; as `raw` |
| `checkpoints` | read-write many, or once | Lustre, linked to the bucket `checkpoints`; EFS; a gp3 volume |
| `models` | read-only many | the team's prefix of the bucket `models` |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.outputs import EfsOutputs, LustreOutputs, StorageOutputs
from spec.teams.labels import S3_URI

Manifest = Mapping[str, Any]

EFS_DRIVER: Final = "efs.csi.aws.com"
EFS_OPTIONS: Final = ("tls", "iam")
"""With the role of the driver's node pods, over TLS: the file system's policy allows nothing else."""
LUSTRE_DRIVER: Final = "fsx.csi.aws.com"
S3_DRIVER: Final = "s3.csi.aws.com"
READ_ONLY: Final = "ReadOnlyMany"
SHARED: Final = "ReadWriteMany"
ONCE: Final = "ReadWriteOnce"
RAW_FILESET: Final = "raw"
CHECKPOINT_FILESET: Final = "checkpoints"
"""Top directories of the Lustre file system, each linked to the bucket of that name."""
CLAIMS: Final = ("raw", "datasets", "checkpoints", "models")  # volume claims in each namespace of a team
_UNBOUNDED: Final = "1Pi"  # capacity of volumes without a size; Kubernetes requires one and the drivers ignore it
_MINIMUM: Final = "1Gi"
"""Request of a claim of a static volume: it gets the whole volume, and the team's quota counts this."""


def mounted_buckets(*, lustre: bool) -> tuple[str, ...]:
    """Purposes of the buckets that claims mount with Mountpoint, all of them read-only: the whole of what the driver's
    role has to read. Lustre serves `raw` itself where it exists."""
    return ("models",) if lustre else ("models", "raw")


@dataclass(frozen=True, kw_only=True)
class VolumeSettings:
    """Settings of a team's volumes.

    Attributes:
        team: Name of the team, of its prefix in the buckets and of its directory on Lustre.
        region: AWS Region of the buckets.
        checkpoint_gib: Size of the claim for checkpoints, in GiB: the real size of a gp3 volume, and always what counts
            against the team's storage quota.
        labels: Labels of every object.
    """

    team: str
    region: str
    checkpoint_gib: int = 100
    labels: Mapping[str, str] | None = None


def team_volumes(namespace: str, storage: StorageOutputs, settings: VolumeSettings) -> dict[str, Manifest]:
    """Volumes and claims of one namespace by a key for logical names; a volume comes before its claim.

    Args:
        namespace: The namespace.
        storage: Storage that backs the volumes; claims depend on its `ready`.
        settings: Settings of the team's volumes.
    """
    found = {
        **_pair("raw", namespace, settings, _raw(storage, settings)),
        **_pair("datasets", namespace, settings, _datasets(storage, settings)),
        **_checkpoints(namespace, storage, settings),
        **_pair("models", namespace, settings, _bucket(storage, "models", settings)),
    }
    for claim, bucket in _in_buckets(storage).items():
        found[claim] = _with_address(found[claim], storage, bucket, settings)
    return found


def _in_buckets(storage: StorageOutputs) -> dict[str, str]:
    """Claims whose files are objects of a bucket: mounted from it, or linked to it by Lustre."""
    linked = {"checkpoints": "checkpoints"} if storage.lustre is not None else {}
    return {"raw": "raw", "models": "models", **({} if storage.efs is not None else {"datasets": "raw"}), **linked}


def _with_address(claim: Manifest, storage: StorageOutputs, bucket: str, settings: VolumeSettings) -> Manifest:
    """The claim with the address of its files. Members can't read volumes, which belong to the whole cluster, nor the
    stack's outputs, and the engine ends a bucket's name in a random suffix."""
    address = pulumi.Output.format("s3://{0}/{1}/", storage.buckets[bucket].name, settings.team)
    return {**claim, "metadata": {**claim["metadata"], "annotations": {S3_URI: address}}}


def _raw(storage: StorageOutputs, settings: VolumeSettings) -> dict[str, Any]:
    if storage.lustre is not None:
        return _lustre(storage.lustre, f"{RAW_FILESET}/{settings.team}", READ_ONLY)
    return _bucket(storage, "raw", settings)


def _datasets(storage: StorageOutputs, settings: VolumeSettings) -> dict[str, Any]:
    if storage.efs is not None:
        return _access_point(storage.efs, "datasets")
    return _raw(storage, settings)


def _checkpoints(namespace: str, storage: StorageOutputs, settings: VolumeSettings) -> dict[str, Manifest]:
    if storage.lustre is not None:
        fileset = f"{CHECKPOINT_FILESET}/{settings.team}"
        return _pair("checkpoints", namespace, settings, _lustre(storage.lustre, fileset, SHARED))
    shared = "shared" in storage.classes
    spec = {
        "accessModes": [SHARED if shared else ONCE],
        "storageClassName": storage.classes["shared" if shared else "block"],
        "resources": {"requests": {"storage": f"{settings.checkpoint_gib}Gi"}},
    }
    # The driver creates the volume later, a gp3 volume with the first pod: don't await it (pulumi-kubernetes,
    # skipAwait).
    return {"checkpoints": _claim("checkpoints", namespace, settings, spec, {"pulumi.com/skipAwait": "true"})}


def _pair(volume: str, namespace: str, settings: VolumeSettings, source: Mapping[str, Any]) -> dict[str, Manifest]:
    """A static volume, and the claim that it is reserved for."""
    name = f"{namespace}-{volume}"
    csi = source["csi"]
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": volume}
    persistent = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": dict(settings.labels or {})},
        "spec": {
            **source,
            "csi": {"volumeHandle": name, **csi},
            "volumeMode": "Filesystem",
            "storageClassName": "",
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": reference,
        },
    }
    spec = {
        "accessModes": source["accessModes"],
        "storageClassName": "",
        "volumeName": name,
        "resources": {"requests": {"storage": _MINIMUM}},
    }
    return {f"{volume}-volume": persistent, volume: _claim(volume, namespace, settings, spec, {})}


def _claim(
    volume: str, namespace: str, settings: VolumeSettings, spec: Mapping[str, Any], annotations: Mapping[str, str]
) -> Manifest:
    metadata: dict[str, Any] = {"name": volume, "namespace": namespace, "labels": dict(settings.labels or {})}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": dict(spec)}


def _lustre(lustre: LustreOutputs, fileset: str, mode: str) -> dict[str, Any]:
    """A directory of the file system, mounted as a fileset: a pod can't leave it.

    The driver mounts `<dnsname>@tcp:/<mountname>`, so a path after the mount name is a fileset (FSx for Lustre User
    Guide, "Mounting specific filesets"; kubernetes-sigs/aws-fsx-csi-driver, pkg/driver/node.go, v1.9.0). It has to
    exist: links to buckets create `raw` and `checkpoints`, and `components.storage.lustre` a directory for each team.
    """
    attributes = {"dnsname": lustre.dns_name, "mountname": lustre.mount_name.apply(lambda name: f"{name}/{fileset}")}
    return {
        "accessModes": [mode],
        "capacity": {"storage": f"{lustre.capacity_gib}Gi"},
        "mountOptions": ["flock", *(["ro"] if mode == READ_ONLY else [])],
        "csi": {"driver": LUSTRE_DRIVER, "volumeAttributes": attributes},
    }


def _access_point(efs: EfsOutputs, purpose: str) -> dict[str, Any]:
    outputs = pulumi.Output.format("{0}::{1}", efs.id, efs.access_points[purpose])
    return {
        "accessModes": [READ_ONLY],
        "capacity": {"storage": _UNBOUNDED},
        "mountOptions": [*EFS_OPTIONS, "ro"],
        "csi": {"driver": EFS_DRIVER, "volumeHandle": outputs, "readOnly": True},
    }


def _bucket(storage: StorageOutputs, purpose: str, settings: VolumeSettings) -> dict[str, Any]:
    """The team's prefix of a bucket, with Mountpoint for Amazon S3 (its CSI driver, docs/CONFIGURATION.md)."""
    return {
        "accessModes": [READ_ONLY],
        "capacity": {"storage": _UNBOUNDED},
        "mountOptions": [f"prefix {settings.team}/", f"region {settings.region}", "read-only"],
        "csi": {"driver": S3_DRIVER, "volumeAttributes": {"bucketName": storage.buckets[purpose].name}},
    }
