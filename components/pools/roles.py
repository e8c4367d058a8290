"""Outputs of a node role, for pools; `components.pools.node_role` declares the role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, kw_only=True)
class NodeRoleOutputs:
    """Outputs of a node role.

    Attributes:
        arn: ARN of the role.
        instance_profile: Name of its instance profile, for nodes of Karpenter.
        ready: Resources that must exist before a node with this role can join: its policies, and its access entry if
            EKS doesn't create one.
    """

    arn: pulumi.Output[str]
    instance_profile: pulumi.Output[str] | None
    ready: Sequence[pulumi.Resource]
