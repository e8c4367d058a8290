"""A stack as Terraform JSON."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pulumi
import pulumi_aws as aws
import pytest

from sandbox.aws.kinds import AnyOf, Field, ListOf, ObjectOf, snake
from sandbox.aws.schema import schema
from sandbox.aws.terraform.names import SINGULAR
from slipway.render.recorder import record
from slipway.render.terraform import document, spell, terraform_type
from tests.support.cases import beside
from tests.support.mocks import providers
from tests.support.stacks import NAMES, recorded

CASES: Final = beside(__file__)

# Terraform's type and property names.


@pytest.mark.parametrize(("token", "expected"), CASES["a type has terraforms name"])
def test_a_type_has_terraforms_name(token: str, expected: str) -> None:
    assert terraform_type(token) == expected


def test_a_type_that_the_sdk_lacks_is_named() -> None:
    with pytest.raises(LookupError, match=r"aws:eks/cloud:Cloud is not a type of the installed pulumi_aws"):
        spell("aws:eks/cloud:Cloud", {})


@pytest.mark.parametrize(("camel", "expected"), CASES["a property name is converted to snake case"])
def test_a_property_name_is_converted_to_snake_case(camel: str, expected: str) -> None:
    assert snake(camel) == expected


# The AWS resources of a program as a Terraform document.


def rendered(program: Any) -> dict[str, Any]:
    return document(record(program, stack="test"))["resource"]  # type: ignore[no-any-return]


def bucket_with_policy() -> None:
    child = pulumi.ResourceOptions(provider=providers()[0])
    bucket = aws.s3.Bucket("data", tags={"team.example/Name": "Vision"}, opts=child)
    body = {"Resource": [bucket.arn, pulumi.Output.concat(bucket.arn, "/${aws:username}/*")]}
    aws.s3.BucketPolicy("data-policy", bucket=bucket.id, policy=pulumi.Output.json_dumps(body), opts=child)


def test_a_value_of_another_resource_is_a_reference_also_within_a_string() -> None:
    policy = rendered(bucket_with_policy)["aws_s3_bucket_policy"]["data-policy"]
    assert policy["bucket"] == "${aws_s3_bucket.data.id}"
    assert json.loads(policy["policy"])["Resource"] == [
        "${aws_s3_bucket.data.arn}",
        "${aws_s3_bucket.data.arn}/$${aws:username}/*",
    ]


def test_keys_of_a_plain_map_are_not_renamed() -> None:
    assert rendered(bucket_with_policy)["aws_s3_bucket"]["data"]["tags"] == {"team.example/Name": "Vision"}


def test_options_become_lifecycle_and_depends_on() -> None:
    def program() -> None:
        provider = providers()[0]
        first = aws.sqs.Queue("first", opts=pulumi.ResourceOptions(provider=provider, protect=True))
        second = pulumi.ResourceOptions(provider=provider, depends_on=[first], ignore_changes=["visibilityTimeout"])
        aws.sqs.Queue("second", visibility_timeout_seconds=60, opts=second)

    queues = rendered(program)["aws_sqs_queue"]
    assert queues["first"]["lifecycle"] == {"prevent_destroy": True}
    assert queues["second"]["lifecycle"] == {"ignore_changes": ["visibility_timeout"]}
    assert queues["second"]["depends_on"] == ["aws_sqs_queue.first"]


def test_a_secret_is_omitted() -> None:
    def program() -> None:
        child = pulumi.ResourceOptions(provider=providers()[0])
        aws.ssm.Parameter("token", type="SecureString", value=pulumi.Output.secret("hush"), opts=child)

    assert "hush" not in json.dumps(rendered(program))


def blocks(token: str, inputs: Mapping[str, Any]) -> set[str]:
    """Snake-case names of the lists of objects in the inputs, at any depth."""
    type_schema = schema(token)
    return set(_blocks(type_schema.inputs, inputs)) if type_schema else set()


def _blocks(fields: Mapping[str, Field], value: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    for key, item in value.items():
        if key not in fields:
            continue
        kind = fields[key].kind
        options = kind.options if isinstance(kind, AnyOf) else (kind,)
        if isinstance(item, list) and any(isinstance(one, Mapping) for one in item):
            names.append(snake(key))
        below = [option.item if isinstance(option, ListOf) else option for option in options]
        nested = [option for each in below for option in (each.options if isinstance(each, AnyOf) else (each,))]
        for one in item if isinstance(item, list) else [item]:
            for option in nested:
                if isinstance(option, ObjectOf) and isinstance(one, Mapping):
                    names += _blocks(option.fields, one)
    return names


@pytest.mark.parametrize("stack", NAMES)
def test_every_block_of_a_stack_is_in_a_table(stack: str) -> None:
    """Pulumi names all blocks in the plural, Terraform some; without an entry in a table the name would be a guess."""
    plural = """block_device_mappings egress ingress network_interfaces node_repair_config_overrides resources
        secondary_interfaces tag_specifications"""
    used = {
        name for one in recorded(stack) if one.type.startswith("aws:") for name in blocks(one.type, one.inputs.plain)
    }
    assert used - SINGULAR - set(plural.split()) == set()


@pytest.mark.parametrize("stack", NAMES)
def test_every_aws_resource_of_a_stack_is_written_and_every_dependency_exists(stack: str) -> None:
    recording = recorded(stack)
    written = document(recording)
    resources = {
        f"{kind}.{name}": block for kind, named in written["resource"].items() for name, block in named.items()
    }
    assert len(resources) == sum(one.custom and one.type.startswith("aws:") for one in recording)
    waits = {wait for block in resources.values() for wait in block.get("depends_on", ())}
    assert waits <= set(resources)
    (provider,) = written["provider"]["aws"]
    assert provider["default_tags"]["tags"]["environment"] == stack
    assert "[unknown]" not in json.dumps(written)
