"""All storage: key, buckets, file systems, databases, image repositories, StorageClasses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.kubernetes import declare
from components.base.outputs import (
    BucketOutputs,
    ClusterOutputs,
    DatabaseOutputs,
    EfsOutputs,
    NetworkOutputs,
    StorageOutputs,
)
from components.storage import drivers
from components.storage.buckets import Buckets, BucketsArgs
from components.storage.container_logs import (
    ContainerLogs,
    ContainerLogsArgs,
    container_groups,
)
from components.storage.database import Database, DatabaseArgs, log_groups
from components.storage.efs import SharedFiles, SharedFilesArgs
from components.storage.key import key_policy, make_key
from components.storage.lustre import ParallelFiles, ParallelFilesArgs
from components.storage.registry import Images, ImagesArgs
from spec.catalog import regions
from spec.settings import storage as settings
from spec.settings.addons import OwnDatabase
from spec.settings.addons.observability import FluentBit


@dataclass(frozen=True, kw_only=True)
class StorageArgs:
    """Inputs of `Storage`.

    Attributes:
        settings: Buckets, file systems and image registry.
        cluster: The cluster that mounts file systems and volumes.
        network: Network of file systems and databases.
        databases: Databases by name.
        log_days: Retention of the databases' logs, in days.
        logs: What writes logs of containers to CloudWatch Logs; None if nothing does.
        teams: Namespaces of each team, by its name.
        lustre_zone: Zone of the parallel file system; required for one.
        protect: Protect what holds data from deletion.
        default_class: Whether the StorageClass of block volumes is the cluster's default.
    """

    settings: settings.Storage
    cluster: ClusterOutputs
    network: NetworkOutputs
    databases: Mapping[str, OwnDatabase] = field(default_factory=dict)
    log_days: int = 30
    logs: FluentBit | None = None
    teams: Mapping[str, Iterable[str]] = field(default_factory=dict)
    lustre_zone: str = ""
    protect: bool = False
    default_class: bool = True


class Storage(pulumi.ComponentResource):
    """Buckets, file systems, databases, image repositories and StorageClasses."""

    PULUMI_TYPE: Final = "slipway:storage:Storage"

    outputs: StorageOutputs

    def __init__(self, name: str, args: StorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self._keep = args.protect
        self._key = self._make_key()
        self._key_arn = self._key.arn
        buckets = self._make_buckets()
        efs, lustre = self._make_efs(), self._make_lustre(buckets)
        self._make_images()
        self._make_container_logs()
        manifests = self._classes(efs, lustre)
        declared = {key: self._declare(key, manifest) for key, manifest in manifests.items()}
        systems = [part for system in (efs, lustre and lustre.outputs) if system for part in system.ready]
        self.outputs = StorageOutputs(
            key_arn=self._key_arn,
            buckets=buckets,
            efs=efs,
            lustre=lustre.outputs if lustre else None,
            classes={key: manifest["metadata"]["name"] for key, manifest in manifests.items()},
            databases=self._make_databases(),
            ready=(*declared.values(), *systems),
            block=(declared["block"],),
            cache_gib=self._args.settings.buckets.node_cache_gib,
        )
        self.register_outputs(_outputs(self.outputs))

    def _make_key(self) -> aws.kms.Key:
        storage, cluster = self._args.settings, self._args.cluster
        region = regions.get(cluster.region)
        return make_key(
            f"{self._name}-key",
            cluster=cluster.owner,
            policy=key_policy(region, cluster.account_id, lustre=storage.lustre is not None, logs=self._log_groups()),
            deletion_days=storage.key_deletion_days,
            protect=self._keep,
            retain=self._takes_final_snapshot(),
            parent=self,
        )

    def _takes_final_snapshot(self) -> bool:
        """A final snapshot has the key of its instance, and is the only thing with this key that AWS keeps when
        everything in the stack is deleted: recovery points of EFS have the key of their vault (AWS Backup Developer
        Guide, "Encryption for backups in AWS Backup"; read 2026-11)."""
        return any(own.settings.final_snapshot for own in self._args.databases.values())

    def _log_groups(self) -> list[str]:
        """Name patterns of log groups that are encrypted with the key."""
        cluster = self._args.cluster.owner
        databases = [f"{log_groups(cluster)}-*"] if self._args.databases else []
        return [*databases, *([f"{container_groups(cluster)}/*"] if self._args.logs else [])]

    def _make_container_logs(self) -> None:
        if self._args.logs:
            args = ContainerLogsArgs(
                settings=self._args.logs,
                namespaces=sorted(space for spaces in self._args.teams.values() for space in spaces),
                key_arn=self._key_arn,
                cluster=self._args.cluster.owner,
            )
            ContainerLogs(f"{self._name}-containers", args, self._child)

    def _make_buckets(self) -> Mapping[str, BucketOutputs]:
        args = BucketsArgs(
            settings=self._args.settings.buckets,
            key=self._key,
            account_id=self._args.cluster.account_id,
            protect=self._keep,
        )
        return Buckets(self._name, args, self._child).outputs

    def _make_efs(self) -> EfsOutputs | None:
        efs = self._args.settings.efs
        if efs is None:
            return None
        args = SharedFilesArgs(
            settings=efs,
            key_arn=self._key_arn,
            cluster=self._args.cluster,
            network=self._args.network,
            protect=self._keep,
        )
        return SharedFiles(f"{self._name}-efs", args, self._child).outputs

    def _make_lustre(self, buckets: Mapping[str, BucketOutputs]) -> ParallelFiles | None:
        lustre = self._args.settings.lustre
        if lustre is None:
            return None
        args = ParallelFilesArgs(
            settings=lustre,
            zone=self._args.lustre_zone,
            key_arn=self._key_arn,
            buckets=buckets,
            teams=sorted(self._args.teams),
            cluster=self._args.cluster,
            network=self._args.network,
            protect=self._keep,
        )
        return ParallelFiles(f"{self._name}-lustre", args, self._child)

    def _make_images(self) -> None:
        registry = self._args.settings.registry
        if registry.repositories or registry.caches:
            args = ImagesArgs(
                settings=registry, key_arn=self._key_arn, cluster=self._args.cluster.owner, protect=self._keep
            )
            Images(f"{self._name}-images", args, self._child)

    def _make_databases(self) -> Mapping[str, DatabaseOutputs]:
        """One for each enabled add-on that needs one."""
        made: dict[str, DatabaseOutputs] = {}
        for name, own in self._args.databases.items():
            args = DatabaseArgs(
                settings=own.settings,
                engine=own.engine,
                database=name,
                key_arn=self._key_arn,
                log_days=self._args.log_days,
                cluster=self._args.cluster,
                network=self._args.network,
                protect=self._keep,
            )
            made[name] = Database(f"{self._name}-{name}", args, self._child).outputs
        return made

    def _classes(self, efs: EfsOutputs | None, lustre: ParallelFiles | None) -> dict[str, dict[str, Any]]:
        """StorageClasses by purpose."""
        name, default = self._args.settings.block_class, self._args.default_class
        manifests = {"block": drivers.block(self._key_arn, name, default=default)}
        if efs:
            manifests["shared"] = drivers.shared(efs.id)
        if lustre and self._args.settings.lustre:
            place = drivers.LustrePlace(
                settings=self._args.settings.lustre,
                subnet_id=lustre.subnet_id,
                security_group_id=lustre.security_group_id,
            )
            manifests["lustre"] = drivers.lustre(place, self._key_arn, self._args.cluster.tags)
        return manifests

    def _declare(self, key: str, manifest: Mapping[str, Any]) -> pulumi.Resource:
        cluster = self._args.cluster
        opts = pulumi.ResourceOptions(
            parent=self,
            depends_on=list(cluster.access),
            deleted_with=cluster.resource,
            # Parameters of a class are immutable, and every claim refers to its name.
            delete_before_replace=True,
        )
        return declare(f"{self._name}-class-{key}", manifest, opts)


def _outputs(outputs: StorageOutputs) -> Mapping[str, pulumi.Output[str]]:
    return {f"{purpose}Bucket": bucket.name for purpose, bucket in sorted(outputs.buckets.items())}
