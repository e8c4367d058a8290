"""The identity of nodes: what a machine may do before any pod runs on it.

Managed groups and Karpenter have a role each. EKS makes the access entry of a managed group's role by itself, and
refuses a second one for the same role (terraform-aws-modules/terraform-aws-eks, karpenter module,
`create_access_entry`); nobody makes that of Karpenter's nodes. Two roles need no guess at which of the two comes
first, and Karpenter can pass on only its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, document, service_trust
from components.base.outputs import ClusterOutputs
from components.pools.roles import NodeRoleOutputs
from spec.catalog import regions

POLICIES: Final[Mapping[str, str]] = {
    "ecr": "AmazonEC2ContainerRegistryPullOnly",
    "ssm": "AmazonSSMManagedInstanceCore",
    "worker": "AmazonEKSWorkerNodePolicy",
}
"""AWS's policies by what they are for (EKS User Guide, "Amazon EKS node IAM role"); a shell by Session Manager instead
of SSH. No AmazonEKS_CNI_Policy: the CNI has a role of its own, and pods could take the node's."""


def cache_policy(cluster: ClusterOutputs, caches: Sequence[str]) -> str:
    """What it takes to be the first who pulls an image through a cache: ECR makes its repository and fetches it as who
    asks (ECR User Guide, "IAM permissions required to sync an upstream registry with an Amazon ECR private registry",
    read 2026-11). A policy of the registry would say it once for all, but an account and Region have one registry, and
    several environments.

    Args:
        cluster: The cluster, whose name begins the repositories'.
        caches: Upstreams that there are caches of; nothing else can be made.
    """
    images = f"arn:{cluster.partition}:ecr:{cluster.region}:{cluster.account_id}:repository/{cluster.name}"
    actions = ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"]
    return document(
        Statement(sid="FillCaches", actions=actions, resources=[f"{images}/{upstream}/*" for upstream in caches])
    )


@dataclass(frozen=True, kw_only=True)
class NodeRoleArgs:
    """Inputs of a node role.

    Attributes:
        cluster: The cluster that nodes join.
        launches_itself: Whether the machines come from EC2 directly (Karpenter) and not from an EKS node group: they
            then need an instance profile and an access entry, which EKS makes for its groups.
        caches: Upstreams that the registry caches images of.
    """

    cluster: ClusterOutputs
    launches_itself: bool = False
    caches: Sequence[str] = ()


class NodeRole(pulumi.ComponentResource):
    """A role for nodes, with AWS's policies and, for machines that EKS does not launch, what lets them in."""

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
                cluster_name=cluster.resource.name,
                principal_arn=role.arn,
                type="EC2_LINUX",
                opts=child,
            )
            ready += [profile, entry]
        self.outputs = NodeRoleOutputs(
            arn=role.arn, instance_profile=profile.name if profile else None, ready=tuple(ready)
        )
        self.register_outputs({"arn": role.arn})
