"""Argo Workflows: artifacts without access keys."""

import json

from components.addons.argo_workflows import reading_policy


def test_the_server_can_only_read_artifacts() -> None:
    statements = json.loads(reading_policy("arn:aws:s3:::state", "arn:aws:kms:us-east-1:1:key/k"))["Statement"]
    actions = {action for each in statements for action in each["Action"]}
    assert actions == {"s3:ListBucket", "s3:GetObject", "kms:Decrypt"}
    assert {arn for each in statements for arn in each["Resource"]} == {
        "arn:aws:s3:::state",
        "arn:aws:s3:::state/argo/*",
        "arn:aws:kms:us-east-1:1:key/k",
    }
