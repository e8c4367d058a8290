"""Data in S3 buckets: encryption, versioning, lifecycle, logging and replication."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.questions import each, has_companion, is_in
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
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


def _inline(key: str) -> Callable[[Resource], bool]:
    """Whether a bucket has the property itself, which AWS takes as well."""
    return lambda bucket: not bucket[key].missing


def _rules(resource: Resource) -> list[Node]:
    """Rules of encryption, of a bucket itself or of a resource about it."""
    inline = resource.type == BUCKET
    rules = [resource["serverSideEncryptionConfiguration"]["rule"]] if inline else resource["rules"].items()
    return [rule for rule in rules if rule.known]


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
            find=has_companion(
                BUCKET_ENCRYPTION,
                "bucket",
                BUCKET,
                "left to S3's default",
                inline=_inline("serverSideEncryptionConfiguration"),
            ),
            external_ids=("CKV_AWS_19", "CKV_AWS_145"),
        ),
        "kms": Check(
            asks="must be aws:kms",
            find=each((BUCKET, BUCKET_ENCRYPTION), _not_kms),
            external_ids=("CKV_AWS_145", "AVD-AWS-0132"),
        ),
        "key": Check(
            asks="must be a customer managed KMS key",
            find=each((BUCKET, BUCKET_ENCRYPTION), _aws_key),
            external_ids=("CKV_AWS_186",),
        ),
        "bucket-key": Check(
            asks="must be true",
            find=each((BUCKET, BUCKET_ENCRYPTION), _key_by_object),
        ),
    },
)


def _lifecycle(resource: Resource) -> Node:
    """Rules of a bucket itself or of a resource about it."""
    return resource["lifecycleRules" if resource.type == BUCKET else "rules"]


def _active(rule: Node) -> bool:
    """Whether S3 applies the rule: it is not certainly disabled. A rule of a bucket itself has `enabled`."""
    return not rule["status"].is_not("Enabled") if rule["enabled"].missing else not rule["enabled"].is_false()


def _for_every_object(rule: Node) -> bool:
    narrow = [rule["prefix"], rule["tags"], *rule["filter"].fields().values()]
    return not any(node.known and node.raw not in ("", {}) for node in narrow)


def _incomplete_uploads(resource: Resource, _: Context) -> Iterator[Violation]:
    rules = _lifecycle(resource)
    entries = [rule for rule in rules.items() if _active(rule) and _for_every_object(rule)]
    ends = [rule["abortIncompleteMultipartUpload"]["daysAfterInitiation"] for rule in entries]
    ends += [rule["abortIncompleteMultipartUploadDays"] for rule in entries]
    if _decides(resource) and all(days.missing for days in ends):
        yield violation(rules, "without abortIncompleteMultipartUpload for all objects", resource)


def _without_expiry(resource: Resource, _: Context) -> Iterator[Violation]:
    rules = _lifecycle(resource)
    expiries = [rule["noncurrentVersionExpiration"] for rule in rules.items() if _active(rule)]
    ends = [days for expiry in expiries for days in (expiry["noncurrentDays"], expiry["days"])]
    if _decides(resource) and all(days.missing for days in ends):
        yield violation(rules, "without noncurrentVersionExpiration", resource)


def _decides(resource: Resource) -> bool:
    """Whether the resource has the rules: a bucket may leave them to another resource."""
    rules = _lifecycle(resource)
    return not rules.unknown and not (resource.type == BUCKET and rules.missing)


def _suspended(bucket: Resource, _: Context) -> Iterator[Violation]:
    versioning = bucket["versioning"]
    if not versioning.missing and versioning["enabled"].is_false(default=False):
        yield violation(versioning["enabled"], at=bucket)


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
            find=has_companion(BUCKET_VERSIONING, "bucket", BUCKET, "without it", inline=_inline("versioning")),
            external_ids=("CKV_AWS_21", "AVD-AWS-0090"),
        ),
        "enabled": Check(
            asks="must be Enabled",
            find=each(BUCKET_VERSIONING, is_in("versioningConfiguration.status", "Enabled")),
            external_ids=("CKV_AWS_21", "AVD-AWS-0090"),
        ),
        "suspended": Check(
            asks="must be true",
            find=each(BUCKET, _suspended),
            external_ids=("CKV_AWS_21", "AVD-AWS-0090"),
        ),
        "lifecycle": Check(
            asks="must have a lifecycle configuration",
            find=has_companion(BUCKET_LIFECYCLE, "bucket", BUCKET, "without one", inline=_inline("lifecycleRules")),
            external_ids=("CKV2_AWS_61",),
        ),
        "uploads": Check(
            asks="must abort incomplete multipart uploads",
            find=each((BUCKET, BUCKET_LIFECYCLE), _incomplete_uploads),
            external_ids=("CKV_AWS_300",),
        ),
        "former": Check(
            asks="must expire noncurrent versions",
            find=each((BUCKET, BUCKET_LIFECYCLE), _without_expiry),
        ),
    },
)


def _dotted(bucket: Resource, _: Context) -> Iterator[Violation]:
    """A certificate for `*.s3.amazonaws.com` does not cover a name with a dot (S3 User Guide, naming rules)."""
    if "." in (bucket["bucket"].text() or ""):
        yield violation(bucket["bucket"], at=bucket)


def _copies(rules: Node) -> bool:
    return rules.unknown or any(rule.unknown or not rule["status"].is_not("Enabled") for rule in rules.items())


def _copied(bucket: Resource) -> bool:
    return _copies(bucket["replicationConfiguration"]["rules"])


def _copying(replication: Resource) -> bool:
    return _copies(replication["rules"])


def _locked(bucket: Resource) -> bool:
    return not bucket["objectLockConfiguration"]["objectLockEnabled"].is_not("Enabled")


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
        "logged": Check(
            asks="must have access logging",
            find=has_companion(BUCKET_LOGGING, "bucket", BUCKET, "without it", inline=_inline("logging")),
            external_ids=("CKV_AWS_18", "AVD-AWS-0089"),
        ),
        "replicated": Check(
            asks="must be replicated",
            find=has_companion(
                BUCKET_REPLICATION, "bucket", BUCKET, "in one Region only", inline=_copied, counts=_copying
            ),
            external_ids=("CKV_AWS_144",),
        ),
        "locked": Check(
            asks="must have Object Lock",
            find=has_companion(BUCKET_LOCK, "bucket", BUCKET, "without it", inline=_locked),
            external_ids=("CKV_AWS_143",),
        ),
        "notified": Check(
            asks="must send event notifications",
            find=has_companion(BUCKET_NOTIFICATION, "bucket", BUCKET, "without them"),
            external_ids=("CKV2_AWS_62",),
        ),
        "name": Check(
            asks="must not contain a dot",
            find=each(BUCKET, _dotted),
            external_ids=("AVD-AWS-0320",),
        ),
    },
)

RULES = (KMS_BUCKET_KEY, VERSIONED_LIFECYCLE, AUDIT_EXTRAS)
