"""Settings of the EKS control plane: version, endpoints, access, logs, managed add-ons."""

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.catalog import addons, kubernetes
from spec.settings.base import LogDays, Model, Name, pattern
from spec.settings.existing import ExistingCluster

PrincipalArn = Annotated[
    str,
    pattern(
        r"^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[\w+=,.@/-]+$",
        rule="a principal is the ARN of an IAM role or user",
        fix="Write it like arn:aws:iam::111122223333:role/platform-admin.",
    ),
]


class AccessPolicy(StrEnum):
    """Managed access policies of EKS (EKS User Guide, "Review access policy permissions")."""

    CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"
    """Full access to the cluster, like `system:masters`."""
    ADMIN = "AmazonEKSAdminPolicy"
    """Full access to the namespaces it is scoped to, including roles."""
    EDIT = "AmazonEKSEditPolicy"
    """Write workloads, not roles."""
    VIEW = "AmazonEKSViewPolicy"
    """Read everything except secrets."""
    ADMIN_VIEW = "AmazonEKSAdminViewPolicy"
    """Read everything, including secrets."""


class Access(Model):
    """One principal that may use the cluster's API, as an EKS access entry."""

    principal_arn: PrincipalArn
    """IAM role or user."""
    policy: AccessPolicy | None = None
    """Managed access policy; not needed where `kubernetesGroups` and your own RBAC grant the access."""
    namespaces: tuple[Name, ...] = ()
    """Namespaces that the policy is scoped to; all if empty."""
    kubernetes_groups: tuple[Annotated[str, StringConstraints(min_length=1, max_length=63)], ...] = ()
    """Kubernetes groups for RBAC; EKS refuses the prefix `system:`."""


class ApiEndpoint(Model):
    """How the API server is reached. The private endpoint is always on: nodes use it."""

    public_access: bool = False
    """Reachable from outside the VPC, only from `public_access_cidrs`."""
    public_access_cidrs: tuple[IPv4Network, ...] = ()
    """Networks that may reach the public endpoint: offices, VPN exits, CI runners."""
    private_access_cidrs: tuple[IPv4Network, ...] = ()
    """Networks that may reach the private endpoint besides `network.peers`, such as a subnet of runners in the VPC."""


class Addon(Model):
    """One EKS managed add-on."""

    enabled: bool = True
    """Install it. Add-ons that nodes and pods depend on can't be disabled."""
    version: (
        Annotated[
            str,
            pattern(
                r"^v\d+\.\d+\.\d+-eksbuild\.\d+$",
                rule="the version must be one of an EKS add-on",
                fix="Write it like v1.20.4-eksbuild.1.",
            ),
        ]
        | None
    ) = None
    """Pinned version; the catalog's if unset."""


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
    """The EKS control plane."""

    name: (
        Annotated[
            str,
            pattern(
                r"^[a-z][a-z0-9-]{0,39}$",
                rule="a cluster's name has 1 to 40 characters: lower-case letters, digits and dashes, after a letter",
                fix="Shorten it, and use only those characters.",
            ),
        ]
        | None
    ) = None
    """Name of the cluster; `slipway-<environment>` if unset. At most 40 of the 100 characters that EKS allows, because
    other names begin with it."""
    existing: ExistingCluster | None = None
    """A cluster that exists; the stack makes one if unset."""
    version: Annotated[
        str,
        pattern(r"^1\.[0-9]{2}$", rule="the version must be a minor version in quotes", fix='Write it like "1.35".'),
    ] = kubernetes.DEFAULT
    """Kubernetes minor version, in quotes: without them, YAML reads 1.30 as 1.3. A cluster that exists must have it."""
    ami_release: (
        Annotated[
            str,
            pattern(
                r"^1\.[0-9]{2}\.[0-9]+-[0-9]{8}$",
                rule="an AMI release has a version and a day",
                fix="Write it like 1.35.6-20260714, from the AMI's change log.",
            ),
        ]
        | None
    ) = None
    """Release of the AL2023 AMI that nodes of `version` boot, such as `1.35.6-20260714`; the latest if unset. A pool's
    own `amiRelease` comes first."""
    support_type: Literal["standard", "extended"] = "standard"
    """What EKS does when standard support ends: upgrade the cluster, or bill extended support."""
    service_ipv4_cidr: IPv4Network = IPv4Network("172.20.0.0/16")
    """IP range of Services. It must not overlap a network that pods connect to, and can't be changed later. A
    cluster that exists must have it."""
    endpoint: ApiEndpoint = Field(default_factory=ApiEndpoint)
    access: dict[Name, Access] = Field(default_factory=dict)
    """Access entries by a name of your choice."""
    deletion_protection: bool = False
    """EKS refuses to delete the cluster until this is switched off."""
    log_retention_days: LogDays = 90
    """Days that the control plane's logs are kept."""
    key_deletion_days: Annotated[int, Field(ge=7, le=30)] = 30
    """Days during which a scheduled deletion of the secrets key can be cancelled (KMS allows 7 to 30)."""
    scoring_strategy: Literal["LeastAllocated", "MostAllocated"] | None = None
    """How the scheduler chooses among nodes with room. `MostAllocated` fills nodes, GPUs first, so that jobs of whole
    nodes find some, and others can be removed; `LeastAllocated`, the default of EKS, spreads pods. A cluster keeps its
    strategy when this is removed: write the other one."""
    scaling_tier: Literal["standard", "tier-xl", "tier-2xl", "tier-4xl", "tier-8xl"] | None = None
    """Capacity that the control plane always has, billed by the hour: for a thousand nodes, or bursts of jobs. EKS
    scales a `standard` one by load. A cluster keeps its tier when this is removed: write `standard`."""
    zonal_shift: bool | None = None
    """Let Application Recovery Controller move the cluster's network traffic out of a zone that fails. A cluster keeps
    it when this is removed: write `false`."""
    repair_gpus: bool | None = None
    """Replace nodes whose GPUs the EKS node monitoring agent reports as broken. If unset, they are where it reports no
    healthy ones: from Kubernetes 1.36, with a release of the agent that is known for it."""
    addons: dict[AddonName, Addon] = Field(default_factory=dict)
    """Overrides of the catalog: an add-on that is not named here is installed at the catalog's version. On a cluster
    that exists only those that are named here are installed."""

    @property
    def repairs_gpus(self) -> bool:
        """Whether the agent reports broken GPUs to node repair."""
        if self.repair_gpus is not None or self.existing is not None:
            return bool(self.repair_gpus)
        agent, facts = AddonName.NODE_MONITORING_AGENT, addons.get(AddonName.NODE_MONITORING_AGENT)
        wanted = self.addons.get(agent, Addon())
        relied = facts.reports_gpus_well(wanted.version or facts.version(self.version))
        return wanted.enabled and relied and (kubernetes.minor(self.version) or 0) >= kubernetes.MUTATES
