"""Rules of a security group in a comparable form.

AWS merges rules of the same protocol and ports into one permission, and Pulumi groups them as the program wrote them,
so both are split into atoms: one protocol, one range of ports, one source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

ALL = "-1"
_NUMBERS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": ALL}
# Kind of source -> (the list in a permission, its member, the property of an inline rule).
_SOURCES = {
    "cidr": ("IpRanges", "CidrIp", "cidrBlocks"),
    "cidr6": ("Ipv6Ranges", "CidrIpv6", "ipv6CidrBlocks"),
    "list": ("PrefixListIds", "PrefixListId", "prefixListIds"),
    "group": ("UserIdGroupPairs", "GroupId", "securityGroups"),
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
        listed, member, _ = _SOURCES[self.kind]
        source = {member: self.source, **({"Description": self.description} if self.description else {})}
        ports = {} if self.from_port is None else {"FromPort": self.from_port, "ToPort": self.to_port}
        return {"IpProtocol": self.protocol, **ports, listed: [source]}


def from_rules(rules: Iterable[Mapping[str, Any]], group: str) -> set[Atom]:
    """The atoms of inline rules; `self` means the group itself."""
    atoms: set[Atom] = set()
    for rule in rules:
        protocol, low, high = _protocol(rule.get("protocol"), rule.get("fromPort"), rule.get("toPort"))
        for kind, (_, _, name) in _SOURCES.items():
            values = [*(rule.get(name) or []), *([group] if kind == "group" and rule.get("self") else [])]
            atoms.update(Atom(protocol, low, high, kind, value, rule.get("description") or "") for value in values)
    return atoms


def from_permissions(permissions: Iterable[Mapping[str, Any]]) -> set[Atom]:
    """The atoms of the permissions that AWS describes."""
    atoms: set[Atom] = set()
    for permission in permissions:
        ports = permission.get("FromPort"), permission.get("ToPort")
        protocol, low, high = _protocol(permission.get("IpProtocol"), *ports)
        for kind, (listed, member, _) in _SOURCES.items():
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
