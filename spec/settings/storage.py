"""Settings of what keeps data: buckets, file systems, block volumes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model
from spec.settings.registry import Registry

Days = Annotated[int, Field(ge=1, le=3650)]
"""Days in a lifecycle rule; S3 takes any whole number above 0, and ten years are ours (botocore 1.44.5, s3
`LifecycleExpiration`)."""


class Buckets(Model):
    """How long the five buckets keep what is in them: `raw`, `checkpoints`, `models`, `state`, `logs`."""

    checkpoint_days: Days | None = 30
    """Days after which a checkpoint expires; never where null. What is to stay belongs in `models`."""
    artifact_days: Days | None = 30
    """Days after which what steps of workflows handed on, and their logs, expire in `state`; never where null."""
    tier_raw_after_days: Annotated[int, Field(ge=0, le=3650)] | None = 30
    """Days after which raw data of 128 KB or more goes to S3 Intelligent-Tiering; never where null. Lifecycle rules
    leave what is smaller (botocore 1.44.5, s3 `TransitionDefaultMinimumObjectSize`)."""
    noncurrent_days: Days = 30
    """Days in which an overwritten or deleted object can be had back."""
    log_days: Days = 90
    """Days that access logs are kept."""
    force_destroy: bool = False
    """Let `destroy` empty the buckets; without it AWS refuses to remove one that is not empty."""


class Efs(Model):
    """A shared file system (EFS): elastic, paid by what is in it, reachable from every zone."""

    transition_to_ia_days: Literal[1, 7, 14, 30, 60, 90, 180, 270, 365] | None = 30
    """Days without access after which a file goes to Infrequent Access (botocore 1.44.5, efs `TransitionToIARules`)."""
    backup: bool = True
    """Daily backups by AWS Backup, kept 35 days, in a vault that can't be deleted (EFS User Guide, "Backing up EFS file
    systems", read 2026-11)."""


class Lustre(Model):
    """A parallel file system (FSx for Lustre) in one zone, linked to the buckets `raw` and `checkpoints`."""

    deployment_type: Literal["PERSISTENT_2", "SCRATCH_2"] = "PERSISTENT_2"
    """PERSISTENT_2 survives its servers; SCRATCH_2 costs less, and a failed server takes its files with it."""
    storage_capacity: Annotated[int, Field(le=2_147_483_647)] = 1200
    """Size in GiB: 1200, 2400, or a multiple of 2400 (botocore 1.44.5, fsx `StorageCapacity`)."""
    per_unit_storage_throughput: Literal[125, 250, 500, 1000] | None = None
    """MB/s for each TiB, of PERSISTENT_2 alone (botocore 1.44.5, fsx `PerUnitStorageThroughput`); 250 where not given.
    SCRATCH_2 has 200."""
    zone: str | None = None
    """Zone of the file system; that of the training pools where they share one, else the first of the network."""


class Storage(Model):
    """All that keeps data."""

    key_deletion_days: Annotated[int, Field(ge=7, le=30)] = 30
    """Days in which a scheduled deletion of the key can be taken back (KMS allows 7 to 30)."""
    buckets: Buckets = Field(default_factory=Buckets)
    efs: Efs | None = None
    """The shared file system, where there is one: `efs: {}`."""
    lustre: Lustre | None = None
    """The parallel file system, where there is one."""
    registry: Registry = Field(default_factory=Registry)
    """Images."""
