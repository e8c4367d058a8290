"""Functions of the types in security_groups.yaml: security groups and their rules, inline or as resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sandbox.aws.client import Aws
from sandbox.aws.mapping import Inputs, Item, find
from sandbox.aws.types import network

# Rules of a security group in a comparable form.
#
# AWS merges rules of the same protocol and ports into one permission, and Pulumi groups them as the program wrote them,
# so both are split into atoms: one protocol, one range of ports, one source.

ALL = "-1"
_NUMBERS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": ALL}
# Kind of source -> (the list in a permission, its member, the properties of an inline rule and of a rule's resource).
_SOURCES = {
    "cidr": ("IpRanges", "CidrIp", "cidrBlocks", "cidrIpv4"),
    "cidr6": ("Ipv6Ranges", "CidrIpv6", "ipv6CidrBlocks", "cidrIpv6"),
    "list": ("PrefixListIds", "PrefixListId", "prefixListIds", "prefixListId"),
    "group": ("UserIdGroupPairs", "GroupId", "securityGroups", "referencedSecurityGroupId"),
}


@dataclass(frozen=True, order=True)
class Atom:
    """One rule that can't be split further. Ports are None if the protocol has none."""

    protocol: str
    from_port: int | None
    to_port: int | None
    kind: str
    source: str
    description: str = ""

    def permission(self) -> dict[str, Any]:
        """The IpPermission with which it is authorized or revoked."""
        listed, member, *_ = _SOURCES[self.kind]
        source = {member: self.source, **({"Description": self.description} if self.description else {})}
        ports = {} if self.from_port is None else {"FromPort": self.from_port, "ToPort": self.to_port}
        return {"IpProtocol": self.protocol, **ports, listed: [source]}


def from_rules(rules: Iterable[Mapping[str, Any]], group: str) -> set[Atom]:
    """The atoms of inline rules; `self` means the group itself."""
    atoms: set[Atom] = set()
    for rule in rules:
        protocol, low, high = _protocol(rule.get("protocol"), rule.get("fromPort"), rule.get("toPort"))
        for kind, (_, _, name, _) in _SOURCES.items():
            values = [*(rule.get(name) or []), *([group] if kind == "group" and rule.get("self") else [])]
            atoms.update(Atom(protocol, low, high, kind, value, rule.get("description") or "") for value in values)
    return atoms


def from_permissions(permissions: Iterable[Mapping[str, Any]]) -> set[Atom]:
    """The atoms of the permissions that AWS describes."""
    atoms: set[Atom] = set()
    for permission in permissions:
        ports = permission.get("FromPort"), permission.get("ToPort")
        protocol, low, high = _protocol(permission.get("IpProtocol"), *ports)
        for kind, (listed, member, *_) in _SOURCES.items():
            for item in permission.get(listed) or []:
                atoms.add(Atom(protocol, low, high, kind, item[member], item.get("Description") or ""))
    return atoms


def to_rules(atoms: Iterable[Atom], group: str) -> list[dict[str, Any]]:
    """Inline rules for live atoms, one for all sources of the same protocol, ports and description."""
    rules: dict[tuple[Any, ...], dict[str, Any]] = {}
    for atom in sorted(atoms, key=str):
        key = (atom.protocol, atom.from_port, atom.to_port, atom.description)
        ports = {"fromPort": atom.from_port or 0, "toPort": atom.to_port or 0}
        described = {"description": atom.description} if atom.description else {}
        rule = rules.setdefault(key, {"protocol": atom.protocol, **ports, **described})
        if atom.kind == "group" and atom.source == group:
            rule["self"] = True
        else:
            rule.setdefault(_SOURCES[atom.kind][2], []).append(atom.source)
    return list(rules.values())


def _protocol(protocol: Any, low: Any, high: Any) -> tuple[str, int | None, int | None]:
    name = _NUMBERS.get(str(protocol), str(protocol))
    if name == ALL or low is None:
        return name, None, None
    return name, int(low), int(high)


# Security groups and their rules, inline or as separate resources.

_GROUP = network.described("describe_security_groups", "GroupIds", "SecurityGroups")
_DIRECTIONS = {"ingress": "IpPermissions", "egress": "IpPermissionsEgress"}


def _live(aws: Aws, group: str, direction: str) -> set[Atom]:
    item = find(aws, network.SERVICE, _GROUP, {"id": group}) or {}
    return from_permissions(item.get(_DIRECTIONS[direction], []))


def _change(change: str, aws: Aws, group: str, direction: str, atoms: Iterable[Atom]) -> None:
    """Authorize or revoke rules."""
    for atom in sorted(atoms, key=str):
        operation = f"{change}_security_group_{direction}"
        aws.call(network.SERVICE, operation, GroupId=group, IpPermissions=[atom.permission()])


