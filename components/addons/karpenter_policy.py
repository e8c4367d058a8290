"""IAM policy of Karpenter's controller.

Facts: permissions and conditions of Karpenter v1.14.1 (its CloudFormation template of 2026-08-20), without unused ones:
creating instance profiles (the program creates one with the node role) and zonal shift.
"""

from dataclasses import dataclass
from typing import Final

from components.base.iam import Conditions, Statement, document
from spec import strict_yaml

OWNED: Final = "owned"
_LAUNCH: Final = ("ec2:CreateFleet", "ec2:RunInstances")
_CREATED: Final = ("fleet", "instance", "launch-template", "network-interface", "spot-instances-request", "volume")
"""Resource types that a launch creates."""
_USED: Final = ("capacity-reservation", "placement-group", "security-group", "subnet")
"""Existing resource types that a launch uses."""
_DISCOVERY: Final = strict_yaml.beside(__file__, "reads")["karpenter"]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Where Karpenter acts: one cluster in one Region of one account."""

    cluster: str
    cluster_arn: str
    partition: str
    region: str
    account_id: str

    def ec2(self, kind: str, account: str = "*") -> str:
        """ARN pattern of an EC2 resource type in the Region."""
        return f"arn:{self.partition}:ec2:{self.region}:{account}:{kind}/*"

    @property
    def owner_tag(self) -> str:
        """Key of the tag that assigns an instance to a cluster."""
        return f"kubernetes.io/cluster/{self.cluster}"

    @property
    def owned(self) -> Conditions:
        """Condition: the resource has the tags of this cluster and of some NodePool."""
        return {
            "StringEquals": {f"aws:ResourceTag/{self.owner_tag}": [OWNED]},
            "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": ["*"]},
        }

    @property
    def tagged(self) -> dict[str, dict[str, list[str]]]:
        """Condition: the request sets those tags on what it creates."""
        return {
            "StringEquals": {
                f"aws:RequestTag/{self.owner_tag}": [OWNED],
                "aws:RequestTag/eks:eks-cluster-name": [self.cluster],
            },
            "StringLike": {"aws:RequestTag/karpenter.sh/nodepool": ["*"]},
        }


def controller_policy(scope: Scope, *, node_role_arn: str, queue_arn: str) -> str:
    """The whole policy of the controller."""
    return document(
        *_launching(scope), *_tagging(scope), *_finding(scope), *_integration(scope, node_role_arn, queue_arn)
    )


def _launching(scope: Scope) -> list[Statement]:
    images = [scope.ec2("image", account=""), scope.ec2("snapshot", account="")]
    return [
        Statement("LaunchWith", _LAUNCH, [*images, *(scope.ec2(kind) for kind in _USED)]),
        Statement("LaunchFromOwnTemplates", _LAUNCH, [scope.ec2("launch-template")], conditions=scope.owned),
        Statement(
            "LaunchTagged",
            [*_LAUNCH, "ec2:CreateLaunchTemplate"],
            [scope.ec2(kind) for kind in _CREATED],
            conditions=scope.tagged,
        ),
        Statement(
            "DeleteOwn",
            ["ec2:DeleteLaunchTemplate", "ec2:TerminateInstances"],
            [scope.ec2("instance"), scope.ec2("launch-template")],
            conditions=scope.owned,
        ),
    ]


def _tagging(scope: Scope) -> list[Statement]:
    at_launch = scope.tagged
    at_launch["StringEquals"]["ec2:CreateAction"] = ["CreateFleet", "CreateLaunchTemplate", "RunInstances"]
    return [
        Statement("TagAtLaunch", ["ec2:CreateTags"], [scope.ec2(kind) for kind in _CREATED], conditions=at_launch),
        Statement(
            "NameOwnMachines",
            ["ec2:CreateTags"],
            [scope.ec2("instance")],
            conditions={
                **scope.owned,
                "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": [scope.cluster]},
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": ["Name", "eks:eks-cluster-name", "karpenter.sh/nodeclaim"]
                },
            },
        ),
    ]


def _finding(scope: Scope) -> list[Statement]:
    region = {"StringEquals": {"aws:RequestedRegion": [scope.region]}}
    return [
        Statement("DescribeInRegion", _DISCOVERY, ["*"], conditions=region),
        Statement(
            "ReadAmiParameters",
            ["ssm:GetParameter"],
            [f"arn:{scope.partition}:ssm:{scope.region}::parameter/aws/service/*"],
        ),
        # The price list has no resource types (Service Authorization Reference, AWS Price List).
        Statement("ReadPrices", ["pricing:GetProducts"], ["*"]),
        Statement(
            "ReadInstanceProfiles",
            ["iam:GetInstanceProfile"],
            [f"arn:{scope.partition}:iam::{scope.account_id}:instance-profile/*"],
        ),
        Statement("ListInstanceProfiles", ["iam:ListInstanceProfiles"], ["*"]),
    ]


def _integration(scope: Scope, node_role_arn: str, queue_arn: str) -> list[Statement]:
    to_ec2 = {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}}
    return [
        Statement("PassNodeRole", ["iam:PassRole"], [node_role_arn], conditions=to_ec2),
        Statement("DiscoverCluster", ["eks:DescribeCluster"], [scope.cluster_arn]),
        Statement("ReadInterruptions", ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"], [queue_arn]),
    ]
