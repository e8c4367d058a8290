"""The database of an add-on: private, encrypted, with a password managed by RDS."""

from fnmatch import fnmatchcase
from typing import Any

import pulumi_aws as aws
import pytest

from components.storage.database import final_snapshot
from tests.components.storage.support import record, statements

MLFLOW: dict[str, Any] = {"addons.mlflow": {}}
SAFE = {"database": {"deletionProtection": True, "multiAz": True, "backupRetentionPeriod": 35}}


def test_the_name_of_the_final_snapshot_is_that_of_one_database_with_one_key() -> None:
    """A stack that is destroyed and created again has another group and another key; a database whose add-on was off in
    between has another group; one that is replaced because of its key has another key."""
    group, key = "sg-0a1b2c3d4e5f67890", "arn:aws:kms:us-east-1:111122223333:key/bcdc9688-4c1b-4a53-9d5c-2f6f7c0e7a11"
    name = final_snapshot("slipway-dev-mlflow", group, key)
    assert name == "slipway-dev-mlflow-final-0a1b2c3d4e5f67890-bcdc9688"
    assert final_snapshot("slipway-dev-mlflow", group, key) == name
    assert final_snapshot("slipway-dev-mlflow", "sg-0a1b2c3d4e5f67891", key) != name
    assert final_snapshot("slipway-dev-mlflow", group, key.replace("bcdc", "0000")) != name


@pytest.mark.parametrize("kind", [aws.rds.Instance, aws.rds.SubnetGroup, aws.rds.ParameterGroup, aws.iam.Role])
def test_a_protected_database_is_retained_with_its_dependencies(kind: Any) -> None:
    recording = record({"addons.mlflow": SAFE, "environment.protect": True})
    assert recording.one(kind).retain_on_delete
    assert recording.one(aws.rds.Instance).protect


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
