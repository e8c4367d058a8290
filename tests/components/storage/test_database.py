"""The database of an add-on: private, encrypted, with a password managed by RDS."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pulumi_aws as aws
import pytest

from tests.components.storage.support import record, statements

MLFLOW: dict[str, Any] = {"addons.mlflow": {}}
SAFE = {"database": {"deletionProtection": True, "multiAz": True, "backupRetentionPeriod": 35}}


def test_without_an_add_on_that_needs_one_there_is_no_database() -> None:
    assert not record().of(aws.rds.Instance)


def test_it_is_private_and_encrypted_with_the_kms_key() -> None:
    recording = record(MLFLOW)
    instance, key = recording.one(aws.rds.Instance).inputs, recording.one(aws.kms.Key).outputs["arn"]
    assert instance["publiclyAccessible"] is False
    assert instance["storageEncrypted"] is True
    assert (instance["kmsKeyId"], instance["masterUserSecretKmsKeyId"]) == (key, key)
    assert recording.one(aws.rds.SubnetGroup).inputs["subnetIds"] == ["subnet-private-a", "subnet-private-b"]


def test_no_input_or_output_contains_a_password() -> None:
    instance = record(MLFLOW).one(aws.rds.Instance)
    assert instance.inputs["manageMasterUserPassword"] is True
    assert not {"password", "passwordWo"} & set(instance.inputs)


def test_it_accepts_only_tls_from_nodes() -> None:
    recording = record(MLFLOW)
    parameters = {one["name"]: one["value"] for one in recording.one(aws.rds.ParameterGroup).inputs["parameters"]}
    assert parameters["rds.force_ssl"] == "1"
    rule = recording.one(aws.vpc.SecurityGroupIngressRule)
    assert (rule.inputs["fromPort"], rule.inputs["toPort"]) == (5432, 5432)
    assert "cidrIpv4" not in rule.inputs
    assert not recording.of(aws.vpc.SecurityGroupEgressRule)


def test_a_final_snapshot_is_taken_unless_disabled() -> None:
    kept = record(MLFLOW).one(aws.rds.Instance).inputs
    assert (kept["skipFinalSnapshot"], kept["finalSnapshotIdentifier"]) == (False, "slipway-test-mlflow-final")
    gone = record({"addons.mlflow": {"database": {"finalSnapshot": False}}}).one(aws.rds.Instance).inputs
    assert gone["skipFinalSnapshot"] is True
    assert "finalSnapshotIdentifier" not in gone


def test_standby_backups_and_protection_are_settings() -> None:
    instance = record({"addons.mlflow": SAFE}).one(aws.rds.Instance).inputs
    assert (instance["multiAz"], instance["backupRetentionPeriod"], instance["deletionProtection"]) == (True, 35, True)


@pytest.mark.parametrize("kind", [aws.rds.Instance, aws.rds.SubnetGroup, aws.rds.ParameterGroup, aws.iam.Role])
def test_a_protected_database_is_retained_with_its_dependencies(kind: Any) -> None:
    recording = record({"addons.mlflow": SAFE, "environment.protect": True})
    assert recording.one(kind).retain_on_delete
    assert recording.one(aws.rds.Instance).protect


def test_minor_versions_are_applied_automatically() -> None:
    instance = record(MLFLOW).one(aws.rds.Instance).inputs
    assert (instance["autoMinorVersionUpgrade"], instance["engineVersion"].isdigit()) == (True, True)


def test_grown_storage_is_not_drift() -> None:
    assert record(MLFLOW).one(aws.rds.Instance).ignore_changes == ("allocatedStorage",)


def test_the_instance_depends_on_log_groups_with_retention_and_key() -> None:
    recording = record({**MLFLOW, "cluster.logRetentionDays": 14})
    instance, groups = recording.one(aws.rds.Instance), recording.of(aws.cloudwatch.LogGroup)
    names = {resource.inputs["name"] for resource in groups.values()}
    exported = instance.inputs["enabledCloudwatchLogsExports"]
    assert names == {f"/aws/rds/instance/{instance.inputs['identifier']}/{kind}" for kind in exported}
    assert all(resource.inputs["retentionInDays"] == 14 for resource in groups.values())
    assert all(recording.waits(instance, resource) for resource in groups.values())
    encryption = statements(recording.one(aws.kms.Key).inputs["policy"])["LogEncryption"]
    (pattern,) = encryption["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]
    arns = [f"arn:aws:logs:us-east-1:111122223333:log-group:{name}" for name in names]
    assert all(fnmatchcase(arn, pattern) for arn in arns)


def test_the_instance_depends_on_the_policy_of_the_monitoring_role() -> None:
    recording = record(MLFLOW)
    instance, policy = recording.one(aws.rds.Instance), recording.one(aws.iam.RolePolicyAttachment)
    assert instance.inputs["monitoringInterval"] == 60
    assert recording.waits(instance, policy)
