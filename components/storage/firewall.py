"""Security groups of file systems and databases, with rules that refer to other groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import pulumi
import pulumi_aws as aws

INGRESS: Final = aws.vpc.SecurityGroupIngressRule
EGRESS: Final = aws.vpc.SecurityGroupEgressRule
Rule = TypeVar("Rule", aws.vpc.SecurityGroupIngressRule, aws.vpc.SecurityGroupEgressRule)


def make_group(
    name: str, *, vpc_id: pulumi.Input[str], description: str, shown: str, parent: pulumi.Resource
) -> aws.ec2.SecurityGroup:
    """A security group without rules: no ingress, no egress.

    Args:
        name: Logical name.
        vpc_id: Its VPC.
        description: Description: the resource that it protects.
        shown: Value of the tag `Name`.
        parent: The component that owns it.
    """
    opts = pulumi.ResourceOptions(parent=parent)
    return aws.ec2.SecurityGroup(name, vpc_id=vpc_id, description=description, tags={"Name": shown}, opts=opts)


def allow(
    kind: type[Rule],
    name: str,
    *,
    group: pulumi.Input[str],
    peer: pulumi.Input[str],
    ports: tuple[int, int],
    description: str,
    parent: pulumi.Resource,
) -> Rule:
    """Allow TCP from another group, or to it.

    Args:
        kind: `INGRESS` or `EGRESS`.
        name: Logical name.
        group: The group that gets the rule.
        peer: The group at the other end.
        ports: First and last port.
        description: Description of the traffic.
        parent: The component that owns it.
    """
    return kind(
        name,
        security_group_id=group,
        referenced_security_group_id=peer,
        ip_protocol="tcp",
        from_port=ports[0],
        to_port=ports[1],
        description=description,
        opts=pulumi.ResourceOptions(parent=parent),
    )


def by_letter(subnets: Mapping[str, pulumi.Output[str]], zones: Mapping[str, str], zone: str) -> pulumi.Output[str]:
    """The subnet of a zone.

    Args:
        subnets: Subnets by zone letter.
        zones: Zone name by letter.
        zone: The zone's name.
    """
    return next(subnets[letter] for letter, name in zones.items() if name == zone)
