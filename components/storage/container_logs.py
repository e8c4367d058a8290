"""Log groups of containers: one for each namespace of the teams, and one for everything else.

They are declared before anything writes to them, so that each has a retention time and the platform's key. Their names
are fixed: the writer and the key's policy refer to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.settings.addons.observability import FluentBit

PLATFORM: Final = "platform"
"""Group of the namespaces that belong to no team; no team can have a namespace of this name."""


def container_groups(cluster: str) -> str:
    """Prefix of the names of the log groups of a cluster's containers."""
    return f"/{cluster}/containers"


@dataclass(frozen=True, kw_only=True)
class ContainerLogsArgs:
    """Inputs of `ContainerLogs`.

    Attributes:
        settings: Settings of the writer.
        namespaces: Namespaces of teams.
        key_arn: KMS key of the groups.
        cluster: Name of the cluster.
    """

    settings: FluentBit
    namespaces: Sequence[str]
    key_arn: pulumi.Input[str]
    cluster: str


class ContainerLogs(pulumi.ComponentResource):
    """The log groups of a cluster's containers."""

    PULUMI_TYPE: Final = "slipway:storage:ContainerLogs"

    def __init__(self, name: str, args: ContainerLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        # Not protected: the group of a namespace goes with its team, and the gate asks before logs are deleted.
        child = pulumi.ResourceOptions(parent=self)
        for group in [PLATFORM, *args.namespaces]:
            aws.cloudwatch.LogGroup(
                f"{name}-{group}",
                name=f"{container_groups(args.cluster)}/{group}",
                retention_in_days=args.settings.retention_days,
                kms_key_id=args.key_arn,
                opts=child,
            )
        self.register_outputs({})
