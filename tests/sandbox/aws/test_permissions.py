from typing import Any

import pytest

from sandbox.aws.types import security_groups
from sandbox.aws.types.security_groups import Atom

HTTPS = {"protocol": "tcp", "fromPort": 443, "toPort": 443, "cidrBlocks": ["10.0.0.0/8"]}


@pytest.mark.parametrize(
    ("rule", "atoms"),
    [
        (HTTPS, {Atom("tcp", 443, 443, "cidr", "10.0.0.0/8")}),
        ({**HTTPS, "protocol": "6"}, {Atom("tcp", 443, 443, "cidr", "10.0.0.0/8")}),
        ({"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}, {Atom("-1", None, None, "group", "sg-1")}),
        ({"protocol": "all", "prefixListIds": ["pl-1"]}, {Atom("-1", None, None, "list", "pl-1")}),
        (
            {**HTTPS, "ipv6CidrBlocks": ["::/0"], "description": "d"},
            {Atom("tcp", 443, 443, "cidr", "10.0.0.0/8", "d"), Atom("tcp", 443, 443, "cidr6", "::/0", "d")},
        ),
    ],
)
def test_a_rule_is_split_into_atoms(rule: dict[str, Any], atoms: set[Atom]) -> None:
    assert security_groups.from_rules([rule], "sg-1") == atoms
    assert security_groups.from_permissions([atom.permission() for atom in atoms]) == atoms


def test_live_rules_are_grouped_by_ports() -> None:
    atoms = security_groups.from_rules([{**HTTPS, "cidrBlocks": ["10.0.0.0/8", "11.0.0.0/8"], "self": True}], "sg-1")
    (rule,) = security_groups.to_rules(atoms, "sg-1")
    assert rule == {**HTTPS, "cidrBlocks": ["10.0.0.0/8", "11.0.0.0/8"], "self": True}
