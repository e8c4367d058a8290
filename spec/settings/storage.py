"""Settings of storage: buckets, file systems, image registry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model
from spec.settings.registry import Registry

Days = Annotated[int, Field(ge=1, le=3650)]
"""Days in a lifecycle rule. S3 accepts any whole number above 0 (botocore 1.44.5, s3 `LifecycleExpiration`); the
maximum of ten years is Slipway's."""


class Buckets(Model):
    """Retention in the five buckets: `raw`, `checkpoints`, `models`, `state`, `logs`."""

    checkpoint_days: Days | None = 30
    """Days after which a checkpoint expires; never if null. Keep permanent files in `models`."""
    artifact_days: Days | None = 30
    """Days after which artifacts and logs of workflow steps expire in `state`; never if null."""
    tier_raw_after_days: Annotated[int, Field(ge=0, le=3650)] | None = 30
    """Days after which raw data of 128 KB or more moves to S3 Intelligent-Tiering; never if null. Lifecycle rules skip
    smaller objects (botocore 1.44.5, s3 `TransitionDefaultMinimumObjectSize`)."""
    noncurrent_days: Days = 30
    """Days during which an overwritten or deleted object can be restored."""
    log_days: Days = 90
    """Days that access logs are kept."""
    force_destroy: bool = False
    """Let `destroy` empty the buckets; without it, AWS refuses to delete a bucket that is not empty."""


class Efs(Model):
    """A shared file system (EFS): elastic, billed by use, reachable from every zone."""

    transition_to_ia_days: Literal[1, 7, 14, 30, 60, 90, 180, 270, 365] | None = 30
    """Days without access until a file moves to Infrequent Access (botocore 1.44.5, efs `TransitionToIARules`)."""
    backup: bool = True
    """Daily backups by AWS Backup, kept 35 days, in a vault that can't be deleted (EFS User Guide, "Backing up EFS file
    systems", read 2026-11)."""


class Lustre(Model):
    """A parallel file system (FSx for Lustre) in one zone, linked to the buckets `raw` and `checkpoints`."""

    deployment_type: Literal["PERSISTENT_2", "SCRATCH_2"] = "PERSISTENT_2"
    """PERSISTENT_2 survives server failures; SCRATCH_2 costs less, but loses the files of a failed server."""
    storage_capacity: Annotated[int, Field(le=2_147_483_647)] = 1200
    """Size in GiB: 1200, 2400, or a multiple of 2400 (botocore 1.44.5, fsx `StorageCapacity`)."""
    per_unit_storage_throughput: Literal[125, 250, 500, 1000] | None = None
    """Throughput in MB/s per TiB, only of PERSISTENT_2 (botocore 1.44.5, fsx `PerUnitStorageThroughput`); 250 if unset.
    SCRATCH_2 always has 200."""
    zone: str | None = None
    """Zone of the file system; if unset, the zone that the training pools share, else the network's first."""


class Storage(Model):
    """Data storage."""

    key_deletion_days: Annotated[int, Field(ge=7, le=30)] = 30
    """Days during which a scheduled deletion of the storage key can be cancelled (KMS allows 7 to 30)."""
    buckets: Buckets = Field(default_factory=Buckets)
    efs: Efs | None = None
    """Shared file system (EFS); `efs: {}` creates one with the defaults."""
    lustre: Lustre | None = None
    """Parallel file system (FSx for Lustre); `lustre: {}` creates one with the defaults."""
    registry: Registry = Field(default_factory=Registry)
    """Image repositories and pull-through caches (ECR)."""
