"""Security groups, with rules inline and in each resource that a rule may be."""

from typing import Any, Final

from policies.resources import tokens
from tests.policies.build import Fixture
from tests.scanners.agreement.spelling import Spelling, by_pack, of

_PORTS: Final = {"CKV_AWS_24": 22, "CKV_AWS_25": 3389, "CKV_AWS_260": 80, "CKV_AWS_277": 0}
_VPC_ID: Final = "vpc-0a1b2c3d4e5f60718"
_GROUP_ID: Final = "sg-0a1b2c3d4e5f60718"
_NETWORK: Final = ["10.0.0.0/16"]


def _entry(port: int, **more: Any) -> dict[str, Any]:
    """A rule of a group, for one port, or for all with all protocols."""
    protocol = "tcp" if port else "-1"
    return {"description": "clients", "protocol": protocol, "fromPort": port, "toPort": port, **more}


def _group(*, ingress: Any = (), egress: Any = (), **props: Any) -> Fixture:
    rules = {"ingress": list(ingress), "egress": list(egress)}
    return {
        "it": of(
            tokens.SECURITY_GROUP,
            {"description": "clients", "vpcId": _VPC_ID, **{key: one for key, one in rules.items() if one}, **props},
        )
    }


def _rule(way: str, port: int, **more: Any) -> Fixture:
    return {"it": of(tokens.SECURITY_GROUP_RULE, {"type": way, "securityGroupId": _GROUP_ID, **_entry(port, **more)})}


def _single(kind: str, port: int, **more: Any) -> Fixture:
    """The newer resource has the key `ipProtocol`, and no ports for all protocols."""
    props = {"description": "clients", "securityGroupId": _GROUP_ID, "ipProtocol": "tcp" if port else "-1", **more}
    return {"it": of(kind, {**props, **({"fromPort": port, "toPort": port} if port else {})})}


_WORLD: Final = ({"cidrBlocks": ["0.0.0.0/0"]}, {"ipv6CidrBlocks": ["::/0"]})
_FULL: Final = {"ipv6CidrBlocks": ["0000:0000:0000:0000:0000:0000:0000:0000/0"]}


_USED: Final[Fixture] = {
    "group": of(tokens.SECURITY_GROUP, {"description": "clients", "vpcId": _VPC_ID}),
    "balancer": of(tokens.LOAD_BALANCER, {"internal": True}, securityGroups="group"),
}

SPELLINGS: Final = (
    Spelling(
        name="aws_security_group, ingress",
        good=_group(ingress=[_entry(443, cidrBlocks=_NETWORK)], egress=[_entry(443, cidrBlocks=_NETWORK)]),
        bad={
            **{one: tuple(_group(ingress=[_entry(port, **world)]) for world in _WORLD) for one, port in _PORTS.items()},
            "CKV_AWS_382": tuple(_group(egress=[_entry(0, **world)]) for world in _WORLD),
            "CKV_AWS_23": (
                _group(ingress=[{**_entry(443, cidrBlocks=_NETWORK), "description": None}]),
                _group(description=None),
            ),
        },
    ),
    Spelling(
        name="aws_security_group_rule",
        good=_rule("ingress", 443, cidrBlocks=_NETWORK),
        bad={
            **{one: tuple(_rule("ingress", port, **world) for world in _WORLD) for one, port in _PORTS.items()},
            "CKV_AWS_382": tuple(_rule("egress", 0, **world) for world in _WORLD),
            "CKV_AWS_23": _rule("ingress", 443, cidrBlocks=_NETWORK, description=None),
        },
    ),
    Spelling(
        name="aws_security_group_rule, ::/0 in full",
        good=_rule("ingress", 443, ipv6CidrBlocks=["fd00:1234::/48"]),
        bad={one: _rule("ingress", port, **_FULL) for one, port in _PORTS.items()},
    ),
    Spelling(
        name="aws_security_group_rule, halves of the internet",
        good=_rule("ingress", 443, cidrBlocks=_NETWORK),
        bad={one: _rule("ingress", port, cidrBlocks=["0.0.0.0/1", "128.0.0.0/1"]) for one, port in _PORTS.items()},
        bad_differs=dict.fromkeys(_PORTS, by_pack("Checkov compares texts: 0.0.0.0/0 and ::/0")),
    ),
    Spelling(
        name="aws_vpc_security_group_ingress_rule",
        good=_single(tokens.INGRESS_RULE, 443, cidrIpv4="10.0.0.0/16"),
        bad={
            **{one: _single(tokens.INGRESS_RULE, port, cidrIpv4="0.0.0.0/0") for one, port in _PORTS.items() if port},
            "CKV_AWS_23": _single(tokens.INGRESS_RULE, 443, cidrIpv4="10.0.0.0/16", description=None),
        },
    ),
    Spelling(
        name="aws_vpc_security_group_egress_rule",
        good=_single(tokens.EGRESS_RULE, 443, cidrIpv4="10.0.0.0/16"),
        bad={"CKV_AWS_23": _single(tokens.EGRESS_RULE, 443, cidrIpv4="10.0.0.0/16", description=None)},
    ),
    Spelling(
        name="aws_vpc_security_group_ingress_rule, cidr_ipv6",
        good=_single(tokens.INGRESS_RULE, 443, cidrIpv6="fd00:1234::/48"),
        bad={one: _single(tokens.INGRESS_RULE, port, cidrIpv6="::/0") for one, port in _PORTS.items()},
        bad_differs=dict.fromkeys(_PORTS, by_pack("Checkov looks for a list of ranges here, and finds a text")),
    ),
    Spelling(
        name="aws_vpc_security_group rules, all protocols",
        good=_single(tokens.INGRESS_RULE, 443, cidrIpv4="10.0.0.0/16"),
        bad={
            "CKV_AWS_277": _single(tokens.INGRESS_RULE, 0, cidrIpv4="0.0.0.0/0"),
            "CKV_AWS_382": (
                _single(tokens.EGRESS_RULE, 0, cidrIpv4="0.0.0.0/0"),
                _single(tokens.EGRESS_RULE, 0, cidrIpv6="::/0"),
            ),
        },
        bad_differs=dict.fromkeys(
            ("CKV_AWS_277", "CKV_AWS_382"), by_pack("Checkov reads from_port, which all protocols don't have")
        ),
    ),
    Spelling(name="aws_security_group, used", good=_USED, bad={"CKV2_AWS_5": {"group": _USED["group"]}}),
)
