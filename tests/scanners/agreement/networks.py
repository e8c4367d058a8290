"""Network ACLs, routes, and parts of a VPC."""

from __future__ import annotations

from typing import Any, Final

from policies.resources import tokens
from tests.policies.fixtures.build import Fixture
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, by_pack, changed, of

_VPC_ID: Final = "vpc-0a1b2c3d4e5f60718"
_NAT_ID: Final = "nat-0a1b2c3d4e5f60718"


def _acl(*entries: dict[str, Any], kind: str = tokens.NETWORK_ACL) -> Fixture:
    return {"it": of(kind, {"vpcId": _VPC_ID, "subnetIds": ["subnet-0a1b2c3d4e5f60718"], "ingress": list(entries)})}


def _acl_entry(port: int, **more: Any) -> dict[str, Any]:
    entry = {"protocol": "tcp" if port else "-1", "ruleNo": 100, "action": "allow", "cidrBlock": "0.0.0.0/0"}
    return {**entry, "fromPort": port, "toPort": port, **more}


def _acl_rule(port: int, **more: Any) -> Fixture:
    props = {"networkAclId": "acl-0a1b2c3d4e5f60718", "ruleNumber": 100, "ruleAction": "allow", "protocol": "tcp"}
    world = {**props, "cidrBlock": "0.0.0.0/0", "fromPort": port, "toPort": port, **more}
    return {"it": of(tokens.NETWORK_ACL_RULE, world)}


