"""The database of an add-on: private, encrypted, with a password that only RDS and its reader know."""

from __future__ import annotations

from typing import Any

import pulumi_aws as aws
import pytest

from tests.components.storage.support import record

MLFLOW: dict[str, Any] = {"addons.mlflow": {}}
SAFE = {"database": {"deletionProtection": True, "multiAz": True, "backupDays": 35}}


def test_there_is_none_where_nothing_needs_one() -> None:
    assert not record().of(aws.rds.Instance)


def test_it_is_private_and_encrypted_with_our_key() -> None:
    recording = record(MLFLOW)
    instance, key = recording.one(aws.rds.Instance).inputs, recording.one(aws.kms.Key).outputs["arn"]
    assert instance["publiclyAccessible"] is False
    assert instance["storageEncrypted"] is True
    assert (instance["kmsKeyId"], instance["masterUserSecretKmsKeyId"]) == (key, key)
    assert recording.one(aws.rds.SubnetGroup).inputs["subnetIds"] == ["subnet-private-a", "subnet-private-b"]


def test_no_password_is_in_an_input_or_an_output_of_ours() -> None:
    instance = record(MLFLOW).one(aws.rds.Instance)
    assert instance.inputs["manageMasterUserPassword"] is True
    assert not {"password", "passwordWo"} & set(instance.inputs)


def test_it_speaks_tls_alone_to_nodes_alone() -> None:
    recording = record(MLFLOW)
    (parameter,) = recording.one(aws.rds.ParameterGroup).inputs["parameters"]
    assert (parameter["name"], parameter["value"]) == ("rds.force_ssl", "1")
    rule = recording.one(aws.vpc.SecurityGroupIngressRule)
    assert (rule.inputs["fromPort"], rule.inputs["toPort"]) == (5432, 5432)
    assert "cidrIpv4" not in rule.inputs
    assert not recording.of(aws.vpc.SecurityGroupEgressRule)


def test_a_last_snapshot_is_taken_unless_the_settings_say_no() -> None:
    kept = record(MLFLOW).one(aws.rds.Instance).inputs
    assert (kept["skipFinalSnapshot"], kept["finalSnapshotIdentifier"]) == (False, "slipway-test-mlflow-final")
    gone = record({"addons.mlflow": {"database": {"finalSnapshot": False}}}).one(aws.rds.Instance).inputs
    assert gone["skipFinalSnapshot"] is True
    assert "finalSnapshotIdentifier" not in gone


def test_standby_backups_and_protection_are_settings() -> None:
    instance = record({"addons.mlflow": SAFE}).one(aws.rds.Instance).inputs
    assert (instance["multiAz"], instance["backupRetentionPeriod"], instance["deletionProtection"]) == (True, 35, True)


@pytest.mark.parametrize("kind", [aws.rds.Instance, aws.rds.SubnetGroup, aws.rds.ParameterGroup])
def test_a_protected_one_stays_with_what_it_stands_on(kind: Any) -> None:
    recording = record({"addons.mlflow": SAFE, "environment.protect": True})
    assert recording.one(kind).retain_on_delete
    assert recording.one(aws.rds.Instance).protect


def test_storage_that_grew_is_no_drift() -> None:
    assert record(MLFLOW).one(aws.rds.Instance).ignore_changes == ("allocatedStorage",)
