"""The parallel file system: FSx for Lustre in one zone, linked to the buckets `raw` and `checkpoints`.

Changes of a bucket are imported into its directory and changes of the directory are exported, including deletions; the
buckets are versioned, so a deletion can be undone. A file system that is linked to a bucket can't be backed up
(botocore 1.44.5, fsx CreateBackup): the buckets are its backup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.outputs import BucketOutputs, ClusterOutputs, LustreOutputs, NetworkOutputs
from components.storage.firewall import EGRESS, INGRESS, allow, by_letter, make_group
from components.storage.volumes import CHECKPOINT_FILESET, RAW_FILESET
from spec.settings.storage import Lustre

PORTS: Final[Mapping[str, tuple[int, int]]] = {"lustre": (988, 988), "servers": (1018, 1023)}
"""Ports between file servers, and between file servers and clients, in both directions (FSx for Lustre User Guide,
"File system access control with Amazon VPC", read 2026-11)."""
VERSION: Final = "2.15"
"""Recommended for all new file systems (botocore 1.44.5, fsx CreateFileSystem, `FileSystemTypeVersion`)."""
THROUGHPUT: Final = 250  # default throughput in MB/s per TiB
EVENTS: Final = ("NEW", "CHANGED", "DELETED")
"""All event types that can be imported and exported (botocore 1.44.5, fsx `EventType`)."""
DIRECTORIES: Final[Mapping[str, str]] = {RAW_FILESET: "0040755", CHECKPOINT_FILESET: "0040777"}
"""Mode of the teams' directories by bucket: only its team mounts a directory, and every user in the team's pods can
write checkpoints."""


@dataclass(frozen=True, kw_only=True)
class ParallelFilesArgs:
    """Inputs of `ParallelFiles`.

    Attributes:
        settings: Deployment type, size, throughput.
        zone: Its Availability Zone.
        key_arn: Its KMS key, only for PERSISTENT_2: a scratch file system uses an FSx managed key (botocore 1.44.5, fsx
            `KmsKeyId`).
        buckets: Buckets by purpose.
        teams: Teams that get a directory for raw data and one for checkpoints.
        cluster: The cluster whose nodes mount it.
        network: Its network.
        protect: Protect it from deletion, and retain it when removed from the stack.
    """

    settings: Lustre
    zone: str
    key_arn: pulumi.Input[str]
    buckets: Mapping[str, BucketOutputs]
    teams: Sequence[str]
    cluster: ClusterOutputs
    network: NetworkOutputs
    protect: bool


class ParallelFiles(pulumi.ComponentResource):
    """A Lustre file system linked to two buckets."""

    PULUMI_TYPE: Final = "slipway:storage:ParallelFiles"

    outputs: LustreOutputs
    subnet_id: pulumi.Output[str]
    security_group_id: pulumi.Output[str]

    def __init__(self, name: str, args: ParallelFilesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self.subnet_id = by_letter(args.network.private_subnets, args.network.zones, args.zone)
        group, rules = self._make_group()
        self.security_group_id = group.id
        system = self._make_system(group, rules)
        links = self._make_links(system)
        self.outputs = LustreOutputs(
            id=system.id,
            dns_name=system.dns_name,
            mount_name=system.mount_name,
            capacity_gib=args.settings.storage_capacity,
            zone=args.zone,
            ready=[system, *links],
        )
        self.register_outputs({"id": system.id})

    def _make_group(self) -> tuple[aws.ec2.SecurityGroup, list[pulumi.Resource]]:
        cluster = self._args.cluster
        group = make_group(
            f"{self._name}-group",
            vpc_id=self._args.network.vpc_id,
            description="File servers of the parallel file system",
            shown=f"{cluster.owner}-lustre",
            parent=self,
        )
        nodes = cluster.security_group_id
        rules: list[pulumi.Resource] = []
        for key, ports in PORTS.items():
            ends: dict[str, Any] = {"group": group.id, "ports": ports, "parent": self}
            for whom, peer in (("itself", group.id), ("nodes", nodes)):
                name = f"{self._name}-{key}"
                rules += [
                    allow(INGRESS, f"{name}-from-{whom}", peer=peer, description=f"Lustre from {whom}", **ends),
                    allow(EGRESS, f"{name}-to-{whom}", peer=peer, description=f"Lustre to {whom}", **ends),
                ]
            into = {**ends, "group": nodes, "peer": group.id, "description": "Lustre from its file servers"}
            rules.append(allow(INGRESS, f"{self._name}-{key}-into-nodes", **into))
        return group, rules

    def _make_system(self, group: aws.ec2.SecurityGroup, rules: Sequence[pulumi.Resource]) -> aws.fsx.LustreFileSystem:
        args, settings = self._args, self._args.settings
        persistent = settings.deployment_type == "PERSISTENT_2"
        return aws.fsx.LustreFileSystem(
            f"{self._name}-files",
            deployment_type=settings.deployment_type,
            file_system_type_version=VERSION,
            storage_type="SSD",
            storage_capacity=settings.storage_capacity,
            per_unit_storage_throughput=(settings.per_unit_storage_throughput or THROUGHPUT) if persistent else None,
            data_compression_type="LZ4",
            kms_key_id=args.key_arn if persistent else None,
            subnet_ids=self.subnet_id,
            security_group_ids=[group.id],
            tags={"Name": f"{args.cluster.owner}-lustre"},
            opts=pulumi.ResourceOptions(
                parent=self,
                # FSx checks the ports when it creates the file system.
                depends_on=rules,
                protect=args.protect,
                retain_on_delete=args.protect,
            ),
        )

    def _make_links(self, system: aws.fsx.LustreFileSystem) -> list[aws.fsx.DataRepositoryAssociation]:
        """One link after the other, in the order of their paths: FSx queues the requests of a file system and works on
        one at a time (FSx for Lustre User Guide, "Linking your file system to an Amazon S3 bucket", read 2026-11), so a
        second request would spend its time limit waiting for the first."""
        links: list[aws.fsx.DataRepositoryAssociation] = []
        for fileset in sorted(DIRECTORIES):
            links.append(self._link(system, fileset, [*self._make_directories(fileset), *links[-1:]]))
        return links

    def _link(
        self, system: aws.fsx.LustreFileSystem, fileset: str, before: Sequence[pulumi.Resource]
    ) -> aws.fsx.DataRepositoryAssociation:
        """Link a bucket to a directory, with import and export. SCRATCH_2 file systems can be linked too (botocore
        1.44.5, fsx CreateDataRepositoryAssociation: all of 2.12 and 2.15 but SCRATCH_1). A file system has at most
        eight links, on directories that don't overlap."""
        return aws.fsx.DataRepositoryAssociation(
            f"{self._name}-{fileset}",
            file_system_id=system.id,
            file_system_path=f"/{fileset}",
            data_repository_path=pulumi.Output.format("s3://{0}", self._args.buckets[fileset].name),
            batch_import_meta_data_on_create=True,
            # Deleting a link keeps the files.
            delete_data_in_filesystem=False,
            s3={"auto_export_policy": {"events": list(EVENTS)}, "auto_import_policy": {"events": list(EVENTS)}},
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(before), retain_on_delete=self._args.protect),
        )

    def _make_directories(self, fileset: str) -> list[pulumi.Resource]:
        """The teams' directories: Lustre imports an object whose key ends with a slash as one, with the owner and mode
        that its metadata name (FSx for Lustre User Guide, "POSIX metadata support for data repositories"; read
        2026-11).

        They are retained when a team is removed from the stack file: a deletion would be imported too."""
        metadata = {"file-permissions": DIRECTORIES[fileset], "file-owner": "0", "file-group": "0"}
        return [
            aws.s3.BucketObjectv2(
                f"{self._name}-{fileset}-directory-{team}",
                bucket=self._args.buckets[fileset].name,
                key=f"{team}/",
                content="",
                content_type="application/x-directory",
                metadata=metadata,
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True),
            )
            for team in self._args.teams
        ]
