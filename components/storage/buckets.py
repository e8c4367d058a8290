"""The five buckets. Each is versioned, private and encrypted, and has access logs.

`logs` receives the access logs of the others. It is encrypted with SSE-S3, because S3 doesn't deliver access logs to a
bucket with default encryption by KMS (S3 User Guide, "Enabling Amazon S3 server access logging": "You can use default
bucket encryption on the destination bucket only if you use SSE-S3"; read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Statement, document
from components.base.outputs import BucketOutputs
from spec.settings import storage as settings
from spec.settings.storage import Buckets as Settings

ARTIFACTS: Final = "argo"  # prefix in the bucket `state` of artifacts that workflow steps pass to one another

CONTAINER_LOGS: Final = "containers"  # prefix in the bucket `logs` of the logs of containers, if they are sent to S3

COSTS: Final = "costs"
"""Prefix in the bucket `state` of Kubecost's data. It differs from "kubecost": Kubecost doesn't add the prefix to a
path that already begins with it (opencost, core/pkg/storage/prefixedbucketstorage.go, `conditionalPrefix`; read
2026-11)."""


def artifacts_of(namespace: str) -> str:
    """Prefix in the bucket `state` of the artifacts of one namespace: only its pods can write here."""
    return f"{ARTIFACTS}/{namespace}/"


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
        "AccessLogs",
        ["s3:PutObject"],
        [f"{bucket_arn}/*"],
        principals={"Service": ["logging.s3.amazonaws.com"]},
        conditions={"ArnLike": {"aws:SourceArn": list(sources)}, "StringEquals": {"aws:SourceAccount": [account_id]}},
    )
    return document(*_transport(bucket_arn), delivery)


def _transport(bucket_arn: str) -> tuple[Statement, Statement]:
    def deny(sid: str, operator: str, key: str, value: str) -> Statement:
        return Statement(
            sid,
            ["s3:*"],
            [bucket_arn, f"{bucket_arn}/*"],
            effect="Deny",
            principals={"AWS": ["*"]},
            conditions={operator: {key: [value]}},
        )

    return (
        deny("OnlyEncryptedTransport", "Bool", "aws:SecureTransport", "false"),
        deny("OnlyModernTransport", "NumericLessThan", "s3:TlsVersion", "1.2"),
    )


def lifecycle(purpose: str, settings: Settings) -> list[dict[str, Any]]:
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


@dataclass(frozen=True, kw_only=True)
class BucketsArgs:
    """Inputs of the buckets.

    Attributes:
        settings: Retention settings.
        key: KMS key of all buckets but `logs`.
        account_id: AWS account, 12 digits.
        protect: Protect them from deletion, and retain them, with their settings, when removed from the stack.
    """

    settings: settings.Buckets
    key: aws.kms.Key
    account_id: str
    protect: bool


class Buckets(pulumi.ComponentResource):
    """Buckets by purpose."""

    PULUMI_TYPE: Final = "slipway:storage:Buckets"

    outputs: Mapping[str, BucketOutputs]

    def __init__(self, name: str, args: BucketsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        # A retained bucket keeps its settings: without one of them it could become public.
        self._child = pulumi.ResourceOptions(parent=self, retain_on_delete=args.protect)
        buckets = {purpose: self._bucket(purpose) for purpose in (*DATA, LOGS)}
        closed = {purpose: self._close(purpose, bucket) for purpose, bucket in buckets.items()}
        delivery = self._policy(LOGS, buckets[LOGS], self._log_policy(buckets), closed[LOGS])
        for purpose in DATA:
            bucket = buckets[purpose]
            self._policy(purpose, bucket, bucket.arn.apply(access_policy), closed[purpose])
            self._log(purpose, bucket, buckets[LOGS], delivery)
        self.outputs = {
            purpose: BucketOutputs(name=bucket.bucket, arn=bucket.arn) for purpose, bucket in buckets.items()
        }
        self.register_outputs({})

    def _bucket(self, purpose: str) -> aws.s3.Bucket:
        opts = pulumi.ResourceOptions(
            parent=self,
            protect=self._args.protect,
            retain_on_delete=self._args.protect,
            # S3 refuses to delete a bucket with objects: then the key of the objects must stay, too.
            depends_on=[] if purpose == LOGS else [self._args.key],
        )
        return aws.s3.Bucket(f"{self._name}-{purpose}", force_destroy=self._args.settings.force_destroy, opts=opts)

    def _close(self, purpose: str, bucket: aws.s3.Bucket) -> pulumi.Resource:
        """Declare the security settings of a bucket; return the dependency of its policy."""
        name = f"{self._name}-{purpose}"
        block = aws.s3.BucketPublicAccessBlock(
            f"{name}-access",
            bucket=bucket.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self._child,
        )
        aws.s3.BucketOwnershipControls(
            f"{name}-ownership",
            bucket=bucket.bucket,
            rule={"object_ownership": "BucketOwnerEnforced"},
            opts=self._child,
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption", bucket=bucket.bucket, rules=[self._encryption(purpose)], opts=self._child
        )
        versioning = aws.s3.BucketVersioning(
            f"{name}-versioning", bucket=bucket.bucket, versioning_configuration={"status": "Enabled"}, opts=self._child
        )
        rules = [
            aws.s3.BucketLifecycleConfigurationRuleArgs(**rule) for rule in lifecycle(purpose, self._args.settings)
        ]
        # Rules for noncurrent versions need versioning to be enabled first.
        after = pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=[versioning]))
        aws.s3.BucketLifecycleConfiguration(f"{name}-lifecycle", bucket=bucket.bucket, rules=rules, opts=after)
        return block

    def _encryption(self, purpose: str) -> aws.s3.BucketServerSideEncryptionConfigurationRuleArgs:
        default = aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs
        if purpose == LOGS:
            return aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                apply_server_side_encryption_by_default=default(sse_algorithm="AES256")
            )
        return aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
            apply_server_side_encryption_by_default=default(
                sse_algorithm="aws:kms", kms_master_key_id=self._args.key.arn
            ),
            # A bucket key avoids a KMS call for every object: a training job reads millions.
            bucket_key_enabled=True,
        )

    def _policy(
        self, purpose: str, bucket: aws.s3.Bucket, policy: pulumi.Input[str], after: pulumi.Resource
    ) -> aws.s3.BucketPolicy:
        """S3 allows one change of a bucket's access at a time, so the policy depends on the public access block."""
        opts = pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=[after]))
        return aws.s3.BucketPolicy(f"{self._name}-{purpose}-policy", bucket=bucket.bucket, policy=policy, opts=opts)

    def _log_policy(self, buckets: Mapping[str, aws.s3.Bucket]) -> pulumi.Output[str]:
        sources = pulumi.Output.all(*(buckets[purpose].arn for purpose in DATA))
        account = self._args.account_id
        return pulumi.Output.all(logs=buckets[LOGS].arn, sources=sources).apply(
            lambda known: log_policy(known["logs"], known["sources"], account)
        )

    def _log(self, purpose: str, bucket: aws.s3.Bucket, logs: aws.s3.Bucket, delivery: pulumi.Resource) -> None:
        aws.s3.BucketLogging(
            f"{self._name}-{purpose}-logging",
            bucket=bucket.bucket,
            target_bucket=logs.bucket,
            target_prefix=f"{purpose}/",
            opts=pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=[delivery])),
        )
