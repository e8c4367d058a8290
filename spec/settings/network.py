"""Settings of the network: ranges, zones, NAT, endpoints, flow logs."""

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import LogDays, Model, Name
from spec.settings.existing import Existing, Zone


class Nat(StrEnum):
    """How private subnets reach the internet."""

    SINGLE = "single"
    """One NAT gateway for all zones: lowest cost, but an outage of its zone affects every zone."""
    PER_ZONE = "per-zone"
    """One in each zone: no cross-zone traffic, and zones fail independently."""
    NONE = "none"
    """No internet access: AWS is reached only through VPC endpoints."""


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
    """Record flow logs."""
    traffic_type: Literal["ALL", "ACCEPT", "REJECT"] = "ALL"
    """Traffic to record: all, only accepted or only rejected."""
    retention_days: LogDays = 30
    """Days that the flow logs are kept."""


class Network(Model):
    """The VPC: one that exists, with its subnets; or one that the stack makes, whose subnets are computed from `cidr`
    and the letter of each zone, so adding a zone moves no other range."""

    cidr: IPv4Network
    """Range of the VPC, /16 to /20, private (RFC 1918); of an existing VPC the range of its private subnets, /16 to
    /28."""
    existing: Existing | None = None
    """A VPC that exists, with its subnets; the stack makes a VPC if unset."""
    pod_cidr: IPv4Network | None = None
    """Secondary range for pods only, /16 to /20, private or shared (RFC 6598, 100.64.0.0/10); of an existing VPC that
    of its subnets for pods, /16 to /28."""
    zones: Annotated[tuple[Zone, ...], Field(min_length=2, max_length=6)]
    """Availability Zones by name; at least two, because EKS requires subnets in two."""
    nat: Nat = Nat.SINGLE
    """NAT gateways; of an existing VPC only `none`, if its private subnets have no route to the internet."""
    endpoints: tuple[Endpoint, ...] = ()
    """Interface endpoints. The gateway endpoint of S3 always exists, because it is free. An existing VPC must have
    them."""
    flow_logs: FlowLogs = Field(default_factory=FlowLogs)
    peers: dict[Name, IPv4Network] = Field(default_factory=dict)
    """Ranges of networks that are routed to this one, and that may reach the private endpoint of the API server. No
    range of the stack may overlap them."""

    @property
    def nat_gateways(self) -> int:
        """NAT gateways that the stack makes, each with an Elastic IP address."""
        if self.existing is not None:
            return 0
        return {Nat.SINGLE: 1, Nat.PER_ZONE: len(self.zones), Nat.NONE: 0}[self.nat]
