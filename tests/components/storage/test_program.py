"""Protection and retention of data in stack prod."""

import json

from tests.support.stacks import platform_of
from tests.support.stacks import recorded as recording

BUCKETS = {f"storage-{purpose}" for purpose in ("checkpoints", "logs", "models", "raw", "state")}
STATEFUL = {
    *BUCKETS,
    "storage-key",
    "storage-efs-files",
    "storage-lustre-files",
    "storage-mlflow-instance",
    "storage-images-serving",
    "storage-images-training",
}
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
