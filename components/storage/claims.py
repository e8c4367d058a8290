"""Volume claims in a namespace, and the static volumes behind them; as a component for programs without a stack file.

A statically provisioned volume binds one claim, so each namespace has its own volumes; `claimRef` reserves a volume for
its claim. All have the reclaim policy that keeps the data: deleting them only removes access to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from components.base.kubernetes import declare
from components.base.outputs import Cluster, misnamed
from spec.settings.problems import ConfigurationError, Problem
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
_UNBOUNDED: Final = "1Pi"  # capacity of volumes without a size; Kubernetes requires one and the drivers ignore it
_MINIMUM: Final = "1Gi"
"""Request of a claim of a static volume: it gets the whole volume, and the team's quota counts this."""
BACKINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "bucket": (READ_ONLY,),
    "file_system": (SHARED, READ_ONLY),
    "dns_name": (SHARED, READ_ONLY),
    "storage_class": (ONCE, SHARED),
}
"""Access modes of a claim by what is behind it; the first is the default."""


@dataclass(frozen=True, kw_only=True)
class ClaimArgs:
    """A volume claim. Behind it is one of: a bucket, a file system of EFS, one of FSx for Lustre, a StorageClass.

    Attributes:
        bucket: Name of a bucket, which Mountpoint for Amazon S3 mounts read-only.
        prefix: Prefix of the bucket's objects, with a slash at its end: `llm/`; the whole bucket by default.
        cache_gib: Of a bucket, GiB of a node's disk on which Mountpoint keeps what was read, for all pods of the claim
            there; nothing by default.
        file_system: ID of a file system of EFS: `fs-0a1b`.
        access_point: ID of its access point; the root of the file system by default.
        dns_name: DNS name of a file system of FSx for Lustre.
        mount_name: Its mount name; required for one.
        directory: Directory of Lustre that is mounted, which exists: `checkpoints/llm`; the root by default.
        storage_class: Name of the StorageClass of a new volume.
        gib: Size in GiB: of the new volume, or what is shown of Lustre's.
        access_mode: `ReadOnlyMany`, `ReadWriteMany` or `ReadWriteOnce`. A bucket has the first alone; EFS and Lustre
            have the second by default, and a StorageClass the third.
        uri: Address of the same files in S3, for programs that read objects; that of the bucket by default.
    """

    bucket: pulumi.Input[str] | None = None
    prefix: str = ""
    cache_gib: int | None = None
    file_system: pulumi.Input[str] | None = None
    access_point: pulumi.Input[str] | None = None
    dns_name: pulumi.Input[str] | None = None
    mount_name: pulumi.Input[str] | None = None
    directory: str = ""
    storage_class: str | None = None
    gib: int = 100
    access_mode: str = ""
    uri: pulumi.Input[str] | None = None

    @property
    def behind(self) -> tuple[str, ...]:
        """What is behind it: one of `BACKINGS`, if it is a right claim."""
        return tuple(key for key in BACKINGS if getattr(self, key) is not None)

    @property
    def mode(self) -> str:
        """Its access mode."""
        return self.access_mode or BACKINGS[self.behind[0]][0]

    def problems(self, path: str) -> Iterator[Problem]:
        """What no cluster could mount, at this path."""
        names = ", ".join(BACKINGS)
        if len(self.behind) != 1:
            rule = "one storage must be behind a claim"
            yield Problem(path, rule, list(self.behind) or None, f"Give one of {names}.")
        elif self.mode not in (modes := BACKINGS[self.behind[0]]):
            yield Problem(f"{path}.access_mode", f"{self.behind[0]} has other modes", self.mode, f"Use {modes[0]}.")
        if self.dns_name is not None and self.mount_name is None:
            fix = "Take it from `aws fsx describe-file-systems`."
            yield Problem(f"{path}.mount_name", "Lustre is mounted by its mount name", None, fix)
        if self.prefix and not self.prefix.endswith("/"):
            rule = "a prefix without a slash at its end is one of others, too"
            yield Problem(f"{path}.prefix", rule, self.prefix, f"Write {self.prefix}/.")
        if self.cache_gib is not None and (self.bucket is None or self.cache_gib < 1):
            yield Problem(f"{path}.cache_gib", "a bucket has a cache, of 1 GiB at least", self.cache_gib, "Remove it.")
        if self.gib < 1:
            yield Problem(f"{path}.gib", "a volume has at least 1 GiB", self.gib, "Raise it.")


def address(bucket: pulumi.Input[str], prefix: str) -> pulumi.Output[str]:
    """Where the objects of a prefix are."""
    return pulumi.Output.format("s3://{0}/{1}", bucket, prefix)


def manifests(
    namespace: str, claims: Mapping[str, ClaimArgs], region: str, labels: Mapping[str, str]
) -> dict[str, Manifest]:
    """Claims of a namespace and their static volumes by a key for logical names; a volume comes before its claim.

    Args:
        namespace: The namespace.
        claims: Claims by name.
        region: AWS Region of the buckets.
        labels: Labels of every object.
    """
    found: dict[str, Manifest] = {}
    for name, claim in claims.items():
        uri = claim.uri if claim.bucket is None else address(claim.bucket, claim.prefix)
        annotations: dict[str, Any] = {} if uri is None else {S3_URI: uri}
        if claim.storage_class is None:
            volume = f"{namespace}-{name}"
            found[f"{name}-volume"] = _volume(volume, namespace, name, _source(claim, region), labels)
            spec = {"storageClassName": "", "volumeName": volume, "resources": {"requests": {"storage": _MINIMUM}}}
        else:
            spec = {
                "storageClassName": claim.storage_class,
                "resources": {"requests": {"storage": f"{claim.gib}Gi"}},
            }
            # The driver creates the volume later, a gp3 volume with the first pod: don't await it (pulumi-kubernetes,
            # skipAwait).
            annotations["pulumi.com/skipAwait"] = "true"
        metadata: dict[str, Any] = {"name": name, "namespace": namespace, "labels": dict(labels)}
        found[name] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {**metadata, "annotations": annotations} if annotations else metadata,
            "spec": {"accessModes": [claim.mode], **spec},
        }
    return found


