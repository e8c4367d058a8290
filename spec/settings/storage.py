"""Settings of storage: buckets, file systems, image repositories with caches of registries, databases."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model, Name, pattern


class Upstream(StrEnum):
    """Upstream registries, by the prefix of their cached images: those that ECR can cache (botocore 1.44.5, ecr
    `UpstreamRegistry`), except other ECR, Azure and Chainguard registries. ECR can't cache NVIDIA's `nvcr.io`."""

    ECR_PUBLIC = "ecr-public"
    """`public.ecr.aws`."""
    K8S = "k8s"
    """`registry.k8s.io`."""
    QUAY = "quay"
    """`quay.io`."""
    DOCKER_HUB = "docker-hub"
    """`registry-1.docker.io`; needs credentials."""
    GITHUB = "github"
    """`ghcr.io`; needs credentials."""
    GITLAB = "gitlab"
    """`registry.gitlab.com`; needs credentials."""


class Cache(Model):
    """A pull-through cache of one registry."""

    credentials_arn: (
        Annotated[
            str,
            pattern(
                r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[A-Za-z0-9_/+=.@-]+$",
                rule="the credentials must be the ARN of a secret whose name begins with ecr-pullthroughcache/",
                fix="Create the secret under such a name, and use its ARN.",
                max_length=612,
            ),
        ]
        | None
    ) = None
    """ARN of a secret with `username` and `accessToken`, created outside the stack, in its account and region; ECR
    requires the prefix `ecr-pullthroughcache/` in its name (botocore 1.44.5, ecr `CredentialArn`)."""


class Registry(Model):
    """Image repositories, named `<cluster>/<name>`, and pull-through caches, named `<cluster>/<upstream>`."""

    repositories: tuple[Name, ...] = ()
    """Repositories; their tags are immutable."""
    keep_images: Annotated[int, Field(ge=1, le=1000)] = 100
    """Images that each repository keeps; the oldest expire."""
    untagged_days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days after which an untagged image expires."""
    caches: dict[Upstream, Cache] = Field(default_factory=dict)
    """Pull-through caches of public registries, by upstream."""
    cached_days: Annotated[int, Field(ge=1, le=365)] = 30
    """Days after which a cached image expires; the next pull fetches it again."""


EngineName = Literal["mysql", "postgres"]
"""Engines of databases, as RDS names them: an add-on has the one that it can use."""


class Database(Model):
    """One instance on RDS, reachable only from the cluster's nodes."""

    instance_class: Annotated[
        str,
        pattern(
            r"^db\.[a-z0-9-]+\.[a-z0-9]+$",
            rule="a database needs an instance class of RDS, not an EC2 instance type",
            fix="Write it like db.t4g.medium.",
        ),
    ] = "db.t4g.medium"
    """Instance class; RDS must offer it for the engine in the region."""
    allocated_storage: Annotated[int, Field(ge=20, le=59578)] = 20
    """Initial storage, in GiB: gp3 has 20 to 65,536 (botocore 1.44.5, rds CreateDBInstance, `AllocatedStorage`), and
    it must be able to grow by a tenth."""
    max_allocated_storage: Annotated[int, Field(ge=22, le=65536)] = 100
    """Maximum storage for autoscaling, in GiB: at least a tenth more than `allocatedStorage`."""
    multi_az: bool = False
    """Keep a standby in another zone, with a failover within one to two minutes (awsi.click, "How Many Seconds Does an
    RDS Failover Take", read 2026-11); it doubles the price."""
    backup_retention_period: Annotated[int, Field(ge=1, le=35)] = 7
    """Days of point-in-time recovery, at most 35 (botocore 1.44.5, rds `BackupRetentionPeriod`)."""
    deletion_protection: bool = False
    """RDS refuses to delete it until this is switched off."""
    final_snapshot: bool = True
    """Take a final snapshot on deletion. It stays when the stack is destroyed, and the storage key with it."""


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
    node_cache_gib: Annotated[int, Field(ge=1, le=65536)] | None = None
    """Cache of each claim that mounts a bucket on a node's disk, in GiB, for all pods of the namespace there; none if
    null. With a cache `raw` is the bucket, also where there is Lustre."""
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

    enabled: bool = True
    """Make key, buckets and StorageClasses; only on a cluster that exists it can be false, and is if the file has no
    `storage`."""
    block_class: Name = "gp3"
    """Name of the StorageClass of encrypted volumes. It is the default class of a cluster that the stack makes."""
    key_deletion_days: Annotated[int, Field(ge=7, le=30)] = 30
    """Days during which a scheduled deletion of the storage key can be cancelled (KMS allows 7 to 30). `destroy`
    schedules it unless a final snapshot needs the key."""
    buckets: Buckets = Field(default_factory=Buckets)
    efs: Efs | None = None
    """Shared file system (EFS); `efs: {}` creates one with the defaults."""
    lustre: Lustre | None = None
    """Parallel file system (FSx for Lustre); `lustre: {}` creates one with the defaults."""
    registry: Registry = Field(default_factory=Registry)
    """Image repositories and pull-through caches (ECR)."""
