"""VPC flow logs, in an encrypted log group with retention, written by a role with no other permissions.

The log group is created first: flow logs would create one without retention and without a key. Its name is fixed
because the key's policy refers to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import (
    Inline,
    Statement,
    account_administration,
    document,
    log_encryption,
    role_with,
    rotated_key,
    service_trust,
)
from spec.catalog import regions
from spec.settings import network as settings
from spec.settings.environment import Account


@dataclass(frozen=True, kw_only=True)
class FlowLogsArgs:
    """Inputs of `FlowLogs`.

    Attributes:
        vpc_id: The VPC.
        settings: Traffic type and retention.
        account: Account and Region of the VPC.
        cluster_name: EKS cluster of the network; the log group is `/aws/vpc/<cluster>/flow-logs`.
        key_deletion_days: Deletion window of the key, in days.
        protect: Protect the logs and their key from deletion.
    """

    vpc_id: pulumi.Input[str]
    settings: settings.FlowLogs
    account: Account
    cluster_name: str
    key_deletion_days: int
    protect: bool


class FlowLogs(pulumi.ComponentResource):
    """Flow logs of a VPC to CloudWatch Logs."""

    PULUMI_TYPE: Final = "slipway:network:FlowLogs"

    def __init__(self, name: str, args: FlowLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._region = regions.get(args.account.region)
        self._child = pulumi.ResourceOptions(parent=self)
        self._kept = pulumi.ResourceOptions(parent=self, protect=args.protect)
        group = self._log_group(self._key())
        role, policy = self._role()
        aws.ec2.FlowLog(
            f"{name}-vpc",
            vpc_id=args.vpc_id,
            traffic_type=args.settings.traffic_type,
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags={"Name": args.cluster_name},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
        )
        self.register_outputs({})

    @property
    def _group_name(self) -> str:
        return f"/aws/vpc/{self._args.cluster_name}/flow-logs"

    def _arn(self, service: str, resource: str) -> str:
        account = self._args.account
        return f"arn:{self._region.partition}:{service}:{account.region}:{account.id}:{resource}"

    def _key(self) -> aws.kms.Key:
        service = f"logs.{self._region.name}.{self._region.dns_suffix}"
        policy = document(
            account_administration(self._region.partition, self._args.account.id),
            log_encryption(service, self._arn("logs", f"log-group:{self._group_name}")),
        )
        alias, about = f"alias/{self._args.cluster_name}-flow-logs", f"Flow logs of {self._args.cluster_name}"
        days, name = self._args.key_deletion_days, f"{self._name}-key"
        return rotated_key(name, (f"{name}-alias", alias), about, policy, days, kept=self._kept, child=self._child)

    def _log_group(self, key: aws.kms.Key) -> aws.cloudwatch.LogGroup:
        return aws.cloudwatch.LogGroup(
            f"{self._name}-group",
            name=self._group_name,
            retention_in_days=self._args.settings.retention_days,
            kms_key_id=key.arn,
            opts=self._kept,
        )

    def _role(self) -> tuple[aws.iam.Role, pulumi.CustomResource]:
        """A role for this account's flow logs only (VPC User Guide, "IAM role for publishing flow logs")."""
        conditions = {
            "StringEquals": {"aws:SourceAccount": [self._args.account.id]},
            "ArnLike": {"aws:SourceArn": [self._arn("ec2", "vpc-flow-log/*")]},
        }
        write = Statement(
            "WriteFlowLogs",
            ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            [self._arn("logs", f"log-group:{self._group_name}:*")],
        )
        find = Statement("FindLogGroup", ["logs:DescribeLogGroups"], [self._arn("logs", "log-group:*")])
        return role_with(
            f"{self._name}-role",
            trust=service_trust("FlowLogs", "vpc-flow-logs.amazonaws.com", conditions),
            description=f"Writes the flow logs of {self._args.cluster_name}",
            policy=Inline(document=document(write, find)),
            opts=self._child,
        )
