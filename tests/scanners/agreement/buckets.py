"""S3 buckets, with each setting inline and as a resource of its own: data, ACLs, policies and public access blocks."""

from collections.abc import Mapping
from typing import Any, Final

from policies.resources import tokens
from tests.policies.build import Fixture
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, allow, by_pack, changed, document, of


def bucket(**props: Any) -> Fixture:
    return {"bucket": of(tokens.BUCKET, {"bucket": "slipway-models", **props})}


def about_bucket(kind: str, props: Mapping[str, Any], **inline: Any) -> Fixture:
    """A bucket and a resource about it."""
    return {**bucket(**inline), "about": of(kind, props, bucket="bucket")}


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


def _grants(*uris: str, permission: str = "READ") -> dict[str, Any]:
    grants = [{"grantee": {"type": "Group", "uri": uri}, "permission": permission} for uri in uris]
    return {"accessControlPolicy": {"owner": {"id": "a1b2c3"}, "grants": grants}}


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
_PRIVATE: Final = {
    **about_bucket(tokens.BUCKET_ACL, {"acl": "private"}),
    "tls": of(tokens.BUCKET_POLICY, {"policy": _policy()}, bucket="bucket"),
}


def _acl(**props: Any) -> Fixture:
    return {**_PRIVATE, "about": of(tokens.BUCKET_ACL, props, bucket="bucket")}


