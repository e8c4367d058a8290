"""Bucket policies and lifecycle rules."""

from __future__ import annotations

from typing import Any

import pytest

from components.storage.bucket_rules import access_policy, lifecycle, log_policy
from components.storage.prefixes import COSTS, artifacts_of
from spec.settings.storage import Buckets
from tests.components.storage.support import statements

ARN = "arn:aws:s3:::bucket"


def _buckets(**settings: Any) -> Buckets:
    return Buckets.model_validate(settings)


def test_access_requires_tls_1_2() -> None:
    by_sid = statements(access_policy(ARN))
    assert {statement["Effect"] for statement in by_sid.values()} == {"Deny"}
    assert by_sid["OnlyEncryptedTransport"]["Condition"] == {"Bool": {"aws:SecureTransport": ["false"]}}
    assert by_sid["OnlyModernTransport"]["Condition"] == {"NumericLessThan": {"s3:TlsVersion": ["1.2"]}}
    for statement in by_sid.values():
        assert statement["Resource"] == [ARN, f"{ARN}/*"]
        assert statement["Action"] == ["s3:*"]


def test_access_logs_are_accepted_only_from_the_buckets_of_this_account() -> None:
    delivery = statements(log_policy(ARN, ["arn:aws:s3:::raw"], "111122223333"))["AccessLogs"]
    assert delivery["Principal"] == {"Service": ["logging.s3.amazonaws.com"]}
    assert delivery["Action"] == ["s3:PutObject"]
    assert delivery["Condition"] == {
        "ArnLike": {"aws:SourceArn": ["arn:aws:s3:::raw"]},
        "StringEquals": {"aws:SourceAccount": ["111122223333"]},
    }


def test_the_log_bucket_requires_tls_too() -> None:
    assert set(statements(access_policy(ARN))) < set(statements(log_policy(ARN, [], "111122223333")))


@pytest.mark.parametrize("purpose", ["checkpoints", "logs", "models", "raw", "state"])
def test_incomplete_uploads_and_old_versions_expire_in_every_bucket(purpose: str) -> None:
    rules = {rule["id"]: rule for rule in lifecycle(purpose, _buckets(noncurrentDays=9))}
    assert rules["incomplete-uploads"]["abort_incomplete_multipart_upload"] == {"days_after_initiation": 7}
    assert rules["noncurrent-versions"]["noncurrent_version_expiration"] == {"noncurrent_days": 9}
    assert all(rule["status"] == "Enabled" for rule in rules.values())
    assert all(rule["filter"] == {} for name, rule in rules.items() if name not in ("artifacts", "expiry"))


def test_directories_of_teams_do_not_expire() -> None:
    (rule,) = (rule for rule in lifecycle("checkpoints", _buckets()) if rule["id"] == "expiry")
    assert rule["filter"] == {"object_size_greater_than": 1}


def test_only_artifacts_of_the_state_bucket_expire() -> None:
    (rule,) = (rule for rule in lifecycle("state", _buckets(artifactDays=4)) if "days" in rule.get("expiration", {}))
    assert rule["expiration"] == {"days": 4}
    prefix = rule["filter"]["prefix"]
    assert rule["filter"] == {"prefix": prefix}
    assert artifacts_of("nlp").startswith(prefix)
    assert not f"{COSTS}/federated/".startswith(prefix)


def test_only_checkpoints_logs_and_artifacts_expire() -> None:
    settings = _buckets(checkpointDays=5, logDays=6, artifactDays=7)
    days = {
        purpose: rule["expiration"]["days"]
        for purpose in ("checkpoints", "logs", "models", "raw", "state")
        for rule in lifecycle(purpose, settings)
        if "days" in rule.get("expiration", {})
    }
    assert days == {"checkpoints": 5, "logs": 6, "state": 7}


def test_expiry_of_checkpoints_and_artifacts_can_be_disabled() -> None:
    settings = _buckets(checkpointDays=None, artifactDays=None)
    ids = {rule["id"] for purpose in ("checkpoints", "state") for rule in lifecycle(purpose, settings)}
    assert ids.isdisjoint({"expiry", "artifacts"})


def test_only_raw_data_moves_to_another_storage_class() -> None:
    moved = {
        purpose: rule["transitions"]
        for purpose in ("checkpoints", "logs", "models", "raw", "state")
        for rule in lifecycle(purpose, _buckets(tierRawAfterDays=3))
        if "transitions" in rule
    }
    assert moved == {"raw": [{"days": 3, "storage_class": "INTELLIGENT_TIERING"}]}
    assert "tiering" not in {rule["id"] for rule in lifecycle("raw", _buckets(tierRawAfterDays=None))}
