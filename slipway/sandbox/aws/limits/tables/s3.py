"""S3."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

OPERATIONS = (
    sends(
        "aws:s3/bucket:Bucket", "s3", "create_bucket put_bucket_tagging",
        members={"tags": "Tagging.TagSet", "objectLockEnabled": "ObjectLockEnabledForBucket"},
        other_type="accelerationStatus acl corsRules grants lifecycleRules logging objectLockConfiguration policy "
        "replicationConfiguration requestPayer serverSideEncryptionConfiguration versioning website",
    ),
    sends(
        "aws:s3/bucketVersioning:BucketVersioning", "s3", "put_bucket_versioning",
        members={"mfa": "MFA", "versioningConfiguration.mfaDelete": "MFADelete"},
    ),
    sends(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration", "s3",
        "put_bucket_encryption", wrap="ServerSideEncryptionConfiguration",
        members={"rules.applyServerSideEncryptionByDefault.kmsMasterKeyId": "KMSMasterKeyID"},
    ),
    sends(
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "s3", "put_public_access_block",
        wrap="PublicAccessBlockConfiguration",
    ),
    sends(
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "s3", "put_bucket_lifecycle_configuration",
        wrap="LifecycleConfiguration", provider="timeouts",
    ),
    sends(
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls", "s3", "put_bucket_ownership_controls",
        members={"rule": "OwnershipControls.Rules"},
    ),
    sends("aws:s3/bucketPolicy:BucketPolicy", "s3", "put_bucket_policy"),
    sends(
        "aws:s3/bucketLogging:BucketLogging", "s3", "put_bucket_logging",
        members={
            "targetBucket": "BucketLoggingStatus.LoggingEnabled.TargetBucket",
            "targetPrefix": "BucketLoggingStatus.LoggingEnabled.TargetPrefix",
            "targetGrants": "BucketLoggingStatus.LoggingEnabled.TargetGrants",
            "targetObjectKeyFormat": "BucketLoggingStatus.LoggingEnabled.TargetObjectKeyFormat",
        },
    ),
    sends(
        "aws:s3/bucketObjectv2:BucketObjectv2", "s3", "put_object",
        members={
            "kmsKeyId": "SSEKMSKeyId", "etag": "ContentMD5", "objectLockRetainUntilDate": "ObjectLockRetainUntilDate",
            "websiteRedirect": "WebsiteRedirectLocation",
        },
        provider="source sourceHash overrideProvider",
        rendered="content contentBase64 tags",
    ),
)  # fmt: skip
