"""The IAM role of nodes.

Managed node groups and Karpenter have one role each. EKS creates the access entry for the role of a managed node group
itself, and refuses a second one for the same role (terraform-aws-modules/terraform-aws-eks, karpenter module,
`create_access_entry`), but creates none for Karpenter's nodes. With two roles it doesn't matter which is created first,
and Karpenter can pass only its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, document, service_trust
from components.base.outputs import ClusterOutputs
from spec.catalog import regions


@dataclass(frozen=True, kw_only=True)
class NodeRoleOutputs:
    """Outputs of a node role."""

    arn: pulumi.Output[str]
    instance_profile: pulumi.Input[str]  # name of its instance profile, for nodes of Karpenter; empty for those of EKS
    ready: Sequence[pulumi.Resource]
    """Resources that must exist before a node with this role can join: its policies, and its access entry if EKS
    doesn't create one."""


POLICIES: Final[Mapping[str, str]] = {
    "ecr": "AmazonEC2ContainerRegistryPullOnly",
    "ssm": "AmazonSSMManagedInstanceCore",
    "worker": "AmazonEKSWorkerNodePolicy",
}
"""AWS managed policies by purpose (EKS User Guide, "Amazon EKS node IAM role"); Session Manager replaces SSH. No
AmazonEKS_CNI_Policy: the CNI has its own role, and pods with host networking could use the node's."""


def cache_policy(cluster: ClusterOutputs, caches: Sequence[str]) -> str:
    """Permissions for the first pull of an image through a cache: ECR creates the repository and imports the image with
    the caller's permissions (ECR User Guide, "IAM permissions required to sync an upstream registry with an Amazon ECR
    private registry", read 2026-11). A registry policy would cover all callers, but several environments share the one
    registry of an account and Region.

    Args:
        cluster: The cluster, whose name is the prefix of the repositories.
        caches: Upstream registries with a cache; no other repositories can be created.
    """
    images = f"arn:{cluster.partition}:ecr:{cluster.region}:{cluster.account_id}:repository/{cluster.owner}"
    actions = ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"]
    return document(Statement("FillCaches", actions, [f"{images}/{upstream}/*" for upstream in caches]))


@dataclass(frozen=True, kw_only=True)
class NodeRoleArgs:
    """Inputs of `NodeRole`.

    Attributes:
        cluster: The cluster that nodes join.
        launches_itself: Whether Karpenter launches the nodes and not an EKS node group: they then need an instance
            profile and an access entry, which EKS creates for its groups.
        caches: Upstream registries with a pull-through cache.
    """

    cluster: ClusterOutputs
    launches_itself: bool = False
    caches: Sequence[str] = ()


class NodeRole(pulumi.ComponentResource):
    """A role for nodes with AWS managed policies and, for nodes of Karpenter, instance profile and access entry."""

    PULUMI_TYPE: Final = "slipway:pools:NodeRole"

    outputs: NodeRoleOutputs

    def __init__(self, name: str, args: NodeRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        cluster = args.cluster
        suffix = regions.get(cluster.region).dns_suffix
        role = aws.iam.Role(
            f"{name}-role",
            description=f"Nodes of {cluster.name}, launched by {'Karpenter' if args.launches_itself else 'EKS'}",
            assume_role_policy=service_trust("Ec2", f"ec2.{suffix}"),
            opts=child,
        )
        ready: list[pulumi.Resource] = [
            aws.iam.RolePolicyAttachment(
                f"{name}-role-{key}",
                role=role.name,
                policy_arn=f"arn:{cluster.partition}:iam::aws:policy/{policy}",
                opts=child,
            )
            for key, policy in POLICIES.items()
        ]
        if args.caches:
            policy = cache_policy(cluster, args.caches)
            ready.append(aws.iam.RolePolicy(f"{name}-role-caches", role=role.name, policy=policy, opts=child))
        profile = None
        if args.launches_itself:
            profile = aws.iam.InstanceProfile(f"{name}-instance-profile", role=role.name, opts=child)
            entry = aws.eks.AccessEntry(
                f"{name}-access-entry",
                cluster_name=cluster.known_as,
                principal_arn=role.arn,
                type="EC2_LINUX",
                opts=child,
            )
            ready += [profile, entry]
        self.outputs = NodeRoleOutputs(
            arn=role.arn, instance_profile=profile.name if profile else "", ready=tuple(ready)
        )
        self.register_outputs({"arn": role.arn})
