"""Manifests of the volumes and claims of a team namespace. Pure.

A statically provisioned volume binds one claim, so each namespace has its own volumes; `claimRef` reserves a volume for
its claim. All have the reclaim policy that keeps the data: deleting them only removes access to it.

The root of a team's volume is its own prefix, like in the IAM policy of its pods. The drivers mount with their own
permissions, so only the volume's root keeps a pod out of other teams' data.

| claim | mode | backed by the first of these that exists |
|---|---|---|
| `raw` | read-only many | the team's prefix of the bucket, if nodes cache it; its directory of Lustre; its prefix |
| `datasets` | read-only many | the EFS access point `datasets`, which all teams read; as `raw` |
| `checkpoints` | read-write many, or once | Lustre, linked to the bucket `checkpoints`; EFS; a gp3 volume |
| `models` | read-only many | the team's prefix of the bucket `models` |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from components.base.outputs import StorageOutputs
from components.storage.claims import ONCE, READ_ONLY, SHARED, ClaimArgs, Manifest, address, manifests

RAW_FILESET: Final = "raw"
CHECKPOINT_FILESET: Final = "checkpoints"
"""Top directories of the Lustre file system, each linked to the bucket of that name."""
CLAIMS: Final = ("raw", "datasets", "checkpoints", "models")  # volume claims in each namespace of a team


def mounted_buckets(*, lustre: bool, cached: bool) -> tuple[str, ...]:
    """Purposes of the buckets that claims mount with Mountpoint, all of them read-only: the whole of what the driver's
    role has to read. Lustre serves `raw` itself where it exists, unless nodes cache the bucket."""
    return ("models",) if lustre and not cached else ("models", "raw")


@dataclass(frozen=True, kw_only=True)
class VolumeSettings:
    """Settings of a team's volumes.

    Attributes:
        team: Name of the team, of its prefix in the buckets and of its directory on Lustre.
        region: AWS Region of the buckets.
        labels: Labels of every object.
    """

    team: str
    region: str
    labels: Mapping[str, str] | None = None


def team_volumes(namespace: str, storage: StorageOutputs, settings: VolumeSettings) -> dict[str, Manifest]:
    """Volumes and claims of one namespace of a team by a key for logical names; a volume comes before its claim.

    Args:
        namespace: The namespace.
        storage: Storage that backs the volumes; claims depend on its `ready`.
        settings: Settings of the team's volumes.
    """
    return manifests(namespace, _team_claims(storage, settings), settings.region, settings.labels or {})


def _team_claims(storage: StorageOutputs, settings: VolumeSettings) -> dict[str, ClaimArgs]:
    """Members can't read volumes, which belong to the whole cluster, nor the stack's outputs, and the engine ends a
    bucket's name in a random suffix: so claims have the address of their files, where those are objects of a bucket."""
    team, lustre, efs = settings.team, storage.lustre, storage.efs

    def bucket(purpose: str) -> ClaimArgs:
        return ClaimArgs(bucket=storage.buckets[purpose].name, prefix=f"{team}/", cache_gib=storage.cache_gib)

    def parallel(top: str, mode: str) -> ClaimArgs | None:
        return (
            None
            if lustre is None
            else ClaimArgs(
                dns_name=lustre.dns_name,
                mount_name=lustre.mount_name,
                directory=f"{top}/{team}",
                gib=lustre.capacity_gib,
                access_mode=mode,
                uri=address(storage.buckets[top].name, f"{team}/"),
            )
        )

    shared = "shared" in storage.classes
    raw = (None if storage.cache_gib else parallel(RAW_FILESET, READ_ONLY)) or bucket("raw")
    files = efs and ClaimArgs(file_system=efs.id, access_point=efs.access_points["datasets"], access_mode=READ_ONLY)
    volume = ClaimArgs(
        storage_class=storage.classes["shared" if shared else "block"],
        access_mode=SHARED if shared else ONCE,
    )
    checkpoints = parallel(CHECKPOINT_FILESET, SHARED) or volume
    return {"raw": raw, "datasets": files or raw, "checkpoints": checkpoints, "models": bucket("models")}
