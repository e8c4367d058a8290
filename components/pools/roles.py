"""What a node role looks like to pools; `components.pools.node_role` makes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, kw_only=True)
class NodeRoleOutputs:
    """The identity of nodes.

    Attributes:
        arn: ARN of the role.
        instance_profile: Name of its instance profile, where whoever launches the machines doesn't make one itself.
        ready: What must stand before a machine with this role can join: its policies, and its access entry where EKS
            makes none by itself.
    """

    arn: pulumi.Output[str]
    instance_profile: pulumi.Output[str] | None
    ready: Sequence[pulumi.Resource]