def declared(
    name: str, volumes: Mapping[str, Manifest], before: Sequence[pulumi.Resource], opts: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """Declare volumes and claims, each claim after its volume, and all after other resources: namespace, drivers."""
    made: dict[str, pulumi.Resource] = {}
    for key, manifest in volumes.items():
        waits = [*before, *([made[f"{key}-volume"]] if f"{key}-volume" in made else [])]
        made[key] = declare(
            f"{name}-{key}", manifest, pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=waits))
        )
    return list(made.values())


def _volume(
    name: str, namespace: str, claim: str, source: Mapping[str, Any], labels: Mapping[str, str]
) -> dict[str, Any]:
    """A static volume, reserved for its claim."""
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {
            **source,
            "csi": {"volumeHandle": name, **source["csi"]},
            "volumeMode": "Filesystem",
            "storageClassName": "",
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": reference,
        },
    }


def _source(claim: ClaimArgs, region: str) -> dict[str, Any]:
    """What a static volume mounts, and how.

    Lustre's driver mounts `<dnsname>@tcp:/<mountname>`, so a path after the mount name is a fileset, which a pod can't
    leave (FSx for Lustre User Guide, "Mounting specific filesets"; kubernetes-sigs/aws-fsx-csi-driver,
    pkg/driver/node.go, v1.9.0). It has to exist: links to buckets create `raw` and `checkpoints`, and
    `components.storage.lustre` a directory for each team. A bucket is mounted by Mountpoint for Amazon S3 (its CSI
    driver, docs/CONFIGURATION.md), with a cache by one process for all pods of a node that use the volume (its
    docs/CACHING.md and docs/MOUNTPOINT_POD_SHARING.md, v2).
    """
    read_only, size = claim.mode == READ_ONLY, _UNBOUNDED
    if claim.bucket is not None:
        prefix = [f"prefix {claim.prefix}"] if claim.prefix else []
        options = [*prefix, f"region {region}", "read-only"]
        cache = {"cache": "emptyDir", "cacheEmptyDirSizeLimit": f"{claim.cache_gib}Gi"} if claim.cache_gib else {}
        csi: dict[str, Any] = {"driver": S3_DRIVER, "volumeAttributes": {"bucketName": claim.bucket, **cache}}
    elif claim.file_system is not None:
        point = () if claim.access_point is None else (claim.access_point,)
        handle = pulumi.Output.format("::".join(["{0}", *("{1}" for _ in point)]), claim.file_system, *point)
        options = [*EFS_OPTIONS, *(["ro"] if read_only else [])]
        csi = {"driver": EFS_DRIVER, "volumeHandle": handle, "readOnly": read_only}
    else:
        mounted = pulumi.Output.format(f"{{0}}/{claim.directory}" if claim.directory else "{0}", claim.mount_name)
        options, size = ["flock", *(["ro"] if read_only else [])], f"{claim.gib}Gi"
        csi = {"driver": LUSTRE_DRIVER, "volumeAttributes": {"dnsname": claim.dns_name, "mountname": mounted}}
    return {"accessModes": [claim.mode], "capacity": {"storage": size}, "mountOptions": options, "csi": csi}


@dataclass(frozen=True, kw_only=True)
class ModelStorageArgs:
    """Inputs of `ModelStorage`.

    Attributes:
        cluster: The cluster, which has the CSI drivers of what is behind the claims.
        namespace: The namespace, which exists or is in `after`.
        claims: Claims by name, which pods use: `models`, `checkpoints`.
        labels: Labels of claims and volumes.
        protect: Protect claims and volumes from deletion: a claim of a StorageClass may have the only copy.
        after: The namespace and the drivers, if the same program makes them.
    """

    cluster: Cluster
    namespace: str
    claims: Mapping[str, ClaimArgs]
    labels: Mapping[str, str] = field(default_factory=dict)
    protect: bool = False
    after: Sequence[pulumi.Resource] = ()


class ModelStorage(pulumi.ComponentResource):
    """Volume claims in a namespace for models, checkpoints and data that buckets and file systems have, whoever made
    those. Deleting it leaves them, and what is on them; new volumes of a StorageClass go if that says so.

    Attributes:
        claims: Names of the claims.

    Raises:
        ConfigurationError: For claims that no cluster could mount.
    """

    PULUMI_TYPE: Final = "slipway:storage:ModelStorage"

    claims: tuple[str, ...]

    def __init__(self, name: str, args: ModelStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        wrong = [one for key, claim in args.claims.items() for one in claim.problems(f"claims.{key}")]
        wrong += misnamed({"namespace": args.namespace, **{f"claims.{key}": key for key in args.claims}})
        if not args.claims:
            wrong.append(Problem("claims", "there must be a claim", None, "Name one: `models`."))
        if wrong:
            raise ConfigurationError(wrong, f"storage {name}")
        volumes = manifests(args.namespace, args.claims, args.cluster.region, args.labels)
        child = pulumi.ResourceOptions(parent=self, deleted_with=args.cluster.resource, protect=args.protect)
        declared(name, volumes, [*args.cluster.access, *args.after], child)
        self.claims = tuple(args.claims)
        self.register_outputs({})
