"""How long AWS takes to make things, as logs of real runs tell. Dated, and each with its source.

A type without a row takes `FEW_SECONDS`: an API call that answers at once, and the provider's look whether it stands.
That is said for each such link of a chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.render.recording import RecordedResource

FEW_SECONDS: Final = 3.0
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
    "csi-log": "public logs of `terraform apply` with the EBS CSI add-on: 46, 54, 56, 65 s (2024-12 to 2026-10)",
}


@dataclass(frozen=True)
class Duration:
    """Seconds, and the key of their source; no source means `FEW_SECONDS` or nothing to wait for."""

    seconds: float
    source: str | None = None


AT_ONCE: Final = Duration(0.0)
UNKNOWN: Final = Duration(FEW_SECONDS)

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
    # Others saw 8m42s (gpu-workshop) and 9m43s (terraform-aws-modules/terraform-aws-eks#2203); AWS once spoke of 15
    # minutes on average (aws/containers-roadmap#1227).
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
    # Deployments of the same making as the EBS driver's; nobody's log of them was found.
    "aws-efs-csi-driver": Duration(54, "csi-log"),
    "aws-fsx-csi-driver": Duration(54, "csi-log"),
    "aws-mountpoint-s3-csi-driver": Duration(54, "csi-log"),
}
OTHER_ADDON: Final = Duration(35, "gpu-lab")

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
CHART: Final = Duration(63, "gpu-workshop")
"""Helm waits for the pods: Karpenter's took 63 s, KEDA's 48 s."""


def duration_of(resource: RecordedResource) -> Duration:
    """How long a resource takes to be made."""
    if not resource.custom or resource.type.startswith("pulumi:providers:"):
        return AT_ONCE
    inputs = resource.inputs.plain
    if resource.type == NODE_GROUP:
        return NODES if _desired(inputs) else NO_NODES
    if resource.type == ADDON:
        return ADDONS.get(str(inputs.get("addonName")), OTHER_ADDON)
    if resource.type == RELEASE:
        return UNKNOWN if holds_definitions(resource) else CHART
    return BY_TYPE.get(resource.type, UNKNOWN)


def holds_definitions(resource: RecordedResource) -> bool:
    """Whether a release is of CRDs alone, by its own name or its chart's: it has no pods to wait for."""
    names = (chart_of(resource), str(resource.inputs.plain.get("name", "")))
    return any(name.endswith(("-crd", "-crds")) for name in names)


def chart_of(release: RecordedResource) -> str:
    """Name of a release's chart."""
    return str(release.inputs.plain.get("chart", "")).rpartition("/")[2]


def _desired(inputs: Mapping[str, Any]) -> int:
    scaling = inputs.get("scalingConfig")
    return int(scaling.get("desiredSize", 0)) if isinstance(scaling, Mapping) else 0
