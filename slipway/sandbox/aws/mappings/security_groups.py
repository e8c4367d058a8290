"""Security groups and their rules, inline or as separate resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Inputs, Item, ResourceMapping, Setting, find
from slipway.sandbox.aws.mappings import ec2, permissions
from slipway.sandbox.aws.mappings.permissions import Atom

_DESCRIBE = ec2.described("describe_security_groups", "GroupIds", "SecurityGroups")
_DIRECTIONS = {"ingress": "IpPermissions", "egress": "IpPermissionsEgress"}


def _live(aws: Aws, group: str, direction: str) -> set[Atom]:
    item = find(aws, ec2.SERVICE, _DESCRIBE, {"id": group}) or {}
    return permissions.from_permissions(item.get(_DIRECTIONS[direction], []))


def _authorize(aws: Aws, group: str, direction: str, atoms: Iterable[Atom]) -> None:
    for atom in sorted(atoms, key=str):
        operation = f"authorize_security_group_{direction}"
        aws.call(ec2.SERVICE, operation, GroupId=group, IpPermissions=[atom.permission()])


def _revoke(aws: Aws, group: str, direction: str, atoms: Iterable[Atom]) -> None:
    for atom in sorted(atoms, key=str):
        aws.call(ec2.SERVICE, f"revoke_security_group_{direction}", GroupId=group, IpPermissions=[atom.permission()])


def _set_rules(aws: Aws, group: str, inputs: Inputs) -> None:
    """Change the rules to those of the program, in each direction that it writes inline."""
    for direction in _DIRECTIONS:
        if direction in inputs:
            wanted = permissions.from_rules(inputs[direction], group)
            live = _live(aws, group, direction)
            _revoke(aws, group, direction, live - wanted)
            _authorize(aws, group, direction, wanted - live)


def _read_group(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The group; if the rules match the program's, they are shown as the program wrote them."""
    group = find(aws, ec2.SERVICE, _DESCRIBE, {"id": id})
    if group is None:
        return None
    shown: dict[str, Any] = dict(group)
    for direction, listed in _DIRECTIONS.items():
        live = permissions.from_permissions(group.get(listed, []))
        written = names.get(direction)
        is_written = written is not None and permissions.from_rules(written, id) == live
        shown[direction] = written if is_written else permissions.to_rules(live, id)
    return shown


def _create_group(aws: Aws, inputs: Inputs) -> str:
    """AWS allows all egress of a new group; like the AWS provider, revoke that rule."""
    pairs = [{"Key": key, "Value": value} for key, value in (inputs.get("tags") or {}).items()]
    tagged = {"TagSpecifications": [{"ResourceType": "security-group", "Tags": pairs}]} if pairs else {}
    group = aws.call(
        ec2.SERVICE,
        "create_security_group",
        GroupName=inputs["name"],
        Description=inputs.get("description", "Managed by Pulumi"),
        **({"VpcId": inputs["vpcId"]} if "vpcId" in inputs else {}),
        **tagged,
    )["GroupId"]
    _revoke(aws, group, "egress", _live(aws, group, "egress"))
    return str(group)


SECURITY_GROUP = ResourceMapping(
    "aws:ec2/securityGroup:SecurityGroup",
    ec2.SERVICE,
    create=_create_group,
    id="",
    read=_read_group,
    delete=ec2.by_id("delete_security_group", "GroupId"),
    force_new=frozenset({"name", "namePrefix", "description", "vpcId"}),
    settings=(Setting(("ingress", "egress"), _set_rules),),
    tags=ec2.tags("security-group"),
    from_item={"name": "GroupName"},
    computed=ec2.arn("security-group"),
    drift=("vpcId", "description", "ingress", "egress"),
)


def _adopt(aws: Aws, inputs: Inputs) -> str:
    """Take over the VPC's default group, and revoke the rules that AWS created."""
    filters = [{"Name": "group-name", "Values": ["default"]}]
    if "vpcId" in inputs:
        filters.append({"Name": "vpc-id", "Values": [inputs["vpcId"]]})
    group = aws.call(ec2.SERVICE, "describe_security_groups", Filters=filters)["SecurityGroups"][0]["GroupId"]
    for direction in _DIRECTIONS:
        _revoke(aws, group, direction, _live(aws, group, direction))
    if inputs.get("tags"):
        pairs = [{"Key": key, "Value": value} for key, value in inputs["tags"].items()]
        aws.call(ec2.SERVICE, "create_tags", Resources=[group], Tags=pairs)
    return str(group)


