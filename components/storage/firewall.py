"""Security groups of file systems and databases, with rules that refer to other groups."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws


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


def allow_in(
    name: str,
    *,
    group: pulumi.Input[str],
    source: pulumi.Input[str],
    ports: tuple[int, int],
    description: str,
    parent: pulumi.Resource,
) -> aws.vpc.SecurityGroupIngressRule:
    """Allow TCP ingress from another group.

    Args:
        name: Logical name.
        group: The group that gets the rule.
        source: The group of the clients.
        ports: First and last port.
        description: Description of the traffic.
        parent: The component that owns it.
    """
    return aws.vpc.SecurityGroupIngressRule(
        name,
        security_group_id=group,
        referenced_security_group_id=source,
        ip_protocol="tcp",
        from_port=ports[0],
        to_port=ports[1],
        description=description,
        opts=pulumi.ResourceOptions(parent=parent),
    )


def allow_out(
    name: str,
    *,
    group: pulumi.Input[str],
    target: pulumi.Input[str],
    ports: tuple[int, int],
    description: str,
    parent: pulumi.Resource,
) -> aws.vpc.SecurityGroupEgressRule:
    """Allow TCP egress to another group; arguments like those of `allow_in`."""
    return aws.vpc.SecurityGroupEgressRule(
        name,
        security_group_id=group,
        referenced_security_group_id=target,
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
