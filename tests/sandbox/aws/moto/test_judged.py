"""Whoever sends a request: what AWS refuses of it is refused, and what our provider sends of a right program is not."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.config import Config

from sandbox.aws.client import AwsError, Clients
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import document


@pytest.fixture(scope="module")
def outside(world: World) -> World:
    """The same account through a socket, by clients that look at no parameter, as those of other languages."""
    clients = Clients(world.aws.clients.endpoint)
    clients._session._session.set_default_client_config(Config(parameter_validation=False))
    return World(replace(world.aws, clients=clients))


NOBODY = "arn:aws:iam::{account}:role/nobody"
SUBNET, GROUP = "aws:ec2/subnet:Subnet", "aws:ec2/securityGroup:SecurityGroup"
LONG = document("s3:GetObject", f"arn:aws:s3:::{'x' * 10_300}")


def made(world: World, token: str, **more: Any) -> tuple[dict[str, Any], str, dict[str, Any]]:
    inputs = {**SAMPLES[token].inputs(world), **more}
    return inputs, *world.make(token, **inputs)


def _group(world: World) -> dict[str, Any]:
    inputs = made(world, "aws:eks/nodeGroup:NodeGroup")[0]
    return {"clusterName": inputs["clusterName"], "nodegroupName": inputs["nodeGroupName"]}


def _addon(world: World) -> dict[str, Any]:
    inputs = made(world, "aws:eks/addon:Addon")[0]
    return {"clusterName": inputs["clusterName"], "addonName": inputs["addonName"]}


def _pod_identity(world: World) -> dict[str, Any]:
    inputs, id, _ = made(world, "aws:eks/podIdentityAssociation:PodIdentityAssociation")
    return {"clusterName": inputs["clusterName"], "associationId": id}


def _used_subnet(world: World) -> dict[str, Any]:
    inputs = made(world, "aws:ec2/natGateway:NatGateway")[0]
    return {"SubnetId": inputs["subnetId"]}


def _used_group(world: World) -> dict[str, Any]:
    source = world.group()
    vpc = world.aws.call("ec2", "describe_security_groups", GroupIds=[source])["SecurityGroups"][0]["VpcId"]
    other = world.make(GROUP, name=world.unique("other"), vpcId=vpc)[0]
    allow = {"securityGroupId": other, "referencedSecurityGroupId": source, "ipProtocol": "-1"}
    world.make("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", **allow)
    return {"GroupId": source}


def _route(world: World) -> dict[str, Any]:
    inputs = made(world, "aws:ec2/route:Route")[0]
    return {"RouteTableId": inputs["routeTableId"], "DestinationCidrBlock": inputs["destinationCidrBlock"]}


def _role(world: World) -> dict[str, Any]:
    return {"RoleName": world.role()["name"]}


CHANGES: list[tuple[str, str, Callable[[World], dict[str, Any]], dict[str, Any], str]] = [
    ("ec2", "delete_subnet", _used_subnet, {}, "DependencyViolation"),
    ("ec2", "delete_security_group", _used_group, {}, "DependencyViolation"),
    ("ec2", "replace_route", _route, {"GatewayId": "igw-00000000000000001"}, "InvalidGatewayID.NotFound"),
    ("eks", "update_nodegroup_config", _group, {"scalingConfig": {"minSize": 3, "maxSize": 2, "desiredSize": 3}},
     "InvalidParameterException"),
    # The other two are what the group has.
    ("eks", "update_nodegroup_config", _group, {"scalingConfig": {"minSize": 99}}, "InvalidParameterException"),
    ("eks", "update_nodegroup_config", _group, {"labels": {"addOrUpdateLabels": {"a b": "c"}}},
     "InvalidParameterException"),
    ("eks", "update_nodegroup_config", _group,
     {"taints": {"addOrUpdateTaints": [{"key": "a b", "value": "c", "effect": "NO_SCHEDULE"}]}},
     "InvalidParameterException"),
    ("eks", "update_nodegroup_version", _group, {"version": "1.36"}, "InvalidParameterException"),
    ("eks", "update_cluster_version", lambda world: {"name": world.cluster()}, {"version": "1.99"},
     "InvalidParameterException"),
    ("eks", "update_cluster_config", lambda world: {"name": world.cluster()},
     {"resourcesVpcConfig": {"endpointPublicAccess": False, "endpointPrivateAccess": False}},
     "InvalidParameterException"),
    ("eks", "update_addon", _addon, {"podIdentityAssociations": [{"serviceAccount": "a", "roleArn": NOBODY}]},
     "InvalidParameterException"),
    ("eks", "update_pod_identity_association", _pod_identity, {"roleArn": NOBODY}, "InvalidParameterException"),
    ("iam", "put_role_policy", _role, {"PolicyName": "p", "PolicyDocument": LONG}, "LimitExceeded"),
    ("iam", "update_assume_role_policy", _role, {"PolicyDocument": LONG}, "LimitExceeded"),
    ("iam", "put_role_permissions_boundary", _role, {"PermissionsBoundary": "arn:aws:iam::{account}:policy/none"},
     "NoSuchEntity"),
    ("iam", "create_policy_version", lambda world: {"PolicyArn": made(world, "aws:iam/policy:Policy")[1]},
     {"PolicyDocument": LONG}, "LimitExceeded"),
    ("kms", "put_key_policy", lambda world: {"KeyId": world.key()["keyId"], "PolicyName": "default"},
     {"Policy": document("kms:Encrypt", Principal="*")}, "MalformedPolicyDocumentException"),
    ("rds", "modify_db_subnet_group",
     lambda world: {"DBSubnetGroupName": made(world, "aws:rds/subnetGroup:SubnetGroup")[1],
                    "SubnetIds": world.subnets(1)}, {}, "DBSubnetGroupDoesNotCoverEnoughAZs"),
    ("s3", "put_bucket_policy", lambda world: {"Bucket": world.bucket()},
     {"Policy": document("s3:GetObject", "arn:aws:s3:::another/*", Principal="*")}, "MalformedPolicy"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("service", "operation", "target", "change", "code"), CHANGES,
    ids=[f"{row[1]}-{index}" for index, row in enumerate(CHANGES)],
)  # fmt: skip
def test_a_wrong_change_or_deletion_is_refused_whoever_asks(
    world: World, outside: World, service: str, operation: str, target: Callable[[World], dict[str, Any]],
    change: dict[str, Any], code: str,
) -> None:  # fmt: skip
    filled = json.loads(json.dumps(change).replace("{account}", world.aws.account))
    parameters = {**target(world), **filled}
    with pytest.raises(AwsError) as raised:
        outside.aws.call(service, operation, **parameters)
    assert raised.value.code == code


def test_limits_hold_whoever_asks(outside: World) -> None:
    role = NOBODY.replace("{account}", "210987654321")
    group = {"clusterName": "c", "nodegroupName": "g", "nodeRole": role, "subnets": ["subnet-1"]}
    with pytest.raises(AwsError, match=r"enum value set: \[ON_DEMAND, SPOT, CAPACITY_BLOCK\]"):
        outside.aws.call("eks", "create_nodegroup", **group, capacityType="CHEAP")
