"""What the models of services allow in a request."""

from typing import Any

import pytest
from botocore.model import StructureShape

from sandbox.aws.client import Aws
from sandbox.aws.limits import values
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.rpc.wire import UNKNOWN
from tests.support.stacks import recorded


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_every_aws_type_of_the_stacks_is_in_the_tables(stack: str) -> None:
    used = {one.type for one in recorded(stack) if one.type.startswith("aws:")}
    assert len(used) > 40
    assert used <= set(OPERATIONS)


def test_every_operation_exists_and_every_pattern_of_one_is_understood(aws: Aws) -> None:
    found: set[str] = set()

    def collect(shape: Any, seen: frozenset[str]) -> None:
        if shape.name not in seen:
            found.add(str(shape.metadata.get("pattern") or ""))
            inner = shape.members.values() if isinstance(shape, StructureShape) else [getattr(shape, "member", None)]
            for one in filter(None, inner):
                collect(one, seen | {shape.name})

    for row in OPERATIONS.values():
        assert row.service in values.CODES, "add the service's error code to sandbox/aws/limits/codes.yaml"
        for operation in row.operations:
            collect(aws.input_shape(row.service, operation), frozenset())
    assert len(found) > 40
    for pattern in found:
        values.compiled(pattern)


def problems(aws: Aws, service: str, operation: str, **parameters: Any) -> list[str]:
    return list(values.of_request(service, aws.input_shape(service, operation), parameters))


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "words"),
    [
        # lengths of texts, lists and keys
        ("iam", "create_role", {"RoleName": "n" * 65}, "ValidationError: Value 'nnnn"),
        ("efs", "create_access_point", {"PosixUser": {"SecondaryGids": [1] * 17}}, "ValidationException: Value '[1,"),
        ("iam", "create_role", {"Tags": [{"Key": "k" * 129, "Value": "v"}]}, "ValidationError: Value 'kkk"),
        # ranges
        ("iam", "create_role", {"MaxSessionDuration": 60},
         "ValidationError: Value '60' at 'MaxSessionDuration' failed to satisfy constraint: Member must have value"),
        # patterns, in words of their service
        ("ecr", "create_repository", {"repositoryName": "Upper"},
         "InvalidParameterException: Value 'Upper' at 'repositoryName' failed"),
        # enumerations
        ("ec2", "create_launch_template", {"LaunchTemplateData": {"MetadataOptions": {"HttpTokens": "mandatory"}}},
         "InvalidParameterValue: Value (mandatory) for parameter LaunchTemplateData.MetadataOptions.HttpTokens"),
        ("budgets", "create_budget",
         {"NotificationsWithSubscribers": [{"Notification": {"ComparisonOperator": "GREATER"}}]},
         "InvalidParameterException: Value 'GREATER' at"),
    ],
)  # fmt: skip
def test_a_value_that_the_model_does_not_allow(
    aws: Aws, service: str, operation: str, parameters: dict[str, Any], words: str
) -> None:
    (found,) = problems(aws, service, operation, **parameters)
    assert found.startswith(words)


def test_an_unknown_is_skipped_and_a_close_word_is_proposed(aws: Aws) -> None:
    group = {"clusterName": UNKNOWN, "subnets": [UNKNOWN], "capacityType": "SPOTTY", "amiType": "AL2023_X86_64_NVIDIA"}
    kind, image = problems(aws, "eks", "create_nodegroup", **group)
    assert "SPOTTY" in kind
    assert "did you mean 'AL2023_x86_64_NVIDIA'?" in image


def test_a_secret_is_not_shown_and_a_long_value_is_cut(aws: Aws) -> None:
    """The model marks it: `sensitive`."""
    target = {"RedshiftDataParameters": {"Database": "d", "Sql": "hunter2 " * 20_000}}
    (found,) = problems(aws, "events", "put_targets", Targets=[target])
    assert "hunter2" not in found
    assert len(problems(aws, "iam", "create_role", RoleName="n" * 5000)[0]) < 300


def test_new_instance_types_are_not_refused(aws: Aws) -> None:
    assert problems(aws, "ec2", "create_launch_template", LaunchTemplateData={"InstanceType": "p9.48xlarge"}) == []


JAVA_TEXT = "[\\u0009\\u000A\\u000D\\u0020-\\uD7FF\\\x75E000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF]*"


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("[a-z]+", "abc", True),
        ("[a-z]+", "abc d", False),
        ("^[0-9A-Za-z][A-Za-z0-9\\-_]*", "main cluster", False),
        ("([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)", "größe: 1", True),
        ("([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)", "a*b", False),
        (JAVA_TEXT, "a😀\n", True),
        (JAVA_TEXT, "a\x00", False),
    ],
)
def test_a_pattern_is_compared_with_the_whole_text(pattern: str, text: str, expected: bool) -> None:
    assert values.matches(pattern, text) is expected