def _flag(name: str) -> tuple[Fixture, ...]:
    block = about_bucket(tokens.BUCKET_BLOCK, _FLAGS)
    return {**block, "about": changed(block["about"], name, False)}, {**block, "about": changed(block["about"], name)}


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
        bad={"CKV_AWS_145": bucket(serverSideEncryptionConfiguration={"rule": _encryption("AES256", None)})},
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
    Spelling(
        name="aws_s3_bucket, acl",
        good=bucket(acl="private"),
        bad={
            "CKV_AWS_20": tuple(bucket(acl=acl) for acl in ("public-read", "public-read-write", "authenticated-read")),
            "CKV_AWS_57": bucket(acl="public-read-write"),
        },
    ),
    Spelling(
        name="aws_s3_bucket, grant",
        good=bucket(grants=[{"type": "CanonicalUser", "id": "a1b2c3", "permissions": ["FULL_CONTROL"]}]),
        bad={
            "CKV_AWS_20": bucket(grants=[{"type": "Group", "uri": f"{_GROUPS}AllUsers", "permissions": ["READ"]}]),
            "CKV_AWS_57": bucket(grants=[{"type": "Group", "uri": f"{_GROUPS}AllUsers", "permissions": ["WRITE"]}]),
            "CKV_AWS_375": bucket(grants=[{"type": "Group", "uri": f"{_GROUPS}AllUsers", "permissions": ["READ"]}]),
            "CKV2_AWS_43": bucket(
                grants=[{"type": "Group", "uri": f"{_GROUPS}AuthenticatedUsers", "permissions": ["READ"]}]
            ),
        },
        bad_differs=dict.fromkeys(
            ("CKV_AWS_20", "CKV_AWS_57", "CKV_AWS_375", "CKV2_AWS_43"),
            by_pack("Checkov does not read the grants of a bucket itself"),
        ),
    ),
    Spelling(
        name="aws_s3_bucket_acl, acl",
        good=_PRIVATE,
        bad={
            "CKV_AWS_20": tuple(_acl(acl=acl) for acl in ("public-read", "public-read-write", "authenticated-read")),
            "CKV_AWS_57": _acl(acl="public-read-write"),
        },
    ),
    Spelling(
        name="aws_s3_bucket_acl, access_control_policy",
        good=_PRIVATE,
        bad={
            "CKV_AWS_20": _acl(**_grants(f"{_GROUPS}AllUsers")),
            "CKV_AWS_57": _acl(**_grants(f"{_GROUPS}AllUsers", permission="WRITE")),
            "CKV_AWS_375": (
                _acl(**_grants(f"{_GROUPS}AllUsers", permission="READ_ACP")),
                _acl(**_grants(f"{_GROUPS}AllUsers", permission="FULL_CONTROL")),
            ),
            "CKV2_AWS_43": _acl(**_grants(f"{_GROUPS}AuthenticatedUsers")),
        },
    ),
    Spelling(
        name="aws_s3_object, acl",
        good={"it": of(tokens.BUCKET_OBJECT, {"bucket": "slipway-models", "key": "a", "acl": "private"})},
        bad={
            "CKV_AWS_20": {
                "it": of(tokens.BUCKET_OBJECT, {"bucket": "slipway-models", "key": "a", "acl": "public-read"})
            }
        },
        bad_differs={"CKV_AWS_20": by_pack("Checkov does not read the ACL of an object")},
    ),
    Spelling(
        name="aws_s3_bucket_public_access_block",
        good=about_bucket(tokens.BUCKET_BLOCK, _FLAGS),
        bad={
            "CKV_AWS_53": _flag("blockPublicAcls"),
            "CKV_AWS_54": _flag("blockPublicPolicy"),
            "CKV_AWS_55": _flag("ignorePublicAcls"),
            "CKV_AWS_56": _flag("restrictPublicBuckets"),
            "CKV2_AWS_6": (bucket(), *_flag("blockPublicAcls"), *_flag("blockPublicPolicy")),
        },
    ),
    Spelling(
        name="aws_s3_bucket, policy",
        good=bucket(policy=_policy(_NAMED)),
        bad={
            "CKV_AWS_70": tuple(bucket(policy=_policy(one)) for one in _OPEN),
            "CKV_AWS_93": (bucket(policy=_policy(_LOCKED)), bucket(policy=_policy(_DENIED))),
        },
    ),
    Spelling(
        name="aws_s3_bucket_policy",
        good=about_bucket(tokens.BUCKET_POLICY, {"policy": _policy(_NAMED)}),
        bad={
            "CKV_AWS_70": tuple(about_bucket(tokens.BUCKET_POLICY, {"policy": _policy(one)}) for one in _OPEN),
            "CKV_AWS_93": (
                about_bucket(tokens.BUCKET_POLICY, {"policy": _policy(_LOCKED)}),
                about_bucket(tokens.BUCKET_POLICY, {"policy": _policy(_DENIED)}),
            ),
        },
    ),
    Spelling(
        name="aws_s3_bucket_policy, a condition",
        good=about_bucket(tokens.BUCKET_POLICY, {"policy": _policy({**_OPEN[0], "Condition": _FROM_ROLE})}),
        bad={
            "CKV_AWS_70": about_bucket(
                tokens.BUCKET_POLICY,
                {"policy": _policy({**_OPEN[0], "Condition": {"Bool": {"aws:SecureTransport": "true"}}})},
            )
        },
    ),
    Spelling(
        name="aws_s3_bucket_acl, TLS",
        good=_PRIVATE,
        bad={
            "CKV_AWS_379": {
                **_acl(acl="public-read"),
                "tls": of(tokens.BUCKET_POLICY, {"policy": document(_NAMED)}, bucket="bucket"),
            }
        },
    ),
    Spelling(
        name="aws_s3_bucket, policy, TLS",
        good=bucket(policy=_policy()),
        bad={"CKV_AWS_379": (bucket(), bucket(policy=document(_NAMED)))},
        bad_differs={
            "CKV_AWS_379": by_pack("Checkov asks for TLS where a bucket has an ACL; the pack wherever it has data")
        },
    ),
    Spelling(
        name="aws_s3_bucket_ownership_controls",
        good=about_bucket(tokens.BUCKET_OWNERSHIP, {"rule": {"objectOwnership": "BucketOwnerEnforced"}}),
        bad={"CKV2_AWS_65": about_bucket(tokens.BUCKET_OWNERSHIP, {"rule": {"objectOwnership": "ObjectWriter"}})},
    ),
    Spelling(
        name="aws_s3_access_point",
        good={"it": _POINT},
        bad={"CKV_AWS_392": {"it": changed(_POINT, "publicAccessBlockConfiguration", dict.fromkeys(_FLAGS, False))}},
    ),
    Spelling(
        name="aws_s3_access_point, one flag",
        good={"it": _POINT},
        bad={
            "CKV_AWS_392": tuple(
                {"it": changed(_POINT, f"publicAccessBlockConfiguration.{flag}", False)} for flag in _FLAGS
            )
        },
        bad_differs={"CKV_AWS_392": by_pack("Checkov reports a point whose flags are all false")},
    ),
)
