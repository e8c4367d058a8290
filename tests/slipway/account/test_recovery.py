"""What a killed run has made in AWS is found again, and nothing else is taken for it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pytest
from moto import mock_aws

from slipway.account import lookup, recovery
from slipway.account.context import Client, session
from slipway.account.recovery import RecoveryAction, RecoveryStep
from slipway.engine.pending import PendingOperation
from tests.support.cases import beside
from tests.support.stacks import NAMES, recorded

CASES: Final = beside(__file__)

REGION = "us-east-1"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
VPC = "aws:ec2/vpc:Vpc"
TAGS = {"Name": "slipway-dev", "environment": "dev"}


CLIENT = session(REGION, KEYS)
"""One for all tests: it reads each service's model once. What moto holds ends with each test."""


@pytest.fixture
def client() -> Iterator[Client]:
    with mock_aws():
        yield CLIENT


def operation(type: str, inputs: Mapping[str, Any], kind: str = "creating", id: str = "") -> PendingOperation:
    return PendingOperation(kind, f"urn:pulumi:dev::slipway::{type}::it", type, inputs, id, "")


def step(client: Client, type: str, inputs: Mapping[str, Any], *taken: str, **chosen: str) -> RecoveryStep:
    (found,) = recovery.plan([operation(type, inputs)], {type: frozenset(taken)}, client, chosen)
    return found


def specification(kind: str, tags: Mapping[str, str] = TAGS) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]


def vpc(client: Client, **tags: str) -> str:
    answer = client("ec2").create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=specification("vpc", {**TAGS, **tags}))
    return str(answer["Vpc"]["VpcId"])


def test_an_operation_whose_provider_had_answered_is_adopted_without_a_question() -> None:
    def nobody(_service: str) -> Any:
        raise AssertionError

    (found,) = recovery.plan([operation("aws:ec2/vpc:Vpc", {}, id="vpc-1")], {}, nobody, {})
    assert (found.action, found.id) == (RecoveryAction.ADOPT, "vpc-1")


def test_a_component_is_adopted_and_a_provider_is_made_again(client: Client) -> None:
    """Both exist in the engine alone: a component once it is registered, a provider only with its id."""
    component = replace(operation("slipway:storage:Buckets", {}), custom=False)
    provider = operation("pulumi:providers:aws", {})
    first, second = recovery.plan([component, provider], {}, client, {})
    assert (first.action, first.id) == (RecoveryAction.ADOPT, "")
    assert second.action is RecoveryAction.REPEAT
    assert list(recovery.adopted([first, second])) == [component.urn]


@pytest.mark.parametrize("kind", ["updating", "deleting"])
def test_updates_and_deletions_are_left_to_the_refresh(kind: str, client: Client) -> None:
    (found,) = recovery.plan([operation("aws:ec2/vpc:Vpc", {}, kind)], {}, client, {})
    assert found.action is RecoveryAction.REFRESH


def test_an_object_with_the_same_properties_and_tags_is_adopted(client: Client) -> None:
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": TAGS}
    assert step(client, "aws:ec2/vpc:Vpc", inputs).action is RecoveryAction.REPEAT
    other = vpc(client, environment="prod")
    assert step(client, "aws:ec2/vpc:Vpc", inputs).action is RecoveryAction.REPEAT, other
    made = vpc(client)
    assert step(client, "aws:ec2/vpc:Vpc", inputs).id == made


def test_an_object_of_another_resource_is_not_taken(client: Client) -> None:
    made = vpc(client)
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": TAGS}
    assert step(client, "aws:ec2/vpc:Vpc", inputs, made).action is RecoveryAction.REPEAT


def test_two_operations_never_adopt_the_same_object(client: Client) -> None:
    made = vpc(client)
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": TAGS}
    first, second = recovery.plan([operation("aws:ec2/vpc:Vpc", inputs)] * 2, {}, client, {})
    assert (first.id, second.action) == (made, RecoveryAction.REPEAT)


def test_of_several_that_fit_the_user_chooses(client: Client) -> None:
    made = vpc(client)
    vpc(client)
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": TAGS}
    found = step(client, "aws:ec2/vpc:Vpc", inputs)
    assert found.action is RecoveryAction.CHOOSE
    assert made in found.why
    urn = found.operation.urn
    (chosen,) = recovery.plan([found.operation], {}, client, {urn: made})
    assert (chosen.action, chosen.id) == (RecoveryAction.ADOPT, made)
    (nothing,) = recovery.plan([found.operation], {}, client, {urn: ""})
    assert nothing.action is RecoveryAction.REPEAT


def test_a_type_that_cannot_be_looked_for_is_left_to_the_user(client: Client) -> None:
    assert step(client, "aws:lambda/function:Function", {"name": "x"}).action is RecoveryAction.CHOOSE


def test_what_only_sets_something_is_repeated(client: Client) -> None:
    assert step(client, "aws:s3/bucketPolicy:BucketPolicy", {"bucket": "b"}).action is RecoveryAction.REPEAT


@pytest.mark.parametrize(("type", "inputs", "id"), CASES["ids that follow from the inputs"])
def test_ids_that_follow_from_the_inputs(type: str, inputs: Mapping[str, Any], id: str, client: Client) -> None:
    found = step(client, type, inputs)
    assert (found.action, found.id) == (RecoveryAction.ADOPT, id)


