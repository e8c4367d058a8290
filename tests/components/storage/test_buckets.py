"""Bucket policies and lifecycle rules."""

import json
from typing import Any

import pulumi_aws as aws
import pytest

from components.storage.buckets import COSTS, access_policy, artifacts_of, lifecycle, log_policy
from components.storage.key import data_key_use, key_alias, key_policy, volume_key_use
from spec.catalog import regions
from spec.naming import physical_length
from spec.settings import PROJECT
from spec.settings.storage import Buckets
from tests.components.storage.support import record
from tests.support.mocks import statements

ARN = "arn:aws:s3:::bucket"


def _buckets(**settings: Any) -> Buckets:
    return Buckets.model_validate(settings)


def test_access_requires_tls_1_2() -> None:
    by_sid = statements(access_policy(ARN))
    assert {statement["Effect"] for statement in by_sid.values()} == {"Deny"}
    assert by_sid["OnlyEncryptedTransport"]["Condition"] == {"Bool": {"aws:SecureTransport": ["false"]}}
    assert by_sid["OnlyModernTransport"]["Condition"] == {"NumericLessThan": {"s3:TlsVersion": ["1.2"]}}
    for statement in by_sid.values():
        assert statement["Resource"] == [ARN, f"{ARN}/*"]
        assert statement["Action"] == ["s3:*"]


def test_access_logs_are_accepted_only_from_the_buckets_of_this_account() -> None:
    delivery = statements(log_policy(ARN, ["arn:aws:s3:::raw"], "111122223333"))["AccessLogs"]
    assert delivery["Principal"] == {"Service": ["logging.s3.amazonaws.com"]}
    assert delivery["Action"] == ["s3:PutObject"]
    assert delivery["Condition"] == {
        "ArnLike": {"aws:SourceArn": ["arn:aws:s3:::raw"]},
        "StringEquals": {"aws:SourceAccount": ["111122223333"]},
    }


def test_the_log_bucket_requires_tls_too() -> None:
    assert set(statements(access_policy(ARN))) < set(statements(log_policy(ARN, [], "111122223333")))


@pytest.mark.parametrize("purpose", ["checkpoints", "logs", "models", "raw", "state"])
def test_incomplete_uploads_and_old_versions_expire_in_every_bucket(purpose: str) -> None:
    rules = {rule["id"]: rule for rule in lifecycle(purpose, _buckets(noncurrentDays=9))}
    assert rules["incomplete-uploads"]["abort_incomplete_multipart_upload"] == {"days_after_initiation": 7}
    assert rules["noncurrent-versions"]["noncurrent_version_expiration"] == {"noncurrent_days": 9}
    assert all(rule["status"] == "Enabled" for rule in rules.values())
    assert all(rule["filter"] == {} for name, rule in rules.items() if name not in ("artifacts", "expiry"))


def test_directories_of_teams_do_not_expire() -> None:
    (rule,) = (rule for rule in lifecycle("checkpoints", _buckets()) if rule["id"] == "expiry")
    assert rule["filter"] == {"object_size_greater_than": 1}


def test_only_artifacts_of_the_state_bucket_expire() -> None:
    (rule,) = (rule for rule in lifecycle("state", _buckets(artifactDays=4)) if "days" in rule.get("expiration", {}))
    assert rule["expiration"] == {"days": 4}
    prefix = rule["filter"]["prefix"]
    assert rule["filter"] == {"prefix": prefix}
    assert artifacts_of("nlp").startswith(prefix)
    assert not f"{COSTS}/federated/".startswith(prefix)


def test_only_checkpoints_logs_and_artifacts_expire() -> None:
    settings = _buckets(checkpointDays=5, logDays=6, artifactDays=7)
    days = {
        purpose: rule["expiration"]["days"]
        for purpose in ("checkpoints", "logs", "models", "raw", "state")
        for rule in lifecycle(purpose, settings)
        if "days" in rule.get("expiration", {})
    }
    assert days == {"checkpoints": 5, "logs": 6, "state": 7}


