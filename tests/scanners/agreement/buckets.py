"""Data in S3 buckets: each property inline and as a resource of its own."""

from __future__ import annotations

from typing import Any, Final

from policies.resources import tokens
from tests.scanners.agreement.bucket import about_bucket, bucket
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, by_pack, of

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0d0c4a1e-7d5c-4a10-9f5d-7a8f0f1f6a11"


def _encryption(kind: str | None, key: str | None = _KEY) -> dict[str, Any]:
    by_default = {"sseAlgorithm": kind, "kmsMasterKeyId": key}
    return {"applyServerSideEncryptionByDefault": {name: one for name, one in by_default.items() if one}}


_COPIES: Final = [{"id": "all", "status": "Enabled", "destination": {"bucket": "arn:aws:s3:::slipway-copies"}}]
_COPYING: Final = {"role": "arn:aws:iam::111122223333:role/copier", "rules": _COPIES}
_STOPPED: Final = {**_COPYING, "rules": [{**_COPIES[0], "status": "Disabled"}]}
_UPLOADS: Final = {"abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}}
_RULE: Final = {"id": "old", "status": "Enabled", "filter": {}, "noncurrentVersionExpiration": {"noncurrentDays": 30}}
_LEGACY_OBJECT: Final = "aws:s3/bucketObject:BucketObject"

SPELLINGS: Final = (
    Spelling(
        name="aws_s3_bucket, logging",
        good=bucket(logging={"targetBucket": "slipway-logs"}),
        bad={"CKV_AWS_18": bucket()},
    ),
    Spelling(
        name="aws_s3_bucket_logging",
        good=about_bucket(tokens.BUCKET_LOGGING, {"targetBucket": "slipway-logs", "targetPrefix": "models/"}),
        bad={"CKV_AWS_18": bucket()},
    ),
    Spelling(
        name="aws_s3_bucket, server_side_encryption_configuration",
        good=bucket(serverSideEncryptionConfiguration={"rule": {**_encryption("aws:kms"), "bucketKeyEnabled": True}}),
        bad={
            "CKV_AWS_145": bucket(serverSideEncryptionConfiguration={"rule": _encryption("AES256", None)}),
        },
    ),
    Spelling(
        name="aws_s3_bucket_server_side_encryption_configuration",
        good=about_bucket(tokens.BUCKET_ENCRYPTION, {"rules": [{**_encryption("aws:kms"), "bucketKeyEnabled": True}]}),
        bad={"CKV_AWS_145": about_bucket(tokens.BUCKET_ENCRYPTION, {"rules": [_encryption("AES256", None)]})},
    ),
    Spelling(
        name="aws_s3_bucket, no encryption declared",
        good=about_bucket(tokens.BUCKET_ENCRYPTION, {"rules": [{**_encryption("aws:kms"), "bucketKeyEnabled": True}]}),
        bad={"CKV_AWS_19": bucket(), "CKV_AWS_145": bucket()},
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
        good=about_bucket(tokens.BUCKET_ENCRYPTION, {"rules": [{**_encryption("aws:kms"), "bucketKeyEnabled": True}]}),
        bad={"CKV_AWS_186": about_bucket(tokens.BUCKET_ENCRYPTION, {"rules": [_encryption("aws:kms", None)]})},
        bad_differs={"CKV_AWS_186": by_pack("Checkov reads the key of single objects only")},
    ),
    Spelling(
        name="aws_s3_bucket, versioning",
        good=bucket(versioning={"enabled": True}),
        bad={"CKV_AWS_21": (bucket(versioning={"enabled": False}), bucket())},
    ),
    Spelling(
        name="aws_s3_bucket_versioning",
        good=about_bucket(tokens.BUCKET_VERSIONING, {"versioningConfiguration": {"status": "Enabled"}}),
        bad={
            "CKV_AWS_21": (
                about_bucket(tokens.BUCKET_VERSIONING, {"versioningConfiguration": {"status": "Suspended"}}),
                bucket(),
            )
        },
    ),
    Spelling(
        name="aws_s3_bucket, object_lock_configuration",
        good=bucket(objectLockConfiguration={"objectLockEnabled": "Enabled"}),
        bad={"CKV_AWS_143": bucket(objectLockConfiguration={"objectLockEnabled": "Disabled"})},
    ),
    Spelling(
        name="aws_s3_bucket_object_lock_configuration",
        good=about_bucket(
            tokens.BUCKET_LOCK,
            {"rule": {"defaultRetention": {"mode": "COMPLIANCE", "days": 7}}},
            objectLockEnabled=True,
        ),
        bad={"CKV_AWS_143": (bucket(), bucket(objectLockEnabled=True))},
        bad_differs={
            "CKV_AWS_143": by_pack("Checkov reads object_lock_configuration of the bucket only, if it has one")
        },
    ),
    Spelling(
        name="aws_s3_bucket, replication_configuration",
        good=bucket(replicationConfiguration=_COPYING),
        bad={"CKV_AWS_144": (bucket(), bucket(replicationConfiguration=_STOPPED))},
    ),
    Spelling(
        name="aws_s3_bucket_replication_configuration",
        good=about_bucket(tokens.BUCKET_REPLICATION, _COPYING),
        bad={"CKV_AWS_144": (bucket(), about_bucket(tokens.BUCKET_REPLICATION, _STOPPED))},
    ),
    Spelling(
        name="aws_s3_bucket, lifecycle_rule",
        good=bucket(
            lifecycleRules=[{"enabled": True, "expiration": {"days": 90}, "abortIncompleteMultipartUploadDays": 7}]
        ),
        bad={"CKV2_AWS_61": bucket()},
    ),
    Spelling(
        name="aws_s3_bucket_lifecycle_configuration",
        good=about_bucket(tokens.BUCKET_LIFECYCLE, {"rules": [{**_RULE, **_UPLOADS}]}),
        bad={"CKV2_AWS_61": bucket(), "CKV_AWS_300": about_bucket(tokens.BUCKET_LIFECYCLE, {"rules": [_RULE]})},
    ),
    Spelling(
        name="aws_s3_bucket_lifecycle_configuration, disabled or for some objects",
        good=about_bucket(tokens.BUCKET_LIFECYCLE, {"rules": [_RULE, {**_RULE, **_UPLOADS, "id": "uploads"}]}),
        bad={
            "CKV_AWS_300": (
                about_bucket(tokens.BUCKET_LIFECYCLE, {"rules": [{**_RULE, **_UPLOADS, "status": "Disabled"}]}),
                about_bucket(tokens.BUCKET_LIFECYCLE, {"rules": [{**_RULE, **_UPLOADS, "filter": {"prefix": "tmp/"}}]}),
            )
        },
    ),
    Spelling(
        name="aws_s3_bucket_notification",
        good=about_bucket(tokens.BUCKET_NOTIFICATION, {"eventbridge": True}),
        bad={"CKV2_AWS_62": bucket()},
    ),
)
