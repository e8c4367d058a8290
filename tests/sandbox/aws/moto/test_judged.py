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
LONG = document("s3:GetObject", f"arn:aws:s3:::{'x' * 10_300}")


def made(world: World, token: str, **more: Any) -> tuple[dict[str, Any], str, dict[str, Any]]:
    inputs = {**SAMPLES[token].inputs(world), **more}
    return inputs, *world.make(token, **inputs)


def _group(world: World) -> dict[str, Any]:
    inputs = made(world, "aws:eks/nodeGroup:NodeGroup")[0]
    return {"clusterName": inputs["clusterName"], "nodegroupName": inputs["nodeGroupName"]}


def _route(world: World) -> dict[str, Any]:
    inputs = made(world, "aws:ec2/route:Route")[0]
    return {"RouteTableId": inputs["routeTableId"], "DestinationCidrBlock": inputs["destinationCidrBlock"]}


def _role(world: World) -> dict[str, Any]:
    return {"RoleName": world.role()["name"]}


CHANGES: list[tuple[str, str, Callable[[World], dict[str, Any]], dict[str, Any], str]] = [
    ("ec2", "replace_route", _route, {"GatewayId": "igw-00000000000000001"}, "InvalidGatewayID.NotFound"),
    # The other two are what the group has.
    ("eks", "update_nodegroup_config", _group, {"scalingConfig": {"minSize": 99}}, "InvalidParameterException"),
    ("eks", "update_nodegroup_config", _group, {"labels": {"addOrUpdateLabels": {"a b": "c"}}},
     "InvalidParameterException"),
    ("eks", "update_nodegroup_config", _group,
     {"taints": {"addOrUpdateTaints": [{"key": "a b", "value": "c", "effect": "NO_SCHEDULE"}]}},
     "InvalidParameterException"),
    ("eks", "update_cluster_config", lambda world: {"name": world.cluster()},
     {"resourcesVpcConfig": {"endpointPublicAccess": False, "endpointPrivateAccess": False}},
     "InvalidParameterException"),
    ("iam", "update_assume_role_policy", _role, {"PolicyDocument": LONG}, "LimitExceeded"),
    ("rds", "modify_db_subnet_group",
     lambda world: {"DBSubnetGroupName": made(world, "aws:rds/subnetGroup:SubnetGroup")[1],
                    "SubnetIds": world.subnets(1)}, {}, "DBSubnetGroupDoesNotCoverEnoughAZs"),
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
