"""Conditions that narrow a statement, and conditions that only look as if they did."""

from __future__ import annotations

from typing import Any

import pytest

from policies.evaluation.conditions import limits_the_caller, limits_the_resource, wildcard
from policies.evaluation.documents import Statement
from policies.resources.access import UNKNOWN, Node


def statement(condition: Any) -> Statement:
    return Statement(Node("", {"Effect": "Allow", "Condition": condition}))


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("*", True),
        ("?*", True),
        ("arn:*", True),
        ("arn:aws:iam::*:role/a", True),
        ("arn:aws:iam::1111*:role/a", True),
        ("arn:aws:s3:::*", True),
        ("arn:aws:s3:::logs", False),
        ("arn:aws:iam::111122223333:role/*", False),
        ("o-1", False),
    ],
)
def test_a_wildcard_accepts_more_than_one_account(text: str, wide: bool) -> None:
    assert wildcard(Node("", text)) is wide


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEquals": {"ec2:ResourceTag/team": "ml"}},
        {"StringEquals": {"aws:ResourceTag/team": "ml"}},
        {"ForAnyValue:StringEquals": {"kms:ResourceAliases": ["alias/ml"]}},
    ],
)
def test_a_tag_or_a_key_of_the_service_limits_the_resource(condition: Any) -> None:
    assert limits_the_resource(statement(condition))


@pytest.mark.parametrize(
    "condition",
    [
        {"Bool": {"aws:SecureTransport": "true"}},
        {"StringEquals": {"aws:RequestedRegion": "us-east-1"}},
        {"StringEquals": {"aws:PrincipalOrgID": "o-1"}},
        {"StringLike": {"ec2:ResourceTag/team": "*"}},
        {"StringEqualsIfExists": {"aws:ResourceTag/team": "ml"}},
        {"StringNotEquals": {"aws:ResourceTag/team": "ml"}},
        {"Null": {"aws:ResourceTag/team": "false"}},
        {},
    ],
)
def test_other_conditions_do_not(condition: Any) -> None:
    assert not limits_the_resource(statement(condition))


def test_an_unknown_condition_or_value_is_not_judged() -> None:
    assert limits_the_caller(statement(UNKNOWN))
    assert limits_the_caller(statement({"StringEquals": {"aws:PrincipalArn": UNKNOWN}}))


def test_a_network_limits_the_caller_and_the_internet_does_not() -> None:
    assert limits_the_caller(statement({"IpAddress": {"aws:SourceIp": ["203.0.113.0/24"]}}))
    assert not limits_the_caller(statement({"IpAddress": {"aws:SourceIp": ["203.0.113.0/24", "::0/0"]}}))
    assert limits_the_caller(statement({"StringEquals": {"aws:SourceVpce": "vpce-1"}}))
