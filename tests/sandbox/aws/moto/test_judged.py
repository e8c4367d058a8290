"""Requests from outside are refused as the inputs of our provider's resources are."""

from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from sandbox.aws import rules
from sandbox.aws.client import Aws
from sandbox.aws.mapping import Call
from sandbox.aws.moto import judged
from sandbox.aws.rules.rule import Moment
from sandbox.aws.types import MAPPINGS
from tests.sandbox.aws.samples import SAMPLES, World

MADE = judged.of_operation()


def judge(world: World, service: str, operation: str, **parameters: Any) -> list[tuple[str, str]]:
    shape = world.aws.input_shape(service, operation)
    return list(judged.problems(world.aws, service, operation, shape, parameters))


@pytest.mark.parametrize("made", sorted(MADE), ids=lambda made: made[1])
def test_what_our_provider_sends_is_accepted(world: World, made: tuple[str, str]) -> None:
    token = MADE[made]
    lifecycle, create = world.lifecycle(token), MAPPINGS[token].create
    assert isinstance(create, Call)
    inputs = SAMPLES[token].inputs(world)
    assert judge(world, *made, **lifecycle.create_parameters(create, lifecycle.sent(inputs))) == []


def test_requests_from_outside_are_refused_by_limits_and_by_rules(aws: Aws) -> None:
    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": aws.region}
    unchecked = Config(parameter_validation=False)

    def code(service: str, operation: str, **parameters: Any) -> str:
        client: Any = boto3.client(service, endpoint_url=aws.clients.endpoint, config=unchecked, **keys)
        with pytest.raises(ClientError) as refused:
            getattr(client, operation)(**parameters)
        return f"{refused.value.response['Error']['Code']}: {refused.value.response['Error']['Message']}"

    network = {"subnetIds": ["subnet-1", "subnet-2"]}
    role = "arn:aws:iam::123456789012:role/eks"
    named = code("eks", "create_cluster", name="no spaces", roleArn=role, resourcesVpcConfig=network)
    assert named.startswith("InvalidParameterException: Value 'no spaces' at 'name' failed to satisfy constraint: ")
    group = {"clusterName": "c", "nodegroupName": "g", "nodeRole": role, "subnets": ["subnet-1"]}
    typed = code("eks", "create_nodegroup", **group, capacityType="CHEAP")
    assert "Member must satisfy enum value set: [ON_DEMAND, SPOT, CAPACITY_BLOCK]" in typed
    # By rules.
    sizes = {"minSize": 3, "maxSize": 2, "desiredSize": 2}
    assert code("eks", "create_nodegroup", **group, scalingConfig=sizes).startswith("InvalidParameterException: ")
    assert code("ec2", "create_vpc", CidrBlock="10.0.0.0/8").startswith("InvalidVpc.Range: ")


def test_what_our_provider_calls_is_not_judged_twice(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "problems", lambda *_: [("Twice", "judged")])
    assert aws.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]


def test_most_rules_of_a_creation_are_asked() -> None:
    """Those of types that are created by one operation alone."""
    creating = [one for one in rules.ALL if one.code and one.moments & {Moment.PREVIEW, Moment.CREATE}]
    asked = [one for one in creating if set(one.types) & set(MADE.values())]
    assert len(asked) / len(creating) > 0.8
