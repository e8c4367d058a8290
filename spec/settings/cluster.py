"""Settings of the EKS control plane: version, endpoints, access, logs, managed add-ons."""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.catalog import kubernetes
from spec.settings.base import LogDays, Model, Name

PrincipalArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[\w+=,.@/-]+$")]


class AccessPolicy(StrEnum):
    """Managed access policies of EKS (EKS User Guide, "Review access policy permissions")."""

    CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"
    """Everything in the cluster; `system:masters` in all but name."""
    ADMIN = "AmazonEKSAdminPolicy"
    """Everything in the namespaces it is scoped to, roles included."""
    EDIT = "AmazonEKSEditPolicy"
    """Write workloads, not roles."""
    VIEW = "AmazonEKSViewPolicy"
    """Read all but secrets."""
    ADMIN_VIEW = "AmazonEKSAdminViewPolicy"
    """Read everything, secrets included."""


class Access(Model):
    """One principal that may use the cluster's API, as an EKS access entry."""

    principal_arn: PrincipalArn
    """IAM role or user."""
    policy: AccessPolicy | None = None
    """Managed policy; none where `kubernetesGroups` and RBAC of one's own say it all."""
    namespaces: tuple[Name, ...] = ()
    """Namespaces that the policy is scoped to; all where none is named."""
    kubernetes_groups: tuple[Annotated[str, StringConstraints(min_length=1, max_length=63)], ...] = ()
    """Kubernetes groups for RBAC; `system:` is refused by EKS."""


class ApiEndpoint(Model):
    """How the API server is reached. The private endpoint is always on: nodes use it."""

    public_access: bool = False
    """Reachable from outside the VPC, from `public_cidrs` only."""
    public_access_cidrs: tuple[IPv4Network, ...] = ()
    """Networks that may reach the public endpoint: offices, VPN exits, runners."""


class Addon(Model):
    """One EKS managed add-on."""

    enabled: bool = True
    """Installed; nodes and pods can't do without some, which can't be switched off."""
    version: Annotated[str, StringConstraints(pattern=r"^v\d+\.\d+\.\d+-eksbuild\.\d+$")] | None = None
    """Pinned version; the catalog's where none is given."""


class AddonName(StrEnum):
    """EKS managed add-ons that Slipway installs."""

    VPC_CNI = "vpc-cni"
    KUBE_PROXY = "kube-proxy"
    POD_IDENTITY_AGENT = "eks-pod-identity-agent"
    COREDNS = "coredns"
    NODE_MONITORING_AGENT = "eks-node-monitoring-agent"
    METRICS_SERVER = "metrics-server"
    EBS_CSI = "aws-ebs-csi-driver"
    EFS_CSI = "aws-efs-csi-driver"
    FSX_CSI = "aws-fsx-csi-driver"
    S3_CSI = "aws-mountpoint-s3-csi-driver"


class Cluster(Model):
    """The control plane."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,39}$")] | None = None
    """At most 40 of the 100 characters that EKS allows, for what is named after it; `slipway-<environment>` else."""
    version: Annotated[str, StringConstraints(pattern=r"^1\.[0-9]{2}$")] = kubernetes.DEFAULT
    """Kubernetes minor version, quoted: unquoted, YAML reads 1.30 as 1.3."""
    support_type: Literal["standard", "extended"] = "standard"
    """What EKS does when standard support ends: upgrade by itself, or bill extended support."""
    service_ipv4_cidr: IPv4Network = IPv4Network("172.20.0.0/16")
    """Range of Service addresses; it may overlap nothing that pods talk to. Fixed for the cluster's life."""
    endpoint: ApiEndpoint = Field(default_factory=ApiEndpoint)
    access: dict[Name, Access] = Field(default_factory=dict)
    """Access entries by a name of yours."""
    deletion_protection: bool = False
    """EKS refuses to delete the cluster until this is switched off."""
    log_retention_days: LogDays = 90
    """Days that the control plane's logs are kept."""
    key_deletion_days: Annotated[int, Field(ge=7, le=30)] = 30
    """Days in which a scheduled deletion of the secrets key can be taken back (KMS allows 7 to 30)."""
    addons: dict[AddonName, Addon] = Field(default_factory=dict)
    """Differences from the catalog: an add-on not named here is installed at the catalog's version."""
