"""Data in S3 buckets: each property inline and as a resource of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from policies.resources import tokens
from tests.policies.fixtures.build import Fixture
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, allow, by_pack, changed, document, of

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0d0c4a1e-7d5c-4a10-9f5d-7a8f0f1f6a11"
_ARN: Final = "arn:aws:s3:::slipway-models"
_GROUPS: Final = "http://acs.amazonaws.com/groups/global/"
_FLAGS: Final = {
    "blockPublicAcls": True,
    "blockPublicPolicy": True,
    "ignorePublicAcls": True,
    "restrictPublicBuckets": True,
}
_TLS: Final = {
    "Sid": "tls",
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": _ARN,
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}


def _bucket(**props: Any) -> Fixture:
    return {"bucket": of(tokens.BUCKET, {"bucket": "slipway-models", **props})}


def _with(kind: str, props: Mapping[str, Any], **inline: Any) -> Fixture:
    """A bucket and a resource about it."""
    return {**_bucket(**inline), "about": of(kind, props, bucket="bucket")}


def _grants(*uris: str, permission: str = "READ") -> dict[str, Any]:
    grants = [{"grantee": {"type": "Group", "uri": uri}, "permission": permission} for uri in uris]
    return {"accessControlPolicy": {"owner": {"id": "a1b2c3"}, "grants": grants}}


def _encryption(kind: str | None, key: str | None = _KEY) -> dict[str, Any]:
    by_default = {"sseAlgorithm": kind, "kmsMasterKeyId": key}
    return {"applyServerSideEncryptionByDefault": {name: one for name, one in by_default.items() if one}}


def _policy(*statements: dict[str, Any]) -> str:
    return document(_TLS, *statements)


_OPEN: Final = tuple(
    allow("s3:GetObject", f"{_ARN}/*", Principal=principal) for principal in ("*", {"AWS": "*"}, {"AWS": ["*"]})
)
_NAMED: Final = allow("s3:GetObject", f"{_ARN}/*", Principal={"AWS": "arn:aws:iam::111122223333:role/reader"})
_FROM_ROLE: Final = {"StringEquals": {"aws:PrincipalArn": "arn:aws:iam::111122223333:role/reader"}}
_LOCKED: Final = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": _ARN}
_DENIED: Final = {"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": ["s3:PutBucketPolicy"], "Resource": _ARN}
_POINT: Final = of(
    tokens.S3_ACCESS_POINT, {"name": "reader", "bucket": "slipway-models", "publicAccessBlockConfiguration": _FLAGS}
)
_COPIES: Final = [{"id": "all", "status": "Enabled", "destination": {"bucket": "arn:aws:s3:::slipway-copies"}}]
_COPYING: Final = {"role": "arn:aws:iam::111122223333:role/copier", "rules": _COPIES}
_STOPPED: Final = {**_COPYING, "rules": [{**_COPIES[0], "status": "Disabled"}]}
_UPLOADS: Final = {"abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}}
_RULE: Final = {"id": "old", "status": "Enabled", "filter": {}, "noncurrentVersionExpiration": {"noncurrentDays": 30}}
_PRIVATE: Final = {
    **_with(tokens.BUCKET_ACL, {"acl": "private"}),
    "tls": of(tokens.BUCKET_POLICY, {"policy": _policy()}, bucket="bucket"),
}
_LEGACY_OBJECT: Final = "aws:s3/bucketObject:BucketObject"


def _acl(**props: Any) -> Fixture:
    return {**_PRIVATE, "about": of(tokens.BUCKET_ACL, props, bucket="bucket")}


def _flag(name: str) -> tuple[Fixture, ...]:
    block = _with(tokens.BUCKET_BLOCK, _FLAGS)
    return {**block, "about": changed(block["about"], name, False)}, {**block, "about": changed(block["about"], name)}


SPELLINGS: Final = (
    Spelling(
        name="aws_s3_bucket, logging",
        good=_bucket(logging={"targetBucket": "slipway-logs"}),
        bad={"CKV_AWS_18": _bucket()},
    ),
    Spelling(
        name="aws_s3_bucket_logging",
        good=_with(tokens.BUCKET_LOGGING, {"targetBucket": "slipway-logs", "targetPrefix": "models/"}),
        bad={"CKV_AWS_18": _bucket()},
    ),
    Spelling(
        name="aws_s3_bucket, server_side_encryption_configuration",
        good=_bucket(serverSideEncryptionConfiguration={"rule": {**_encryption("aws:kms"), "bucketKeyEnabled": True}}),
        bad={
            "CKV_AWS_145": _bucket(serverSideEncryptionConfiguration={"rule": _encryption("AES256", None)}),
        },
    ),
    Spelling(
        name="aws_s3_bucket_server_side_encryption_configuration",
        good=_with(tokens.BUCKET_ENCRYPTION, {"rules": [{**_encryption("aws:kms"), "bucketKeyEnabled": True}]}),
        bad={"CKV_AWS_145": _with(tokens.BUCKET_ENCRYPTION, {"rules": [_encryption("AES256", None)]})},
    ),
    Spelling(
        name="aws_s3_bucket, no encryption declared",
        good=_with(tokens.BUCKET_ENCRYPTION, {"rules": [{**_encryption("aws:kms"), "bucketKeyEnabled": True}]}),
        bad={"CKV_AWS_19": _bucket(), "CKV_AWS_145": _bucket()},
        bad_differs={"CKV_AWS_19": by_pack("S3 encrypts by default since 2023, which Checkov accepts")},
    ),
    Spelling(
        name="aws_s3_bucket_object",
        good={"it": of(_LEGACY_OBJECT, {"bucket": "slipway-models", "key": "a", "kmsKeyId": _KEY})},
        bad={"CKV_AWS_186": {"it": of(_LEGACY_OBJECT, {"bucket": "slipway-models", "key": "a"})}},
        good_differs={"CKV_AWS_186": UNREVIEWED},
    ),
    Spelling(
        name="aws_s3_bucket_server_side_encryption_configuration, kms_master_key_id",
        good=_with(tokens.BUCKET_ENCRYPTION, {"rules": [{**_encryption("aws:kms"), "bucketKeyEnabled": True}]}),
        bad={"CKV_AWS_186": _with(tokens.BUCKET_ENCRYPTION, {"rules": [_encryption("aws:kms", None)]})},
        bad_differs={"CKV_AWS_186": by_pack("Checkov reads the key of single objects only")},
    ),
    Spelling(
        name="aws_s3_bucket, versioning",
        good=_bucket(versioning={"enabled": True}),
        bad={"CKV_AWS_21": (_bucket(versioning={"enabled": False}), _bucket())},
    ),
    Spelling(
        name="aws_s3_bucket_versioning",
        good=_with(tokens.BUCKET_VERSIONING, {"versioningConfiguration": {"status": "Enabled"}}),
        bad={
            "CKV_AWS_21": (
                _with(tokens.BUCKET_VERSIONING, {"versioningConfiguration": {"status": "Suspended"}}),
                _bucket(),
            )
        },
    ),
    Spelling(
        name="aws_s3_bucket, object_lock_configuration",
        good=_bucket(objectLockConfiguration={"objectLockEnabled": "Enabled"}),
        bad={"CKV_AWS_143": _bucket(objectLockConfiguration={"objectLockEnabled": "Disabled"})},
    ),
    Spelling(
        name="aws_s3_bucket_object_lock_configuration",
        good=_with(
            tokens.BUCKET_LOCK,
            {"rule": {"defaultRetention": {"mode": "COMPLIANCE", "days": 7}}},
            objectLockEnabled=True,
        ),
        bad={"CKV_AWS_143": (_bucket(), _bucket(objectLockEnabled=True))},
        bad_differs={
            "CKV_AWS_143": by_pack("Checkov reads object_lock_configuration of the bucket only, if it has one")
        },
    ),
    Spelling(
        name="aws_s3_bucket, replication_configuration",
        good=_bucket(replicationConfiguration=_COPYING),
        bad={"CKV_AWS_144": (_bucket(), _bucket(replicationConfiguration=_STOPPED))},
    ),
    Spelling(
        name="aws_s3_bucket_replication_configuration",
        good=_with(tokens.BUCKET_REPLICATION, _COPYING),
        bad={"CKV_AWS_144": (_bucket(), _with(tokens.BUCKET_REPLICATION, _STOPPED))},
    ),
    Spelling(
        name="aws_s3_bucket, lifecycle_rule",
        good=_bucket(
            lifecycleRules=[{"enabled": True, "expiration": {"days": 90}, "abortIncompleteMultipartUploadDays": 7}]
        ),
        bad={"CKV2_AWS_61": _bucket()},
    ),
    Spelling(
        name="aws_s3_bucket_lifecycle_configuration",
        good=_with(tokens.BUCKET_LIFECYCLE, {"rules": [{**_RULE, **_UPLOADS}]}),
        bad={"CKV2_AWS_61": _bucket(), "CKV_AWS_300": _with(tokens.BUCKET_LIFECYCLE, {"rules": [_RULE]})},
    ),
    Spelling(
        name="aws_s3_bucket_lifecycle_configuration, disabled or for some objects",
        good=_with(tokens.BUCKET_LIFECYCLE, {"rules": [_RULE, {**_RULE, **_UPLOADS, "id": "uploads"}]}),
        bad={
            "CKV_AWS_300": (
                _with(tokens.BUCKET_LIFECYCLE, {"rules": [{**_RULE, **_UPLOADS, "status": "Disabled"}]}),
                _with(tokens.BUCKET_LIFECYCLE, {"rules": [{**_RULE, **_UPLOADS, "filter": {"prefix": "tmp/"}}]}),
            )
        },
    ),
    Spelling(
        name="aws_s3_bucket_notification",
        good=_with(tokens.BUCKET_NOTIFICATION, {"eventbridge": True}),
        bad={"CKV2_AWS_62": _bucket()},
    ),
)