def set_rules(aws: Aws, group: str, inputs: Inputs) -> None:
    """Change the rules to those of the program, in each direction that it writes inline."""
    for direction in _DIRECTIONS:
        if direction in inputs:
            wanted = from_rules(inputs[direction], group)
            live = _live(aws, group, direction)
            _change("revoke", aws, group, direction, live - wanted)
            _change("authorize", aws, group, direction, wanted - live)


def read_group(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The group; if the rules match the program's, they are shown as the program wrote them."""
    group = find(aws, network.SERVICE, _GROUP, {"id": id})
    if group is None:
        return None
    shown: dict[str, Any] = dict(group)
    for direction, listed in _DIRECTIONS.items():
        live = from_permissions(group.get(listed, []))
        written = names.get(direction)
        is_written = written is not None and from_rules(written, id) == live
        shown[direction] = written if is_written else to_rules(live, id)
    return shown


def create_group(aws: Aws, inputs: Inputs) -> str:
    """AWS allows all egress of a new group; like the AWS provider, revoke that rule."""
    pairs = [{"Key": key, "Value": value} for key, value in (inputs.get("tags") or {}).items()]
    tagged = {"TagSpecifications": [{"ResourceType": "security-group", "Tags": pairs}]} if pairs else {}
    group = aws.call(
        network.SERVICE,
        "create_security_group",
        GroupName=inputs["name"],
        Description=inputs.get("description", "Managed by Pulumi"),
        **({"VpcId": inputs["vpcId"]} if "vpcId" in inputs else {}),
        **tagged,
    )["GroupId"]
    _change("revoke", aws, group, "egress", _live(aws, group, "egress"))
    return str(group)


def adopt_default_group(aws: Aws, inputs: Inputs) -> str:
    """Take over the VPC's default group, and revoke the rules that AWS created."""
    filters = [{"Name": "group-name", "Values": ["default"]}]
    if "vpcId" in inputs:
        filters.append({"Name": "vpc-id", "Values": [inputs["vpcId"]]})
    group = aws.call(network.SERVICE, "describe_security_groups", Filters=filters)["SecurityGroups"][0]["GroupId"]
    for direction in _DIRECTIONS:
        _change("revoke", aws, group, direction, _live(aws, group, direction))
    if inputs.get("tags"):
        pairs = [{"Key": key, "Value": value} for key, value in inputs["tags"].items()]
        aws.call(network.SERVICE, "create_tags", Resources=[group], Tags=pairs)
    return str(group)


_RULE_REQUEST = {
    "cidrIpv4": "CidrIpv4", "cidrIpv6": "CidrIpv6", "prefixListId": "PrefixListId",
    "referencedSecurityGroupId": "ReferencedGroupId", "description": "Description", "ipProtocol": "IpProtocol",
}  # fmt: skip


def _atom(inputs: Inputs) -> Atom:
    kind, source = next((kind, inputs[name]) for kind, (*_, name) in _SOURCES.items() if inputs.get(name))
    ports = _protocol(inputs["ipProtocol"], inputs.get("fromPort"), inputs.get("toPort"))
    return Atom(*ports, kind, source, inputs.get("description") or "")


def change_rule(aws: Aws, id: str, inputs: Inputs) -> None:
    request = {_RULE_REQUEST[key]: value for key, value in inputs.items() if key in _RULE_REQUEST}
    # -1 means all ports.
    ports = {"FromPort": int(inputs.get("fromPort", -1)), "ToPort": int(inputs.get("toPort", -1))}
    rule = {"SecurityGroupRuleId": id, "SecurityGroupRule": {**request, **ports}}
    aws.call(
        network.SERVICE, "modify_security_group_rules", GroupId=inputs["securityGroupId"], SecurityGroupRules=[rule]
    )


def _create_rule(direction: str, aws: Aws, inputs: Inputs) -> str:
    pairs = [{"Key": key, "Value": value} for key, value in (inputs.get("tags") or {}).items()]
    tagged = {"TagSpecifications": [{"ResourceType": "security-group-rule", "Tags": pairs}]} if pairs else {}
    answer = aws.call(
        network.SERVICE,
        f"authorize_security_group_{direction}",
        GroupId=inputs["securityGroupId"],
        IpPermissions=[_atom(inputs).permission()],
        **tagged,
    )
    return str(answer["SecurityGroupRules"][0]["SecurityGroupRuleId"])


create_ingress_rule = partial(_create_rule, "ingress")
create_egress_rule = partial(_create_rule, "egress")