def test_a_rule_of_a_security_group_is_found_by_its_ports_and_direction(client: Client) -> None:
    ec2 = client("ec2")
    group = ec2.create_security_group(GroupName="g", Description="g", VpcId=vpc(client))["GroupId"]
    permission = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}
    rule = ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])["SecurityGroupRules"][0]
    # A state has floats.
    inputs = {
        "securityGroupId": group, "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0, "cidrIpv4": "10.0.0.0/8",
    }  # fmt: skip
    ingress, egress = (
        "securityGroupIngressRule:SecurityGroupIngressRule",
        "securityGroupEgressRule:SecurityGroupEgressRule",
    )
    assert step(client, f"aws:vpc/{ingress}", inputs).id == rule["SecurityGroupRuleId"]
    assert step(client, f"aws:vpc/{ingress}", {**inputs, "toPort": 80.0}).action is RecoveryAction.REPEAT
    assert step(client, f"aws:vpc/{egress}", inputs).action is RecoveryAction.REPEAT


def test_a_key_is_found_by_its_description_and_tags(client: Client) -> None:
    kms = client("kms")
    tags = [{"TagKey": key, "TagValue": value} for key, value in TAGS.items()]
    kms.create_key(Description="of another stack")
    made = kms.create_key(Description="storage", Tags=tags)["KeyMetadata"]["KeyId"]
    assert step(client, "aws:kms/key:Key", {"description": "storage", "tags": TAGS}).id == made
    kms.schedule_key_deletion(KeyId=made, PendingWindowInDays=7)
    assert step(client, "aws:kms/key:Key", {"description": "storage", "tags": TAGS}).action is RecoveryAction.REPEAT


def test_a_route_is_found_in_its_table_and_not_before_it_is_there(client: Client) -> None:
    ec2 = client("ec2")
    network = vpc(client)
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=network)
    table = ec2.create_route_table(VpcId=network)["RouteTable"]["RouteTableId"]
    inputs = {"routeTableId": table, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway}
    # Until the route is made, its id could only be guessed.
    assert step(client, "aws:ec2/route:Route", inputs).action is RecoveryAction.REPEAT
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    # As routeCreateID in terraform-provider-aws, internal/service/ec2/vpc_route.go, makes it.
    assert step(client, "aws:ec2/route:Route", inputs).id == f"r-{table}1080289494"


def test_the_target_of_a_rule_is_found_although_its_id_is_random(client: Client) -> None:
    events = client("events")
    events.put_rule(Name="reclaim", EventPattern='{"source": ["aws.ec2"]}')
    arn = "arn:aws:sqs:us-east-1:123456789012:interruptions"
    inputs = {"rule": "reclaim", "arn": arn}
    assert step(client, "aws:cloudwatch/eventTarget:EventTarget", inputs).action is RecoveryAction.REPEAT
    events.put_targets(Rule="reclaim", Targets=[{"Id": "terraform-1", "Arn": arn}])
    assert step(client, "aws:cloudwatch/eventTarget:EventTarget", inputs).id == "reclaim-terraform-1"


def test_every_type_of_the_stacks_can_be_recovered() -> None:
    types = {
        each.type for stack in NAMES for each in recorded(stack).resources.values() if each.type.startswith("aws:")
    }
    assert sorted(type for type in types if type not in lookup.REPEATABLE and not lookup.known(type)) == []


def test_in_an_empty_account_no_function_finds_what_it_looks_for(client: Client) -> None:
    made = [each for stack in NAMES for each in recorded(stack).resources.values() if lookup.known(each.type)]
    looked_for = {each.type: each.inputs.plain for each in made if each.type not in {*lookup.NAMED, *lookup.SEARCHED}}
    assert "aws:ec2/route:Route" in looked_for
    for type, inputs in looked_for.items():
        with suppress(client("events").exceptions.ResourceNotFoundException):
            # The engine gives names to what the program does not name.
            assert not list(lookup.candidates(client, type, {"name": "slipway-dev-1a2b3c4", **inputs})), type


def test_after_a_failed_run_only_what_was_found_or_named_is_adopted(client: Client) -> None:
    """On AWS, an object that only has the right name may be somebody else's."""
    network = replace(operation("slipway:network:Network", {}), urn="urn:network", custom=False)
    unused = replace(operation("slipway:storage:Buckets", {}), urn="urn:unused", custom=False)
    found = replace(operation(VPC, {"cidrBlock": "10.0.0.0/16", "tags": TAGS}), urn="urn:vpc", parent="urn:network")
    named = replace(operation("aws:iam/role:Role", {"name": "nodes"}), urn="urn:role")
    absent = replace(operation(VPC, {"cidrBlock": "10.9.0.0/16", "tags": TAGS}), urn="urn:absent")
    unknown = replace(operation("my:index:Thing", {}), urn="urn:thing")
    made = vpc(client)
    operations = (network, unused, found, named, absent, unknown)

    def existing(chosen: Mapping[str, str]) -> dict[str, str]:
        steps = recovery.plan(operations, {}, client, chosen)
        return recovery.adopted(recovery.existing(steps, chosen))

    assert existing({}) == {"urn:network": "", "urn:vpc": made}
    assert existing({"urn:thing": "t-1"}) == {"urn:network": "", "urn:vpc": made, "urn:thing": "t-1"}
    assert existing({"urn:role": "nodes"}) == {"urn:network": "", "urn:vpc": made, "urn:role": "nodes"}
