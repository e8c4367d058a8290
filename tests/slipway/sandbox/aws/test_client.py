"""Errors of AWS, as its services spell them."""

from __future__ import annotations

import pytest

from slipway.sandbox.aws.client import AwsError


@pytest.mark.parametrize(
    ("code", "message", "not_found"),
    [
        ("InvalidVpcID.NotFound", "The vpc ID 'vpc-1' does not exist", True),
        ("NoSuchBucket", "The specified bucket does not exist", True),
        ("AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.", True),
        ("404", "Not Found", True),
        ("ValidationError", "AutoScalingGroup name not found - AutoScalingGroup 'a' not found", True),
        ("ValidationError", "Min bound, 5, must be less than or equal to max bound, 2", False),
        ("DependencyViolation", "The vpc has a route table that was not found unused", False),
        ("InternalError404", "An internal error has occurred", False),
    ],
)
def test_what_is_not_there_is_known_by_the_code_and_for_auto_scaling_by_the_words(
    code: str, message: str, not_found: bool
) -> None:
    assert AwsError("DescribeThings", code, message).not_found is not_found