DEFAULT_SECURITY_GROUP = ResourceMapping(
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    ec2.SERVICE,
    create=_adopt,
    id="",
    read=_read_group,
    # A VPC's default group can't be deleted: it stays, without rules.
    delete=None,
    force_new=frozenset({"vpcId"}),
    settings=(Setting(("ingress", "egress"), _set_rules),),
    tags=ec2.tags("security-group"),
    from_item={"name": "GroupName"},
    computed=ec2.arn("security-group"),
    defaults={"ingress": [], "egress": []},
    drift=("ingress", "egress"),
)

_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
_RULE_REQUEST = {
    "cidrIpv4": "CidrIpv4", "cidrIpv6": "CidrIpv6", "prefixListId": "PrefixListId",
    "referencedSecurityGroupId": "ReferencedGroupId", "description": "Description", "ipProtocol": "IpProtocol",
}  # fmt: skip


def _atom(inputs: Inputs) -> Atom:
    kinds = {"cidrIpv4": "cidr", "cidrIpv6": "cidr6", "prefixListId": "list", "referencedSecurityGroupId": "group"}
    source = next(name for name in _SOURCES if inputs.get(name))
    rule = {"protocol": inputs["ipProtocol"], "fromPort": inputs.get("fromPort"), "toPort": inputs.get("toPort")}
    listed = {"cidr": "cidrBlocks", "cidr6": "ipv6CidrBlocks", "list": "prefixListIds", "group": "securityGroups"}
    rule |= {listed[kinds[source]]: [inputs[source]], "description": inputs.get("description")}
    return permissions.from_rules([rule], "").pop()


def _change_rule(aws: Aws, id: str, inputs: Inputs) -> None:
    request = {_RULE_REQUEST[key]: value for key, value in inputs.items() if key in _RULE_REQUEST}
    # -1 means all ports.
    ports = {"FromPort": int(inputs.get("fromPort", -1)), "ToPort": int(inputs.get("toPort", -1))}
    rule = {"SecurityGroupRuleId": id, "SecurityGroupRule": {**request, **ports}}
    aws.call(ec2.SERVICE, "modify_security_group_rules", GroupId=inputs["securityGroupId"], SecurityGroupRules=[rule])


_DESCRIBED = ec2.described("describe_security_group_rules", "SecurityGroupRuleIds", "SecurityGroupRules")


def _read_rule(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, ec2.SERVICE, _DESCRIBED, {**names, "id": id})
    if item is not None and "ReferencedGroupInfo" in item and not item.get("Description"):
        # Moto 5.2.5 does not keep the description of a rule whose source is a group; that is not drift.
        return {**item, "Description": names.get("description")}
    return item


def _rule(direction: str) -> ResourceMapping:
    def create(aws: Aws, inputs: Inputs) -> str:
        pairs = [{"Key": key, "Value": value} for key, value in (inputs.get("tags") or {}).items()]
        tagged = {"TagSpecifications": [{"ResourceType": "security-group-rule", "Tags": pairs}]} if pairs else {}
        answer = aws.call(
            ec2.SERVICE,
            f"authorize_security_group_{direction}",
            GroupId=inputs["securityGroupId"],
            IpPermissions=[_atom(inputs).permission()],
            **tagged,
        )
        return str(answer["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def delete(aws: Aws, id: str, inputs: Inputs) -> None:
        operation = f"revoke_security_group_{direction}"
        aws.call(ec2.SERVICE, operation, GroupId=inputs["securityGroupId"], SecurityGroupRuleIds=[id])

    name = direction.capitalize()
    return ResourceMapping(
        f"aws:vpc/securityGroup{name}Rule:SecurityGroup{name}Rule",
        ec2.SERVICE,
        create=create,
        id="",
        read=_read_rule,
        delete=delete,
        # AWS can't change the kind of a source. Moto 5.2.5 in addition changes no sources but IPv4 ranges.
        force_new=frozenset({"securityGroupId", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"}),
        settings=(
            Setting(("cidrIpv4", "fromPort", "toPort", "ipProtocol", "description"), _change_rule, at_create=False),
        ),
        tags=ec2.tags(""),
        from_item={"securityGroupId": "GroupId", "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId"},
        computed={**ec2.arn("security-group-rule"), "securityGroupRuleId": "{id}"},
        drift=("cidrIpv4", "cidrIpv6", "ipProtocol", "fromPort", "toPort", "description", "referencedSecurityGroupId"),
        exactly_one=(_SOURCES,),
    )


MAPPINGS = (SECURITY_GROUP, DEFAULT_SECURITY_GROUP, _rule("ingress"), _rule("egress"))
