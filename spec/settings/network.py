"""Settings of the network: ranges, zones, NAT, endpoints, flow logs."""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.settings.base import LogDays, Model, Name


class Nat(StrEnum):
    """How private subnets reach the internet."""

    SINGLE = "single"
    """One NAT gateway for all zones: cheap, and one zone's outage cuts off all."""
    PER_ZONE = "per-zone"
    """One in each zone: no cross-zone traffic, no shared fate."""
    NONE = "none"
    """No way out: everything goes through VPC endpoints."""


class Endpoint(StrEnum):
    """AWS services that get an interface endpoint in the VPC (AWS PrivateLink, "Services that integrate")."""

    AUTOSCALING = "autoscaling"
    EC2 = "ec2"
    ECR_API = "ecr.api"
    ECR_DKR = "ecr.dkr"
    EFS = "elasticfilesystem"
    EKS = "eks"
    EKS_AUTH = "eks-auth"
    FSX = "fsx"
    KMS = "kms"
    LOGS = "logs"
    SECRETS_MANAGER = "secretsmanager"
    SQS = "sqs"
    SSM = "ssm"
    STS = "sts"


class FlowLogs(Model):
    """VPC flow logs, kept in CloudWatch Logs."""

    enabled: bool = True
    """Record the traffic at all."""
    traffic_type: Literal["ALL", "ACCEPT", "REJECT"] = "ALL"
    """What is recorded: all of it, or only what was accepted or refused."""
    retention_days: LogDays = 30
    """Days that the records are kept."""


class Network(Model):
    """The VPC. Subnets follow from `cidr` and the letter of each zone, so adding a zone moves no other zone's range."""

    cidr: IPv4Network
    """Range of the VPC, /16 to /20, private (RFC 1918)."""
    pod_cidr: IPv4Network | None = None
    """Secondary range for pods alone, /16 to /20, private or shared (RFC 6598, 100.64.0.0/10)."""
    zones: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$")], ...],
        Field(min_length=2, max_length=6),
    ]
    """Availability Zones by name: at least two, because EKS wants subnets in two."""
    nat: Nat = Nat.SINGLE
    endpoints: tuple[Endpoint, ...] = ()
    """Interface endpoints. The gateway endpoint of S3 is always there: it costs nothing."""
    flow_logs: FlowLogs = Field(default_factory=FlowLogs)
    peers: dict[Name, IPv4Network] = Field(default_factory=dict)
    """Ranges of networks that will be routed to this one: no range here may overlap them."""
