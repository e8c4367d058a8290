"""Data in S3 buckets: encryption, versioning, lifecycle, logging and replication."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.questions import each, has_companion, is_in
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    BUCKET,
    BUCKET_ENCRYPTION,
    BUCKET_LIFECYCLE,
    BUCKET_LOCK,
    BUCKET_LOGGING,
    BUCKET_NOTIFICATION,
    BUCKET_REPLICATION,
    BUCKET_VERSIONING,
)
from policies.rule import Check, Context, StackRule, Violation, violation

_KMS: Final = ("aws:kms", "aws:kms:dsse")
_DEFAULT: Final = "applyServerSideEncryptionByDefault"


def _rules(resource: Resource) -> list[Node]:
    return [rule for rule in resource["rules"].items() if rule.known]


def _not_kms(encryption: Resource, _: Context) -> Iterator[Violation]:
    for rule in _rules(encryption):
        if rule[_DEFAULT]["sseAlgorithm"].is_not(*_KMS):
            yield violation(rule[_DEFAULT]["sseAlgorithm"], at=encryption)


def _aws_key(encryption: Resource, _: Context) -> Iterator[Violation]:
    for rule in _rules(encryption):
        key = rule[_DEFAULT]["kmsMasterKeyId"]
        if rule[_DEFAULT]["sseAlgorithm"].raw in _KMS and (key.missing or str(key.raw).startswith("alias/aws/")):
            yield violation(key, at=encryption)


def _key_by_object(encryption: Resource, _: Context) -> Iterator[Violation]:
    for rule in _rules(encryption):
        if rule[_DEFAULT]["sseAlgorithm"].raw in _KMS and rule["bucketKeyEnabled"].is_false(default=False):
            yield violation(rule["bucketKeyEnabled"], at=encryption)


KMS_BUCKET_KEY = StackRule(
    name="s3-kms-bucket-key",
    title="Buckets are encrypted with a customer managed KMS key and an S3 Bucket Key",
    types=(BUCKET, BUCKET_ENCRYPTION),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Without a bucket key, every read of an object is a call to KMS: a training job over a million files "
    "reaches the request quota of KMS and pays for each call (S3 User Guide, S3 Bucket Keys).",
    fix="Declare the encryption of the bucket with sseAlgorithm aws:kms, kmsMasterKeyId and bucketKeyEnabled.",
    checks={
        "declared": Check(
            asks="must declare its encryption",
            find=has_companion(BUCKET_ENCRYPTION, "bucket", BUCKET, "left to S3's default"),
            external_ids=("CKV_AWS_19",),
        ),
        "kms": Check(
            asks="must be aws:kms",
            find=each(BUCKET_ENCRYPTION, _not_kms),
            external_ids=("CKV_AWS_145", "AVD-AWS-0132"),
        ),
        "key": Check(
            asks="must be a customer managed KMS key",
            find=each(BUCKET_ENCRYPTION, _aws_key),
            external_ids=("CKV_AWS_186",),
        ),
        "bucket-key": Check(
            asks="must be true",
            find=each(BUCKET_ENCRYPTION, _key_by_object),
        ),
    },
)


def _incomplete_uploads(lifecycle: Resource, _: Context) -> Iterator[Violation]:
    rules = lifecycle["rules"]
    entries = rules.items()
    ends = [entry["abortIncompleteMultipartUpload"]["daysAfterInitiation"] for entry in entries]
    if not rules.unknown and all(days.missing for days in ends):
        yield violation(rules, "without abortIncompleteMultipartUpload", lifecycle)


def _without_expiry(lifecycle: Resource, _: Context) -> Iterator[Violation]:
    rules = lifecycle["rules"]
    entries = rules.items()
    ends = [entry["noncurrentVersionExpiration"]["noncurrentDays"] for entry in entries]
    if not rules.unknown and all(days.missing for days in ends):
        yield violation(rules, "without noncurrentVersionExpiration", lifecycle)


VERSIONED_LIFECYCLE = StackRule(
    name="s3-versioned-lifecycle",
    title="Buckets have versioning, and expire old versions and incomplete uploads",
    types=(BUCKET, BUCKET_VERSIONING, BUCKET_LIFECYCLE),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="Without versions, a checkpoint that a broken run overwrites is lost; without expiry, every old version "
    "costs money forever.",
    fix="Enable versioning, and add lifecycle rules that expire incomplete uploads and noncurrent versions.",
    checks={
        "versions": Check(
            asks="must have versioning",
            find=has_companion(BUCKET_VERSIONING, "bucket", BUCKET, "without it"),
            external_ids=("CKV_AWS_21", "AVD-AWS-0090"),
        ),
        "enabled": Check(
            asks="must be Enabled",
            find=each(BUCKET_VERSIONING, is_in("versioningConfiguration.status", "Enabled")),
        ),
        "lifecycle": Check(
            asks="must have a lifecycle configuration",
            find=has_companion(BUCKET_LIFECYCLE, "bucket", BUCKET, "without one"),
            external_ids=("CKV2_AWS_61",),
        ),
        "uploads": Check(
            asks="must abort incomplete multipart uploads",
            find=each(BUCKET_LIFECYCLE, _incomplete_uploads),
            external_ids=("CKV_AWS_300",),
        ),
        "former": Check(
            asks="must expire noncurrent versions",
            find=each(BUCKET_LIFECYCLE, _without_expiry),
        ),
    },
)


def _dotted(bucket: Resource, _: Context) -> Iterator[Violation]:
    """A certificate for `*.s3.amazonaws.com` does not cover a name with a dot (S3 User Guide, naming rules)."""
    if "." in (bucket["bucket"].text() or ""):
        yield violation(bucket["bucket"], at=bucket)


def _companion(role: str, token: str, asks: str, got: str, *external_ids: str) -> Check[Stack]:
    return Check(
        asks=asks,
        find=has_companion(token, "bucket", BUCKET, got),
        external_ids=external_ids,
    )


AUDIT_EXTRAS = StackRule(
    name="s3-audit-extras",
    title="Buckets have access logs, replication, Object Lock and event notifications",
    types=(BUCKET, BUCKET_LOGGING, BUCKET_REPLICATION, BUCKET_LOCK, BUCKET_NOTIFICATION),
    severity=Severity.LOW,
    levels=Levels("A/A/A"),
    why="Each of these costs money every month, so it is decided per bucket; a bucket without one has a suppression "
    "with the reason.",
    fix="Configure it for the bucket, or suppress the check for the bucket with the reason.",
    checks={
        "logged": _companion(
            "logging", BUCKET_LOGGING, "must have access logging", "without it", "CKV_AWS_18", "AVD-AWS-0089"
        ),
        "replicated": _companion(
            "replication", BUCKET_REPLICATION, "must be replicated", "in one Region only", "CKV_AWS_144"
        ),
        "locked": _companion("lock", BUCKET_LOCK, "must have Object Lock", "without it", "CKV_AWS_143"),
        "notified": _companion(
            "notification", BUCKET_NOTIFICATION, "must send event notifications", "without them", "CKV2_AWS_62"
        ),
        "name": Check(
            asks="must not contain a dot",
            find=each(BUCKET, _dotted),
            external_ids=("AVD-AWS-0320",),
        ),
    },
)

RULES = (KMS_BUCKET_KEY, VERSIONED_LIFECYCLE, AUDIT_EXTRAS)
