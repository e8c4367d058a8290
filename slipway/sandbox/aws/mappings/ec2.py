"""What the mappings of EC2 have in common.

Source of the changes that force a replacement: ForceNew in hashicorp/terraform-provider-aws, internal/service/ec2, on
which pulumi-aws is built; vpc_endpoint.go, vpc_flow_log.go, vpc_nat_gateway.go and vpc_security_group_ingress_rule.go,
read 2026-11. For other types: what EC2 has no operation to change (API Reference, 2016-11-15).
"""

from __future__ import annotations

from slipway.sandbox.aws.mapping import Call, Tags

SERVICE = "ec2"


def tags(specification: str) -> Tags:
    """EC2 tags any object by its id; at creation it requires the name of the resource type."""
    return Tags("create_tags", "delete_tags", {"Resources": ["{id}"]}, specification=specification)


def described(operation: str, ids: str, items: str) -> Call:
    """Describe one object by id."""
    return Call(operation, target={ids: ["{id}"]}, item=f"{items}[0]")


def by_id(operation: str, parameter: str) -> Call:
    """A call that needs only the id."""
    return Call(operation, target={parameter: "{id}"})


def arn(resource: str) -> dict[str, str]:
    """The computed ARN of `<resource>/<id>`."""
    return {"arn": f"arn:{{partition}}:ec2:{{region}}:{{account}}:{resource}/{{id}}"}
