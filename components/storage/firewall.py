"""Who may reach a file system or a database: a security group of its own, and rules that name the groups they mean."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws


def make_group(
    name: str, *, vpc_id: pulumi.Input[str], description: str, shown: str, parent: pulumi.Resource
) -> aws.ec2.SecurityGroup:
    """A security group that lets nothing in and nothing out.

    Args:
        name: Logical name.
        vpc_id: VPC of what is behind it.
        description: What is behind it.
        shown: Name that people see.
        parent: Component that it belongs to.
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
    """Let TCP from another group in.

    Args:
        name: Logical name.
        group: The group that it comes into.
        source: The group that it comes from.
        ports: First and last port.
        description: What passes.
        parent: Component that it belongs to.
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
    """Let TCP to another group out; arguments as of `allow_in`."""
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
