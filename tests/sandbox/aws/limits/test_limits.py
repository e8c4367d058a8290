"""The tables know every input of every type that the stacks use, and say why one is not a member of AWS's model."""

from collections import Counter
from typing import Any

import pytest

from sandbox.aws.client import Aws
from sandbox.aws.limits import values
from sandbox.aws.limits.members import Member, Tree, of_one, tree
from sandbox.aws.limits.operations import EVERYWHERE, OPERATIONS, Reason
from sandbox.aws.limits.values import CODES
from sandbox.rpc.wire import UNKNOWN
from tests.support.stacks import recorded

STACK_NAMES = ("dev", "staging", "prod")

EACH = pytest.mark.parametrize("type_token", sorted(OPERATIONS))


def members(aws: Aws, type_token: str) -> Tree:
    known = tree(aws, type_token)
    assert known is not None
    return known


@EACH
def test_every_input_is_a_member_or_has_a_reason(aws: Aws, type_token: str) -> None:
    forgotten = [one.path for one in members(aws, type_token).all() if one.shape is None and one.reason is None]
    assert forgotten == [], (
        f"{type_token} in sandbox/aws/limits/operations.yaml says their members, or why they have none"
    )


@EACH
def test_an_entry_names_only_inputs_of_its_type_and_members_of_its_operations(aws: Aws, type_token: str) -> None:
    one, known = OPERATIONS[type_token], members(aws, type_token)
    paths = {member.path: member for member in known.all()}
    assert {*(path.rpartition(":")[2] for path in one.members), *one.unmapped} <= set(paths)
    assert all(paths[path].shape is not None for path in one.members if ":" not in path)
    for operation, _, path in (path.partition(":") for path in one.members if ":" in path):
        assert of_one(aws, type_token, operation)[path].member == one.members[f"{operation}:{path}"]
    assert one.service in CODES, "add the service's error code to sandbox/aws/limits/codes.yaml"
    used = {member.operation for member in known.all()} - {""}
    assert used <= set(one.operations)


def test_what_is_not_mapped_is_counted(aws: Aws) -> None:
    """A new release of pulumi-aws or botocore may change these numbers: check the new inputs, then write them here."""
    unmapped = [one for token in OPERATIONS for one in members(aws, token).all() if one.reason is not None]
    everywhere = [one for one in unmapped if one.path in EVERYWHERE]
    assert Counter(one.reason for one in unmapped if one not in everywhere) == {
        Reason.PROVIDER: 32, Reason.OUTPUT: 6, Reason.ATTRIBUTE: 50, Reason.OTHER_TYPE: 13, Reason.RENDERED: 9,
    }  # fmt: skip
    assert sum(1 for token in OPERATIONS for one in members(aws, token).all() if one.shape is not None) > 1250


def test_every_pattern_is_understood(aws: Aws) -> None:
    found = {_pattern(one) for token in OPERATIONS for one in members(aws, token).all()} - {None}
    assert len(found) > 40
    for pattern in found:
        values.compiled(str(pattern))


def _pattern(one: Member) -> str | None:
    return None if one.shape is None else one.shape.metadata.get("pattern")


@pytest.mark.parametrize("stack", STACK_NAMES)
def test_every_aws_type_of_the_stacks_is_in_the_tables(stack: str) -> None:
    used = {one.type for one in recorded(stack) if one.type.startswith("aws:")}
    assert len(used) > 40
    assert used <= set(OPERATIONS)


# Values against the limits of service models.


ROLE, RULE, TARGET = "aws:iam/role:Role", "aws:cloudwatch/eventRule:EventRule", "aws:cloudwatch/eventTarget:EventTarget"
TEMPLATE, BUDGET = "aws:ec2/launchTemplate:LaunchTemplate", "aws:budgets/budget:Budget"
MONITOR, ENCRYPTION = (
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
)
REPOSITORY, ACCESS_POINT = "aws:ecr/repository:Repository", "aws:efs/accessPoint:AccessPoint"


