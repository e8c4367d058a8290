"""Buckets: private, encrypted, versioned, logged, and retained with their security settings."""

from __future__ import annotations

import pulumi_aws as aws
import pytest

from spec.naming import physical_length
from spec.settings import PROJECT
from tests.components.storage.support import record, statements

PURPOSES = {"checkpoints", "logs", "models", "raw", "state"}
EACH = (
    aws.s3.BucketPublicAccessBlock,
    aws.s3.BucketOwnershipControls,
    aws.s3.BucketServerSideEncryptionConfiguration,
    aws.s3.BucketVersioning,
    aws.s3.BucketLifecycleConfiguration,
    aws.s3.BucketPolicy,
)
PROTECTED = {"environment.protect": True}


def test_there_is_one_bucket_for_each_purpose_with_every_setting() -> None:
    recording = record()
    assert set(recording.of(aws.s3.Bucket)) == {f"storage-{purpose}" for purpose in PURPOSES}
    for kind in EACH:
        buckets = {
            resource.input_sources["bucket"][0].rpartition("storage-")[2] for resource in recording.of(kind).values()
        }
        assert buckets == PURPOSES, kind


def test_nothing_is_public() -> None:
    for block in record().of(aws.s3.BucketPublicAccessBlock).values():
        switches = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
        assert all(block.inputs[switch] is True for switch in switches)


def test_data_is_encrypted_with_kms_and_logs_with_sse_s3() -> None:
    recording = record()
    key = recording.one(aws.kms.Key)
    for name, resource in recording.of(aws.s3.BucketServerSideEncryptionConfiguration).items():
        (rule,) = resource.inputs["rules"]
        default = rule["applyServerSideEncryptionByDefault"]
        if name == "storage-logs-encryption":
            assert default == {"sseAlgorithm": "AES256"}
        else:
            assert default == {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": key.outputs["arn"]}
            assert rule["bucketKeyEnabled"] is True


def test_access_logs_depend_on_the_log_buckets_policy() -> None:
    recording = record()
    delivery = recording.of(aws.s3.BucketPolicy)["storage-logs-policy"]
    logged = recording.of(aws.s3.BucketLogging)
    assert {resource.inputs["targetPrefix"] for resource in logged.values()} == {f"{p}/" for p in PURPOSES - {"logs"}}
    assert all(recording.waits(resource, delivery) for resource in logged.values())
    sources = statements(delivery.inputs["policy"])["AccessLogs"]["Condition"]["ArnLike"]["aws:SourceArn"]
    data = {resource.outputs["arn"] for name, resource in recording.of(aws.s3.Bucket).items() if name != "storage-logs"}
    assert set(sources) == data


def test_a_policy_depends_on_the_public_access_block_and_lifecycle_on_versioning() -> None:
    recording = record()
    for purpose in PURPOSES:
        block = recording.of(aws.s3.BucketPublicAccessBlock)[f"storage-{purpose}-access"]
        assert recording.waits(recording.of(aws.s3.BucketPolicy)[f"storage-{purpose}-policy"], block)
        versioning = recording.of(aws.s3.BucketVersioning)[f"storage-{purpose}-versioning"]
        lifecycle = recording.of(aws.s3.BucketLifecycleConfiguration)[f"storage-{purpose}-lifecycle"]
        assert recording.waits(lifecycle, versioning)


def test_a_retained_bucket_keeps_its_security_settings() -> None:
    recording = record(PROTECTED)
    for kind in (aws.s3.Bucket, *EACH, aws.s3.BucketLogging):
        assert all(resource.retain_on_delete for resource in recording.of(kind).values()), kind
    assert all(resource.protect for resource in recording.of(aws.s3.Bucket).values())


def test_without_protection_everything_is_deleted_and_buckets_only_when_empty() -> None:
    recording = record()
    assert not [resource for resource in recording if resource.retain_on_delete or resource.protect]
    assert {resource.inputs["forceDestroy"] for resource in recording.of(aws.s3.Bucket).values()} == {False}


def test_buckets_are_emptied_only_if_configured() -> None:
    forced = record({"storage.buckets": {"forceDestroy": True}})
    assert {resource.inputs["forceDestroy"] for resource in forced.of(aws.s3.Bucket).values()} == {True}


@pytest.mark.parametrize("purpose", sorted(PURPOSES))
def test_a_buckets_name_fits_the_longest_stack(purpose: str) -> None:
    # Role names limit a stack's name to 22 characters (checks.names.lengths); S3 allows 63.
    assert physical_length(PROJECT, "e" * 22, f"storage-{purpose}") <= 63
