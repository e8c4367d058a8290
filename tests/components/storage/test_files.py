"""The file systems: access, links to buckets, retention."""

import json
from typing import Any

import pulumi_aws as aws
import pytest

from components.storage.efs import access_policy
from spec.catalog import addons
from tests.components.storage.support import record, statements

EFS: dict[str, Any] = {"storage.efs": {}}
LUSTRE: dict[str, Any] = {"storage.lustre": {"storageCapacity": 2400}}
SCRATCH: dict[str, Any] = {"storage.lustre": {"deploymentType": "SCRATCH_2"}}
TEAM = {"project": "models", "costCenter": "research", "cpus": {"cpu": {"nominalQuota": 4}}}


def test_without_file_systems_the_one_class_is_of_block_storage() -> None:
    assert record().returned["classes"] == {"block": "gp3"}


def test_mount_targets_wait_for_the_rule_that_lets_nodes_in() -> None:
    recording = record(EFS)
    rule = recording.one(aws.vpc.SecurityGroupIngressRule)
    assert all(recording.waits(resource, rule) for resource in recording.of(aws.efs.MountTarget).values())


def test_access_requires_a_role_tls_and_an_access_point_and_denies_root() -> None:
    role = "arn:aws:iam::111122223333:role/mounts"
    by_sid = statements(access_policy("arn:aws:elasticfilesystem:us-east-1:111122223333:file-system/fs-1", role))
    allowed = by_sid["ThroughAccessPoints"]
    assert [each["Principal"] for each in by_sid.values() if each["Effect"] == "Allow"] == [{"AWS": [role]}]
    assert allowed["Condition"]["Null"] == {"elasticfilesystem:AccessPointArn": ["false"]}
    assert allowed["Action"] == ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]
    denied = by_sid["OnlyEncryptedTransport"]
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": ["false"]}})


def test_the_role_of_the_drivers_node_pods_may_mount_and_nothing_else() -> None:
    recording = record(EFS)
    role = recording.of(aws.iam.Role)["storage-efs-mounts"]
    (trust,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    account = trust["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-service-account"]
    assert account == ["efs-csi-node-sa"]
    assert account[0] in addons.get("aws-efs-csi-driver").service_accounts
    policy = recording.one(aws.efs.FileSystemPolicy).inputs["policy"]
    allowed = statements(policy)["ThroughAccessPoints"]
    assert allowed["Principal"] == {"AWS": [role.outputs["arn"]]}
    own = statements(recording.of(aws.iam.RolePolicy)["storage-efs-mounts-policy"].inputs["policy"])
    assert own == {"ThroughAccessPoints": {key: value for key, value in allowed.items() if key != "Principal"}}


def test_its_ports_are_open_only_between_servers_and_nodes() -> None:
    recording = record(LUSTRE)
    group = (recording.of(aws.ec2.SecurityGroup)["storage-lustre-group"].urn,)
    rules = {
        *recording.of(aws.vpc.SecurityGroupIngressRule).values(),
        *recording.of(aws.vpc.SecurityGroupEgressRule).values(),
    }
    ends = {
        (
            rule.input_sources["securityGroupId"] == group,
            rule.input_sources["referencedSecurityGroupId"] == group,
            rule.type,
        )
        for rule in rules
    }
    into = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    out = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
    assert ends == {(True, True, into), (True, True, out), (True, False, into), (True, False, out), (False, True, into)}
    assert {(rule.inputs["fromPort"], rule.inputs["toPort"]) for rule in rules} == {(988, 988), (1018, 1023)}
    assert all(recording.waits(recording.one(aws.fsx.LustreFileSystem), rule) for rule in rules)


@pytest.mark.parametrize("changes", [LUSTRE, SCRATCH], ids=["persistent", "scratch"])
def test_buckets_are_linked_with_import_and_export_and_links_keep_files(changes: dict[str, Any]) -> None:
    recording = record(changes)
    links = recording.of(aws.fsx.DataRepositoryAssociation)
    assert {link.inputs["fileSystemPath"] for link in links.values()} == {"/raw", "/checkpoints"}
    for name, link in links.items():
        bucket = recording.of(aws.s3.Bucket)[f"storage-{name.rpartition('-')[2]}"]
        assert link.inputs["dataRepositoryPath"] == f"s3://{bucket.outputs['bucket']}"
        assert link.inputs["deleteDataInFilesystem"] is False
        events = {"events": ["NEW", "CHANGED", "DELETED"]}
        assert link.inputs["s3"] == {"autoExportPolicy": events, "autoImportPolicy": events}


def test_each_team_has_a_retained_directory_in_both_buckets() -> None:
    recording = record({**LUSTRE, "teams": {"vision": TEAM, "language": TEAM}})
    directories = recording.of(aws.s3.BucketObjectv2)
    assert set(directories) == {
        f"storage-lustre-{fileset}-directory-{team}"
        for fileset in ("raw", "checkpoints")
        for team in ("vision", "language")
    }
    assert {directory.inputs["key"] for directory in directories.values()} == {"vision/", "language/"}
    assert all(directory.retain_on_delete for directory in directories.values())
    for fileset, mode in (("raw", "0040755"), ("checkpoints", "0040777")):
        link = recording.of(aws.fsx.DataRepositoryAssociation)[f"storage-lustre-{fileset}"]
        bucket = recording.of(aws.s3.Bucket)[f"storage-{fileset}"].outputs["bucket"]
        own = [directory for name, directory in directories.items() if f"-{fileset}-directory-" in name]
        assert all(directory.inputs["bucket"] == bucket for directory in own)
        assert all(directory.inputs["metadata"]["file-permissions"] == mode for directory in own)
        assert all(recording.waits(link, directory) for directory in own)


def test_protected_file_systems_are_retained_with_policies_and_links() -> None:
    recording = record({**EFS, **LUSTRE, "environment.protect": True})
    kept = (aws.efs.FileSystem, aws.fsx.LustreFileSystem)
    assert all(
        resource.protect and resource.retain_on_delete for kind in kept for resource in recording.of(kind).values()
    )
    with_them = (aws.efs.FileSystemPolicy, aws.efs.AccessPoint, aws.fsx.DataRepositoryAssociation)
    assert all(resource.retain_on_delete for kind in with_them for resource in recording.of(kind).values())


def test_a_volume_depends_on_mount_targets_links_and_classes() -> None:
    recording = record({**EFS, **LUSTRE})
    ready = {urn.rpartition("::")[2] for urn in recording.returned["ready"]}
    assert {"storage-efs-a", "storage-efs-b", "storage-lustre-raw", "storage-lustre-checkpoints"} <= ready
    assert {"storage-class-block", "storage-class-shared", "storage-class-lustre"} <= ready


def test_a_first_preview_declares_the_same_resources() -> None:
    changes = {**EFS, **LUSTRE, "addons.mlflow": {}}
    assert {resource.urn for resource in record(changes, preview=True)} == {
        resource.urn for resource in record(changes)
    }
    assert record(changes).default_provider_users == ()
