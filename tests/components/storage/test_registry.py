"""The database of an add-on: private, encrypted, with a password managed by RDS."""

import json
from fnmatch import fnmatchcase
from typing import Any, Final

import pulumi_aws as aws

from components.addons.fluent_bit import to_groups
from components.storage.database import final_snapshot
from components.storage.registry import UPSTREAMS, expiry
from spec.settings.checks.storage import WITH_CREDENTIALS
from spec.settings.storage import Upstream
from tests.components.storage.support import record
from tests.support.mocks import providers, run, statements
from tests.support.outputs import cluster_outputs
from tests.support.stacks import platform_of
from tests.support.stacks import recorded as recording

MLFLOW: dict[str, Any] = {"addons.mlflow": {}}


def test_the_name_of_the_final_snapshot_is_that_of_one_database_with_one_key() -> None:
    """A stack that is destroyed and created again has another group and another key; a database whose add-on was off in
    between has another group; one that is replaced because of its key has another key."""
    group, key = "sg-0a1b2c3d4e5f67890", "arn:aws:kms:us-east-1:111122223333:key/bcdc9688-4c1b-4a53-9d5c-2f6f7c0e7a11"
    name = final_snapshot("slipway-dev-mlflow", group, key)
    assert name == "slipway-dev-mlflow-final-0a1b2c3d4e5f67890-bcdc9688"
    assert final_snapshot("slipway-dev-mlflow", group, key) == name
    assert final_snapshot("slipway-dev-mlflow", "sg-0a1b2c3d4e5f67891", key) != name
    assert final_snapshot("slipway-dev-mlflow", group, key.replace("bcdc", "0000")) != name


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


# Image repositories and pull-through caches.


def test_the_rule_for_any_image_is_the_last() -> None:
    rules = json.loads(expiry(untagged_days=3, keep=5))["rules"]
    assert [rule["selection"]["tagStatus"] for rule in rules] == ["untagged", "any"]
    assert [rule["rulePriority"] for rule in rules] == [1, 2]


def test_every_upstream_has_a_url_and_those_with_credentials_are_known() -> None:
    assert set(UPSTREAMS) == set(Upstream) >= WITH_CREDENTIALS


def test_the_cache_prefix_fits_ecrs_30_characters() -> None:
    assert all(len(f"slipway-staging/{upstream}") <= 30 for upstream in Upstream)


TEAMS: Final = {
    "nlp": {"project": "llm", "costCenter": "research", "cpus": {"cpu": {"nominalQuota": 4}}},
    "ads": {"project": "ads", "costCenter": "research", "namespaces": {"train": {"share": 50}, "serve": {"share": 50}},
        "cpus": {"cpu": {"nominalQuota": 4}}},
}  # fmt: skip


def groups(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = record({"teams": TEAMS, "addons.fluentBit": settings, "pools.cpu": {"preset": "cpu"}})
    return {
        str(each.inputs["name"]): dict(each.inputs)
        for each in found.of(aws.cloudwatch.LogGroup).values()
        if "/containers/" in str(each.inputs["name"])
    }


def test_each_namespace_of_a_team_has_a_group_and_the_rest_has_one() -> None:
    made = groups({"retentionDays": 90})
    names = {name.rpartition("/")[2] for name in made}
    assert names == {"nlp", "ads-train", "ads-serve", "platform"}
    assert {each["retentionInDays"] for each in made.values()} == {90}
    assert all(each["kmsKeyId"] for each in made.values())


def test_nothing_is_declared_for_another_destination() -> None:
    assert groups({"destination": "s3"}) == {}


def test_the_key_and_the_writer_cover_the_groups() -> None:
    found = record({"teams": TEAMS, "addons.fluentBit": {}, "pools.cpu": {"preset": "cpu"}})
    policy = statements(next(iter(found.of(aws.kms.Key).values())).inputs["policy"])
    (context,) = policy["LogEncryption"]["Condition"]["ArnLike"].values()
    document = run(lambda: {"policy": to_groups(cluster_outputs(providers()[0]))}).returned["policy"]
    written = json.loads(document)["Statement"][0]["Resource"]
    for name in groups({}):
        group = f"arn:aws:logs:us-east-1:111122223333:log-group:{name}"
        assert any(fnmatchcase(group, pattern) for pattern in context)
        assert any(fnmatchcase(f"{group}:log-stream:pod.main", pattern) for pattern in written)


# Protection and retention of data in stack prod.


BUCKETS = {f"storage-{purpose}" for purpose in ("checkpoints", "logs", "models", "raw", "state")}
STATEFUL = {*BUCKETS, "storage-key", "storage-efs-files", "storage-lustre-files", "storage-mlflow-instance",
    "storage-images-serving", "storage-images-training"}  # fmt: skip
"""Resources with data in production: protected and retained."""
WITH_THEM = {
    *(
        f"{bucket}-{setting}"
        for bucket in BUCKETS
        for setting in ("access", "encryption", "lifecycle", "ownership", "policy", "versioning")
    ),
    *(f"{bucket}-logging" for bucket in BUCKETS - {"storage-logs"}),
    "storage-efs-backup",
    "storage-efs-datasets",
    "storage-efs-models",
    "storage-efs-policy",
    "storage-lustre-checkpoints",
    "storage-lustre-raw",
    "storage-mlflow-logs-postgresql",
    "storage-mlflow-logs-upgrade",
    "storage-mlflow-monitoring",
    "storage-mlflow-monitoring-policy",
    "storage-mlflow-parameters",
    "storage-mlflow-subnets",
}
"""Security settings, network access and links: retained, so that retained data doesn't become public."""


def _own(stack: str, option: str) -> set[str]:
    return {
        one.name
        for one in recording(stack).resources.values()
        if one.custom and one.name.startswith("storage-") and getattr(one.options, option)
    }


def test_in_production_exactly_resources_with_data_are_protected() -> None:
    assert _own("prod", "protect") == STATEFUL


def test_in_production_exactly_data_and_its_security_settings_are_retained() -> None:
    assert _own("prod", "retain_on_delete") == STATEFUL | WITH_THEM | _directories("prod")


def test_without_protection_only_teams_directories_are_retained() -> None:
    assert _own("dev", "protect") == set()
    assert _own("dev", "retain_on_delete") == _directories("dev")


def test_the_mountpoint_driver_reads_buckets_of_these_names_and_writes_none() -> None:
    for stack, purposes in (("dev", {"models"}), ("prod", {"models"})):
        resources = recording(stack).resources.values()
        (policy,) = (each for each in resources if each.name == "addons-late-role-s3-csi-policy")
        statements = json.loads(policy.inputs.plain["policy"])["Statement"]
        assert {action for each in statements for action in each["Action"]} == {"s3:GetObject", "s3:ListBucket"}
        named = {arn.partition(":::")[2].partition("/")[0] for each in statements for arn in each["Resource"]}
        assert named == {f"slipway-{stack}-storage-{purpose}-*" for purpose in purposes}
        assert {f"storage-{purpose}" for purpose in purposes} <= BUCKETS
        (key,) = (each for each in resources if each.name == "storage-drivers-s3-csi")
        assert [each["Action"] for each in json.loads(key.inputs.plain["policy"])["Statement"]] == [["kms:Decrypt"]]


def _directories(stack: str) -> set[str]:
    platform = platform_of(stack)
    buckets = ("raw", "checkpoints") if platform.storage.lustre else ()
    return {f"storage-lustre-{bucket}-directory-{team}" for bucket in buckets for team in platform.teams}