def test_expiry_of_checkpoints_and_artifacts_can_be_disabled() -> None:
    settings = _buckets(checkpointDays=None, artifactDays=None)
    ids = {rule["id"] for purpose in ("checkpoints", "state") for rule in lifecycle(purpose, settings)}
    assert ids.isdisjoint({"expiry", "artifacts"})


def test_only_raw_data_moves_to_another_storage_class() -> None:
    moved = {
        purpose: rule["transitions"]
        for purpose in ("checkpoints", "logs", "models", "raw", "state")
        for rule in lifecycle(purpose, _buckets(tierRawAfterDays=3))
        if "transitions" in rule
    }
    assert moved == {"raw": [{"days": 3, "storage_class": "INTELLIGENT_TIERING"}]}
    assert "tiering" not in {rule["id"] for rule in lifecycle("raw", _buckets(tierRawAfterDays=None))}


PURPOSES = {"checkpoints", "logs", "models", "raw", "state"}
EACH = (aws.s3.BucketPublicAccessBlock, aws.s3.BucketOwnershipControls, aws.s3.BucketServerSideEncryptionConfiguration,
    aws.s3.BucketVersioning, aws.s3.BucketLifecycleConfiguration, aws.s3.BucketPolicy)  # fmt: skip
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


@pytest.mark.parametrize("purpose", sorted(PURPOSES))
def test_a_buckets_name_fits_the_longest_stack(purpose: str) -> None:
    # Role names limit a stack's name to 22 characters (checks.names.lengths); S3 allows 63.
    assert physical_length(PROJECT, "e" * 22, f"storage-{purpose}") <= 63


PLACE = {"cluster": "slipway-test", "region": "us-east-1", "account_id": "111122223333"}


def test_without_lustre_only_volumes_have_a_statement_of_their_own() -> None:
    by_sid = statements(key_policy(regions.get("us-east-1"), "111122223333", lustre=False))
    assert list(by_sid) == ["AccountAdministration", "Volumes"]


def test_volumes_are_encrypted_only_through_ec2_by_principals_of_the_account() -> None:
    by_sid = statements(key_policy(regions.get("us-gov-west-1"), "111122223333", lustre=False))["Volumes"]
    assert by_sid["Condition"] == {
        "StringEquals": {"kms:CallerAccount": ["111122223333"], "kms:ViaService": ["ec2.us-gov-west-1.amazonaws.com"]}
    }
    assert "kms:CreateGrant" in by_sid["Action"]
    assert "kms:*" not in by_sid["Action"]


def test_conditions_select_only_the_roles_of_lustre() -> None:
    by_sid = statements(key_policy(regions.get("us-gov-west-1"), "111122223333", lustre=True))["LustreLinks"]
    (role,) = by_sid["Condition"]["ArnLike"]["aws:PrincipalArn"]
    assert role.startswith("arn:aws-us-gov:iam::111122223333:role/aws-service-role/s3.data-source.lustre.fsx.")
    assert by_sid["Condition"]["StringEquals"] == {
        "kms:CallerAccount": ["111122223333"],
        "kms:ViaService": ["s3.us-gov-west-1.amazonaws.com"],
    }
    assert not any("CreateGrant" in action or action == "kms:*" for action in by_sid["Action"])


def test_statements_select_the_key_by_alias_and_one_service() -> None:
    alias = record().one(aws.kms.Alias)
    assert alias.inputs["name"] == key_alias("slipway-test")
    statement = data_key_use(**PLACE).render()
    assert statement["Condition"] == {
        "ForAnyValue:StringEquals": {"kms:ResourceAliases": [alias.inputs["name"]]},
        "StringEquals": {"kms:ViaService": ["s3.us-east-1.amazonaws.com"]},
    }


def test_grants_are_only_for_the_service() -> None:
    use, grant = (statement.render() for statement in volume_key_use("ec2", **PLACE))
    assert grant["Action"] == ["kms:CreateGrant"]
    assert grant["Condition"]["Bool"] == {"kms:GrantIsForAWSResource": ["true"]}
    assert "kms:CreateGrant" not in use["Action"]
    assert json.dumps(grant["Condition"]).count("ec2.us-east-1.amazonaws.com") == 1
