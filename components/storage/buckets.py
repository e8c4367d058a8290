"""The five buckets. Each is versioned, private and encrypted, and has access logs.

`logs` receives the access logs of the others. It is encrypted with SSE-S3, because S3 doesn't deliver access logs to a
bucket with default encryption by KMS (S3 User Guide, "Enabling Amazon S3 server access logging": "You can use default
bucket encryption on the destination bucket only if you use SSE-S3"; read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.outputs import BucketOutputs
from components.storage.bucket_rules import DATA, LOGS, access_policy, lifecycle, log_policy
from spec.settings import storage as settings


@dataclass(frozen=True, kw_only=True)
class BucketsArgs:
    """Inputs of the buckets.

    Attributes:
        settings: Retention settings.
        key_arn: KMS key of all buckets but `logs`.
        account_id: AWS account, 12 digits.
        protect: Protect them from deletion, and retain them, with their settings, when removed from the stack.
    """

    settings: settings.Buckets
    key_arn: pulumi.Input[str]
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
        opts = pulumi.ResourceOptions(parent=self, protect=self._args.protect, retain_on_delete=self._args.protect)
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
            f"{name}-versioning",
            bucket=bucket.bucket,
            versioning_configuration={"status": "Enabled"},
            opts=self._child,
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
                sse_algorithm="aws:kms", kms_master_key_id=self._args.key_arn
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