_ACL_PORTS: Final = {"CKV_AWS_229": 21, "CKV_AWS_230": 20, "CKV_AWS_231": 3389, "CKV_AWS_232": 22}
_IPV6: Final = {"cidrBlock": None, "ipv6CidrBlock": "::/0"}
_TABLE: Final = of(
    tokens.ROUTE_TABLE, {"vpcId": _VPC_ID, "routes": [{"cidrBlock": "0.0.0.0/0", "natGatewayId": _NAT_ID}]}
)
_ROUTE: Final = of(
    tokens.ROUTE,
    {"routeTableId": "rtb-0a1b2c", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": _NAT_ID},
)
_PEER: Final = of(tokens.VPC_PEERING, {"vpcId": _VPC_ID, "peerVpcId": "vpc-0f1e2d3c4b5a69788"})
_PEER_ID: Final = "pcx-0a1b2c3d4e5f60718"
_PEERED: Final[Fixture] = {
    "route": of(
        tokens.ROUTE,
        {"routeTableId": "rtb-0a1b2c", "destinationCidrBlock": "10.1.0.0/16"},
        vpcPeeringConnectionId="peer",
    ),
    "peer": _PEER,
}
_VPC: Final = of(tokens.VPC, {"cidrBlock": "10.0.0.0/16"})
_LOGGED: Final[Fixture] = {
    "vpc": _VPC,
    "log": of(tokens.FLOW_LOG, {"trafficType": "ALL", "logDestination": "arn:aws:s3:::slipway-logs"}, vpcId="vpc"),
}
_DEFAULT: Final[Fixture] = {"vpc": _VPC, "default": of(tokens.DEFAULT_SECURITY_GROUP, {}, vpcId="vpc")}
_INSIDE: Final = {"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}
_EIP: Final = of(tokens.EIP, {"domain": "vpc"})
_IN_VPC: Final[Fixture] = {
    "vpc": _VPC,
    "subnet": of(tokens.SUBNET, {"cidrBlock": "10.0.0.0/24"}, vpcId="vpc"),
    "acl": of(tokens.NETWORK_ACL, {}, vpcId="vpc", subnetIds="subnet"),
}
SPELLINGS: Final = (
    Spelling(
        name="aws_network_acl",
        good=_acl(_acl_entry(443)),
        bad={
            one: (_acl(_acl_entry(port)), _acl(_acl_entry(port, **_IPV6)), _acl(_acl_entry(0)))
            for one, port in _ACL_PORTS.items()
        },
    ),
    Spelling(
        name="aws_default_network_acl",
        good=_acl(_acl_entry(443), kind=tokens.DEFAULT_NETWORK_ACL),
        bad={one: _acl(_acl_entry(port), kind=tokens.DEFAULT_NETWORK_ACL) for one, port in _ACL_PORTS.items()},
        bad_differs=dict.fromkeys(_ACL_PORTS, by_pack("Checkov does not read the default ACL")),
    ),
    Spelling(
        name="aws_network_acl_rule",
        good=_acl_rule(443),
        bad={
            **{
                one: (_acl_rule(port), _acl_rule(port, **_IPV6), _acl_rule(0, protocol="-1"))
                for one, port in _ACL_PORTS.items()
            },
            "CKV_AWS_352": _acl_rule(0, protocol="-1"),
        },
    ),
    Spelling(
        name="aws_subnet",
        good={"it": of(tokens.SUBNET, {"vpcId": _VPC_ID, "cidrBlock": "10.0.0.0/24", "mapPublicIpOnLaunch": False})},
        bad={
            "CKV_AWS_130": {
                "it": of(tokens.SUBNET, {"vpcId": _VPC_ID, "cidrBlock": "10.0.0.0/24", "mapPublicIpOnLaunch": True})
            }
        },
    ),
    Spelling(
        name="aws_default_vpc",
        good={"it": _VPC},
        bad={"CKV_AWS_148": {"it": of(tokens.DEFAULT_VPC, {})}},
    ),
    Spelling(
        name="aws_network_acl, subnet_ids",
        good=_IN_VPC,
        bad={"CKV2_AWS_1": {"acl": of(tokens.NETWORK_ACL, {"vpcId": _VPC_ID})}},
    ),
    Spelling(
        name="aws_flow_log",
        good=_LOGGED,
        bad={"CKV2_AWS_11": {"vpc": _VPC}},
    ),
    Spelling(
        name="aws_default_security_group",
        good=_DEFAULT,
        bad={
            "CKV2_AWS_12": (
                {"vpc": _VPC},
                {**_DEFAULT, "default": of(tokens.DEFAULT_SECURITY_GROUP, {"ingress": [_INSIDE]}, vpcId="vpc")},
                {**_DEFAULT, "default": of(tokens.DEFAULT_SECURITY_GROUP, {"egress": [_INSIDE]}, vpcId="vpc")},
                {
                    **_DEFAULT,
                    "rule": of(
                        tokens.SECURITY_GROUP_RULE,
                        {"type": "ingress", "protocol": "tcp", "fromPort": 443, "toPort": 443},
                        securityGroupId="default",
                    ),
                },
                {
                    **_DEFAULT,
                    "rule": of(
                        tokens.INGRESS_RULE, {"ipProtocol": "-1", "cidrIpv4": "10.0.0.0/16"}, securityGroupId="default"
                    ),
                },
                {
                    **_DEFAULT,
                    "rule": of(
                        tokens.EGRESS_RULE, {"ipProtocol": "-1", "cidrIpv4": "10.0.0.0/16"}, securityGroupId="default"
                    ),
                },
            )
        },
    ),
    Spelling(
        name="aws_nat_gateway, allocation_id",
        good={
            "address": _EIP,
            "gateway": of(tokens.NAT_GATEWAY, {"subnetId": "subnet-0a1b2c"}, allocationId="address"),
        },
        bad={"CKV2_AWS_19": {"address": _EIP}},
    ),
    Spelling(
        name="aws_eip, instance",
        good={
            "address": of(tokens.EIP, {"domain": "vpc"}, instance="machine"),
            "machine": of(tokens.INSTANCE, {"ami": "ami-0a1b2c", "instanceType": "m7i.large"}),
        },
        bad={"CKV2_AWS_19": {"address": _EIP}},
    ),
    Spelling(
        name="aws_eip_association",
        good={
            "address": _EIP,
            "machine": of(tokens.INSTANCE, {"ami": "ami-0a1b2c", "instanceType": "m7i.large"}),
            "association": of(
                "aws:ec2/eipAssociation:EipAssociation", {}, instanceId="machine", allocationId="address"
            ),
        },
        bad={"CKV2_AWS_19": {"address": _EIP}},
        good_differs={"CKV2_AWS_19": UNREVIEWED},
    ),
    Spelling(
        name="aws_route",
        good={"it": _ROUTE},
        bad={
            "CKV2_AWS_35": {
                "it": of(
                    tokens.ROUTE,
                    {
                        "routeTableId": "rtb-0a1b2c",
                        "destinationCidrBlock": "0.0.0.0/0",
                        "networkInterfaceId": "eni-0a1b2c",
                    },
                )
            },
        },
        bad_differs={"CKV2_AWS_35": by_pack("Checkov reads instance_id, which the provider dropped in version 5")},
    ),
    Spelling(
        name="aws_route_table, route",
        good={"it": _TABLE},
        bad={
            "CKV2_AWS_35": {
                "it": changed(_TABLE, "routes", [{"cidrBlock": "0.0.0.0/0", "networkInterfaceId": "eni-0a1b2c"}])
            },
            "CKV2_AWS_44": (
                {"it": changed(_TABLE, "routes", [{"cidrBlock": "0.0.0.0/0", "vpcPeeringConnectionId": _PEER_ID}])},
                {"it": changed(_TABLE, "routes", [{"ipv6CidrBlock": "::/0", "vpcPeeringConnectionId": _PEER_ID}])},
            ),
        },
        bad_differs={"CKV2_AWS_35": by_pack("Checkov reads instance_id, which the provider dropped in version 5")},
    ),
    Spelling(
        name="aws_route, vpc_peering_connection_id",
        good=_PEERED,
        bad={
            "CKV2_AWS_44": (
                {**_PEERED, "route": changed(_PEERED["route"], "destinationCidrBlock", "0.0.0.0/0")},
                {
                    "it": of(
                        tokens.ROUTE,
                        {
                            "routeTableId": "rtb-0a1b2c",
                            "destinationIpv6CidrBlock": "::/0",
                            "vpcPeeringConnectionId": _PEER_ID,
                        },
                    )
                },
            )
        },
    ),
)
