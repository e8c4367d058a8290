"""Bucket policies and lifecycle rules, as values. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from components.base.iam import Statement, document
from components.storage.prefixes import ARTIFACTS
from spec.settings.storage import Buckets

DATA: Final = ("checkpoints", "models", "raw", "state")
"""Buckets that are encrypted with the platform's KMS key and have access logs."""
LOGS: Final = "logs"
UPLOAD_DAYS: Final = 7
"""Days after which parts of an incomplete multipart upload are deleted: they cost money and aren't listed."""


def access_policy(bucket_arn: str) -> str:
    """Requires TLS 1.2 or later (`s3:TlsVersion`: repost.aws, s3-enforce-modern-tls, read 2026-11)."""
    return document(*_transport(bucket_arn))


def log_policy(bucket_arn: str, sources: Sequence[str], account_id: str) -> str:
    """Like `access_policy`, and allows S3 to deliver the access logs of these buckets of this account.

    S3 User Guide, "Enabling Amazon S3 server access logging", permissions for log delivery (read 2026-11).
    """
    delivery = Statement(
        sid="AccessLogs",
        actions=["s3:PutObject"],
        resources=[f"{bucket_arn}/*"],
        principals={"Service": ["logging.s3.amazonaws.com"]},
        conditions={
            "ArnLike": {"aws:SourceArn": list(sources)},
            "StringEquals": {"aws:SourceAccount": [account_id]},
        },
    )
    return document(*_transport(bucket_arn), delivery)


def _transport(bucket_arn: str) -> tuple[Statement, Statement]:
    def deny(sid: str, operator: str, key: str, value: str) -> Statement:
        return Statement(
            sid=sid,
            effect="Deny",
            actions=["s3:*"],
            resources=[bucket_arn, f"{bucket_arn}/*"],
            principals={"AWS": ["*"]},
            conditions={operator: {key: [value]}},
        )

    return (
        deny("OnlyEncryptedTransport", "Bool", "aws:SecureTransport", "false"),
        deny("OnlyModernTransport", "NumericLessThan", "s3:TlsVersion", "1.2"),
    )


def lifecycle(purpose: str, settings: Buckets) -> list[dict[str, Any]]:
    """Lifecycle rules of a bucket, in the spelling of `aws.s3.BucketLifecycleConfigurationRuleArgs`.

    Args:
        purpose: One of the five buckets.
        settings: Retention settings.
    """
    rules: list[dict[str, Any]] = [
        _rule("incomplete-uploads", abort_incomplete_multipart_upload={"days_after_initiation": UPLOAD_DAYS}),
        _rule("noncurrent-versions", noncurrent_version_expiration={"noncurrent_days": settings.noncurrent_days}),
        # Delete markers of objects without other versions slow down listing.
        _rule("delete-markers", expiration={"expired_object_delete_marker": True}),
    ]
    days = {"checkpoints": settings.checkpoint_days, LOGS: settings.log_days}.get(purpose)
    if days is not None:
        # Empty objects are kept: the directories of teams are such objects (`components.storage.lustre`).
        rules.append({**_rule("expiry", expiration={"days": days}), "filter": {"object_size_greater_than": 1}})
    if purpose == "state" and settings.artifact_days is not None:
        # Only this prefix: Kubecost's data in this bucket is its history and is kept. Argo deletes artifacts only of
        # workflows that request it (argo-workflows v4, walk-through "Artifacts", Artifact Garbage Collection).
        artifacts = _rule("artifacts", expiration={"days": settings.artifact_days})
        rules.append({**artifacts, "filter": {"prefix": f"{ARTIFACTS}/"}})
    if purpose == "raw" and settings.tier_raw_after_days is not None:
        # The only class that moves data back automatically without a retrieval fee (S3 User Guide, "How S3
        # Intelligent-Tiering works"; read 2026-11). Its archive tiers, which FSx can't read, are opt-in.
        move = {"days": settings.tier_raw_after_days, "storage_class": "INTELLIGENT_TIERING"}
        rules.append(_rule("tiering", transitions=[move]))
    return rules


def _rule(key: str, **action: Any) -> dict[str, Any]:
    """A rule for all objects, with an empty filter; omitting the filter is deprecated in AWS."""
    return {"id": key, "status": "Enabled", "filter": {}, **action}