@pytest.mark.parametrize(
    ("type_token", "inputs", "at", "words"),
    [
        # required: of the operation, of a wrapped structure, of an object
        (RULE, {}, "name", "ValidationException: Value null at 'Name' failed to satisfy constraint: Member must not"),
        (TARGET, {"rule": "r", "targetId": "a"}, "arn", "ValidationException: Value null at 'Targets.Arn' failed"),
        (MONITOR, {"name": "m"}, "monitorType", "ValidationException: Value null at 'AnomalyMonitor.MonitorType'"),
        (ENCRYPTION, {"bucket": "b", "rules": [{"applyServerSideEncryptionByDefault": {"kmsMasterKeyId": "k"}}]},
         "rules[0].applyServerSideEncryptionByDefault.sseAlgorithm", "MalformedXML: Value null at"),
        # lengths of texts, lists and keys
        (ROLE, {"name": "n" * 65, "assumeRolePolicy": "{}"}, "name", "ValidationError: Value 'nnnn"),
        (ACCESS_POINT, {"fileSystemId": "fs-12345678", "posixUser": {"uid": 1, "gid": 1, "secondaryGids": [1] * 17}},
         "posixUser.secondaryGids", "ValidationException: Value '[1, 1,"),
        (ROLE, {"name": "n", "assumeRolePolicy": "{}", "tags": {"k" * 129: "v"}}, f"tags.{'k' * 129}", "ValidationErr"),
        # ranges
        (ROLE, {"name": "n", "assumeRolePolicy": "{}", "maxSessionDuration": 60}, "maxSessionDuration",
         "ValidationError: Value '60' at 'MaxSessionDuration' failed to satisfy constraint: Member must have value"),
        # patterns, in words of their service
        (REPOSITORY, {"name": "Upper"}, "name", "InvalidParameterException: Value 'Upper' at 'repositoryName' failed"),
        (RULE, {"name": "a b"}, "name", "ValidationException: Value 'a b' at 'Name' failed to satisfy constraint"),
        # enumerations
        (TEMPLATE, {"name": "web", "metadataOptions": {"httpTokens": "mandatory"}}, "metadataOptions.httpTokens",
         "InvalidParameterValue: Value (mandatory) for parameter LaunchTemplateData.MetadataOptions.HttpTokens"),
        (BUDGET, {"name": "b", "budgetType": "COSTS", "timeUnit": "MONTHLY"}, "budgetType", "InvalidParameterExc"),
        (BUDGET, {"name": "b", "budgetType": "COST", "timeUnit": "MONTHLY", "notifications": [
            {"comparisonOperator": "GREATER", "subscriberEmailAddresses": ["a@example.com"], "threshold": 1,
             "thresholdType": "PERCENTAGE", "notificationType": "ACTUAL"}]},
         "notifications[0].comparisonOperator", "InvalidParameterException: Value 'GREATER' at"),
    ],
)  # fmt: skip
def test_a_value_that_the_model_does_not_allow(
    aws: Aws, type_token: str, inputs: dict[str, Any], at: str, words: str
) -> None:
    failures = values.check(aws, type_token, inputs)
    assert [one.property.replace('["', ".").replace('"]', "") for one in failures] == [at]
    assert failures[0].reason.startswith(words)


@pytest.mark.parametrize("value", [UNKNOWN, [UNKNOWN], {"comparisonOperator": UNKNOWN}])
def test_an_unknown_is_skipped_at_any_depth(aws: Aws, value: Any) -> None:
    known = {"threshold": 1, "notificationType": "ACTUAL", "subscriberSnsTopicArns": ["arn"]}
    notifications = [{**known, **value}] if isinstance(value, dict) else value
    inputs = {"name": "b", "budgetType": "COST", "timeUnit": UNKNOWN, "notifications": notifications}
    assert values.check(aws, BUDGET, inputs) == []


def test_an_object_in_a_list_of_one_is_checked(aws: Aws) -> None:
    """Pulumi has lists where AWS has one object."""
    inputs = {"name": "ab", "encryptionConfigurations": [{"encryptionType": "KMSS"}]}
    found = values.check(aws, REPOSITORY, inputs)
    assert [one.property for one in found] == ["encryptionConfigurations[0].encryptionType"]
    assert "did you mean 'KMS'?" in found[0].reason


def test_a_secret_is_not_shown(aws: Aws) -> None:
    """The model marks it: `sensitive`."""
    query = {"database": "d", "sql": "hunter2 " * 20_000}
    found = values.check(aws, TARGET, {"rule": "r", "targetId": "a", "arn": "arn", "redshiftTarget": query})
    assert [one.property for one in found] == ["redshiftTarget.sql"]
    assert "hunter2" not in found[0].reason


def test_a_long_value_is_cut(aws: Aws) -> None:
    found = values.check(aws, ROLE, {"name": "n" * 5000, "assumeRolePolicy": "{}"})
    assert len(found[0].reason) < 300


def test_a_type_without_a_table_is_not_checked(aws: Aws) -> None:
    assert values.check(aws, "aws:lambda/function:Function", {"name": "a b"}) == []


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
