"""What AWS would answer: computed outputs by type, so that a component sees what it will see.

Only what components read is here. A type that is not listed gets an id, a name and an ARN of the common form.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

ACCOUNT: Final = "111122223333"
REGION: Final = "us-east-1"

Inputs = Mapping[str, Any]

_ID_PREFIX: Final = {
    "aws:ec2/vpc:Vpc": "vpc",
    "aws:ec2/subnet:Subnet": "subnet",
    "aws:ec2/routeTable:RouteTable": "rtb",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "rtbassoc",
    "aws:ec2/route:Route": "r-rtb",
    "aws:ec2/internetGateway:InternetGateway": "igw",
    "aws:ec2/natGateway:NatGateway": "nat",
    "aws:ec2/eip:Eip": "eipalloc",
    "aws:ec2/securityGroup:SecurityGroup": "sg",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "sg",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce",
    "aws:ec2/flowLog:FlowLog": "fl",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt",
    "aws:ec2/placementGroup:PlacementGroup": "pg",
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": "vpc-cidr-assoc",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr",
}


def physical_name(name: str, inputs: Inputs) -> str:
    """The name that AWS knows: the fixed one, else one such as auto-naming makes."""
    return str(inputs.get("name") or f"slipway-test-{name}-{_digest(name)[:7]}")


def identifier(token: str, name: str, inputs: Inputs) -> str:
    """An id of the form that AWS gives this type; the name where names are ids."""
    prefix = _ID_PREFIX.get(token)
    if prefix:
        return f"{prefix}-0{_digest(token + name)[:16]}"
    return physical_name(name, inputs)


def outputs(token: str, name: str, inputs: Inputs) -> dict[str, Any]:
    """Inputs, and over them what the provider computes."""
    service = token.split(":")[1].partition("/")[0]
    found = identifier(token, name, inputs)
    common = {
        "name": physical_name(name, inputs),
        "arn": f"arn:aws:{service}:{REGION}:{ACCOUNT}:{found}",
        **inputs,
    }
    if token.startswith("aws:"):
        common["tagsAll"] = inputs.get("tags", {})
    computed = _COMPUTED.get(token)
    return {**common, **(computed(found, common) if computed else {})}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _cluster(found: str, inputs: Inputs) -> dict[str, Any]:
    issuer = f"https://oidc.eks.{REGION}.amazonaws.com/id/{_digest(found)[:32].upper()}"
    return {
        "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{found}",
        "endpoint": f"https://{_digest(found)[:32].upper()}.gr7.{REGION}.eks.amazonaws.com",
        "certificateAuthority": {"data": base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()},
        "certificateAuthorities": [{"data": base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()}],
        "identities": [{"oidcs": [{"issuer": issuer}]}],
        "vpcConfig": {**inputs.get("vpcConfig", {}), "clusterSecurityGroupId": f"sg-0{_digest(found)[:16]}"},
        "platformVersion": "eks.1",
        "status": "ACTIVE",
    }


def _node_group(found: str, inputs: Inputs) -> dict[str, Any]:
    group = str(inputs.get("nodeGroupName") or inputs["name"])
    asg = f"eks-{group}-{_digest(group)[:8]}"
    return {
        "nodeGroupName": group,
        "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:nodegroup/{inputs.get('clusterName')}/{group}/{_digest(group)[:8]}",
        "resources": [{"autoscalingGroups": [{"name": asg}], "remoteAccessSecurityGroupId": ""}],
        "status": "ACTIVE",
    }


def _role(found: str, inputs: Inputs) -> dict[str, Any]:
    return {"arn": f"arn:aws:iam::{ACCOUNT}:role/{found}", "uniqueId": f"AROA{_digest(found)[:17].upper()}"}


def _policy(found: str, inputs: Inputs) -> dict[str, Any]:
    arn = f"arn:aws:iam::{ACCOUNT}:policy/{found}"
    return {"arn": arn, "id": arn}


def _key(found: str, inputs: Inputs) -> dict[str, Any]:
    key = "-".join(_digest(found)[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    return {"id": key, "keyId": key, "arn": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{key}"}


def _log_group(found: str, inputs: Inputs) -> dict[str, Any]:
    return {"arn": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{found}"}


def _queue(found: str, inputs: Inputs) -> dict[str, Any]:
    url = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{found}"
    return {"id": url, "url": url, "arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{found}"}


def _rule(found: str, inputs: Inputs) -> dict[str, Any]:
    return {"arn": f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{found}"}


def _oidc(found: str, inputs: Inputs) -> dict[str, Any]:
    arn = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{str(inputs['url']).removeprefix('https://')}"
    return {"arn": arn, "id": arn}


def _addon(found: str, inputs: Inputs) -> dict[str, Any]:
    name = inputs.get("addonName")
    return {
        "id": f"{inputs.get('clusterName')}:{name}",
        "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:addon/{inputs.get('clusterName')}/{name}/{_digest(found)[:8]}",
        "addonVersion": inputs.get("addonVersion", "v1.0.0-eksbuild.1"),
    }


def _launch_template(found: str, inputs: Inputs) -> dict[str, Any]:
    return {"latestVersion": 1, "defaultVersion": 1}


_COMPUTED: Final[Mapping[str, Callable[[str, Inputs], dict[str, Any]]]] = {
    "aws:cloudwatch/eventRule:EventRule": _rule,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _oidc,
    "aws:iam/policy:Policy": _policy,
    "aws:iam/role:Role": _role,
    "aws:kms/key:Key": _key,
    "aws:sqs/queue:Queue": _queue,
}
