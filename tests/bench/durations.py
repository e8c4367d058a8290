"""How long AWS takes to create things.

Two kinds of figures, and no third: nothing here was measured by this project, which has no account of its own.

- From published logs of other people's runs, each row with the key of its source in `SOURCES`, and its date: VPC,
  subnets, gateways, routes, security groups, IAM roles, log groups, KMS keys, the EKS control plane, node groups,
  add-ons, Helm releases with pods, file systems, and databases.
- The default, `DEFAULT_SECONDS`, for every other type: IAM policies, access entries, buckets, rules, endpoints,
  Kubernetes objects, releases of CRDs alone. Nearly all of these are one API call that answers at once.

`make bench` prints how many resources take the default, and how far the result depends on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording

DEFAULT_SECONDS: Final = 3.0
"""An API call that answers at once, and the provider's look whether the resource exists."""
SOURCES: Final[Mapping[str, str]] = {
    "gpu-lab": (
        "sirzzang.github.io, EKS GPU troubleshooting 2-2, log of `terraform apply`: EKS 1.35, two t3.medium, "
        "ap-northeast-2 (2026-04)"
    ),
    "gpu-workshop": (
        "workshop on GPUs on EKS, 'Deploy the base stack', log of `terraform apply`: EKS 1.36, Karpenter 1.14, two "
        "m6i.xlarge (2026)"
    ),
    "pulumi-ecs": (
        "dirien, deploying-llamaindex-applications-on-aws-with-pulumi, log of `pulumi up` with pulumi-aws, us-east-1 "
        "(read 2026-11)"
    ),
    "database-log": (
        "public log of `terraform apply`, PostgreSQL 17.2 on db.t3.micro in one zone, beside EKS 1.34: 6m8s (read "
        "2026-11)"
    ),
    "lustre-log": ("turbot/steampipe-plugin-aws#906, log of `terraform apply`: between 6m0s and 6m10s (read 2026-11)"),
    "lustre-link": (
        "hashicorp/terraform-provider-aws#22291, acceptance tests: 810 s for a file system with a link, 577 s for one "
        "without, deletion included (read 2026-11)"
    ),
    "efs-log": (
        "turbot/steampipe-plugin-aws#426, log of `terraform apply`: file system 12 s, mount target more than 1m0s "
        "(2021-05)"
    ),
    "csi-log": "public logs of `terraform apply` with the EBS CSI add-on: 46, 54, 56, 65 s (2024-12 to 2026-10)",
}


@dataclass(frozen=True)
class Duration:
    """Seconds, and the key of their source; without a source it is the default, or nothing to wait for."""

    seconds: float
    source: str | None = None


AT_ONCE: Final = Duration(0.0)
"""Components and providers: the engine alone."""
DEFAULT: Final = Duration(DEFAULT_SECONDS)

BY_TYPE: Final[Mapping[str, Duration]] = {
    "aws:ec2/vpc:Vpc": Duration(13, "pulumi-ecs"),
    "aws:ec2/subnet:Subnet": Duration(13, "pulumi-ecs"),
    "aws:ec2/natGateway:NatGateway": Duration(97, "pulumi-ecs"),
    "aws:ec2/internetGateway:InternetGateway": Duration(1, "pulumi-ecs"),
    "aws:ec2/eip:Eip": Duration(1, "pulumi-ecs"),
    "aws:ec2/routeTable:RouteTable": Duration(2, "pulumi-ecs"),
    "aws:ec2/route:Route": Duration(1, "pulumi-ecs"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Duration(1, "pulumi-ecs"),
    "aws:ec2/securityGroup:SecurityGroup": Duration(4, "pulumi-ecs"),
    "aws:iam/role:Role": Duration(2, "pulumi-ecs"),
    "aws:cloudwatch/logGroup:LogGroup": Duration(1, "pulumi-ecs"),
    "aws:kms/key:Key": Duration(28, "gpu-lab"),
    "aws:efs/fileSystem:FileSystem": Duration(12, "efs-log"),
    "aws:efs/mountTarget:MountTarget": Duration(60, "efs-log"),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Duration(360, "lustre-log"),
    # Ten minutes may not be enough for a bucket of many objects (aws-samples/
    # amazon-eks-machine-learning-with-terraform-and-kubeflow#112, 2025-09).
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Duration(233, "lustre-link"),
    "aws:rds/instance:Instance": Duration(368, "database-log"),
    # Others saw 8m42s (gpu-workshop) and 9m43s (terraform-aws-modules/terraform-aws-eks#2203); AWS once gave 15 minutes
    # as the average (aws/containers-roadmap#1227).
    "aws:eks/cluster:Cluster": Duration(564, "gpu-lab"),
}
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
NODES: Final = Duration(171, "gpu-workshop")
"""Until the nodes of a group have joined; 108 s in gpu-lab."""
NO_NODES: Final = Duration(58, "gpu-lab")
"""A group whose desired size is zero."""

ADDON: Final = "aws:eks/addon:Addon"
ADDONS: Final[Mapping[str, Duration]] = {
    "vpc-cni": Duration(35, "gpu-lab"),
    "kube-proxy": Duration(25, "gpu-lab"),
    "eks-pod-identity-agent": Duration(25, "gpu-lab"),
    "coredns": Duration(15, "gpu-lab"),
    "metrics-server": Duration(55, "gpu-lab"),
    "aws-ebs-csi-driver": Duration(54, "csi-log"),
    # As the EBS driver, whose Deployments are alike: no log of these was found.
    "aws-efs-csi-driver": Duration(54, "csi-log"),
    "aws-fsx-csi-driver": Duration(54, "csi-log"),
    "aws-mountpoint-s3-csi-driver": Duration(54, "csi-log"),
}
OTHER_ADDON: Final = Duration(35, "gpu-lab")

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
CHART: Final = Duration(63, "gpu-workshop")
"""Helm waits for the pods: Karpenter's took 63 s, KEDA's 48 s."""


def duration_of(resource: RecordedResource) -> Duration:
    """How long a resource takes to be created."""
    if not resource.custom or resource.type.startswith("pulumi:providers:"):
        return AT_ONCE
    inputs = resource.inputs.plain
    if resource.type == NODE_GROUP:
        return NODES if _desired(inputs) else NO_NODES
    if resource.type == ADDON:
        return ADDONS.get(str(inputs.get("addonName")), OTHER_ADDON)
    if resource.type == RELEASE:
        return DEFAULT if is_crds_only(resource) else CHART
    return BY_TYPE.get(resource.type, DEFAULT)


def seconds_of(recording: Recording, default: float = DEFAULT_SECONDS) -> dict[str, float]:
    """Seconds of every resource, by URN.

    Args:
        recording: The program.
        default: What resources take for which there is no published log.
    """
    found = {each.urn: duration_of(each) for each in recording}
    return {urn: default if each is DEFAULT else each.seconds for urn, each in found.items()}


def is_crds_only(resource: RecordedResource) -> bool:
    """Whether a release has CRDs and no pods, by its own name or its chart's."""
    names = (chart_of(resource), str(resource.inputs.plain.get("name", "")))
    return any(name.endswith(("-crd", "-crds")) for name in names)


def chart_of(release: RecordedResource) -> str:
    """Name of a release's chart."""
    return str(release.inputs.plain.get("chart", "")).rpartition("/")[2]


def _desired(inputs: Mapping[str, Any]) -> int:
    scaling = inputs.get("scalingConfig")
    return int(scaling.get("desiredSize", 0)) if isinstance(scaling, Mapping) else 0
