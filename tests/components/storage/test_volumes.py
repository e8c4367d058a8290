"""Volumes and claims of a team: backing storage, and the binding of volume and claim."""

import json
from typing import Any
from uuid import uuid4

import pulumi
import pulumi_aws as aws
import pytest

from components.base.iam import PodRole
from components.base.outputs import BucketOutputs, EfsOutputs, LustreOutputs, StorageOutputs
from components.storage import drivers
from components.storage.efs import access_policy
from components.storage.volumes import VolumeSettings, mounted_buckets, team_volumes
from spec.catalog import addons
from spec.catalog import names as limits
from spec.naming import physical_length
from spec.settings.checks.teams import WORKLOAD_ROLE
from spec.settings.storage import Lustre
from spec.teams.labels import S3_URI
from tests.components.storage.support import record
from tests.support.mocks import run, statements

CLAIMS = {"checkpoints", "datasets", "models", "raw"}


def _output(value: str) -> pulumi.Output[str]:
    return pulumi.Output.from_input(value)


def _volumes(
    *, efs: bool = False, lustre: bool = False, namespace: str = "vision-train", cache_gib: int | None = None
) -> dict[str, Any]:
    """Manifests with resolved outputs."""

    def build() -> dict[str, Any]:
        shared = EfsOutputs(
            id=_output("fs-1"),
            arn=_output("arn"),
            access_points={"datasets": _output("fsap-1")},
            mount_role=PodRole(arn=_output("role"), name=_output("role"), ready=()),
            ready=(),
        )
        parallel = LustreOutputs(
            id=_output("fs-2"),
            dns_name=_output("fs-2.fsx.us-east-1.amazonaws.com"),
            mount_name=_output("abcd"),
            capacity_gib=2400,
            zone="us-east-1a",
            ready=(),
        )
        outputs = StorageOutputs(
            key_arn=_output("key"),
            buckets={
                name: BucketOutputs(name=_output(f"b-{name}"), arn=_output("arn"))
                for name in ("raw", "models", "checkpoints")
            },
            efs=shared if efs else None,
            lustre=parallel if lustre else None,
            classes={"block": "gp3", **({"shared": "efs"} if efs else {}), **({"lustre": "lustre"} if lustre else {})},
            databases={},
            ready=(),
            cache_gib=cache_gib,
        )
        return team_volumes(namespace, outputs, VolumeSettings(team="vision", region="us-east-1"))

    recording: dict[str, Any] = run(build).returned
    return recording


ALL = [(False, False), (True, False), (False, True), (True, True)]
each = pytest.mark.parametrize(("efs", "lustre"), ALL)


@each
@pytest.mark.parametrize("gib", [None, 40])
def test_the_driver_reads_exactly_the_buckets_that_are_mounted(efs: bool, lustre: bool, gib: int | None) -> None:
    volumes = _volumes(efs=efs, lustre=lustre, cache_gib=gib)
    sources = [manifest["spec"] for manifest in volumes.values() if "csi" in manifest["spec"]]
    buckets = [spec for spec in sources if spec["csi"]["driver"] == "s3.csi.aws.com"]
    mounted = {f"b-{purpose}" for purpose in mounted_buckets(lustre=lustre, cached=gib is not None)}
    assert {spec["csi"]["volumeAttributes"]["bucketName"] for spec in buckets} == mounted
    assert all("read-only" in spec["mountOptions"] for spec in buckets)
    assert {spec["csi"]["volumeAttributes"].get("cacheEmptyDirSizeLimit") for spec in buckets} == {gib and f"{gib}Gi"}


@each
def test_every_team_has_the_same_claims_on_every_storage(efs: bool, lustre: bool) -> None:
    manifests = _volumes(efs=efs, lustre=lustre)
    claims = {key for key, manifest in manifests.items() if manifest["kind"] == "PersistentVolumeClaim"}
    assert claims == CLAIMS
    assert all(manifests[key]["metadata"] == manifests[key]["metadata"] | {"name": key} for key in claims)
    assert {manifests[key]["metadata"]["namespace"] for key in claims} == {"vision-train"}


@each
def test_a_volume_and_its_claim_refer_to_each_other_and_retain_data(efs: bool, lustre: bool) -> None:
    manifests = _volumes(efs=efs, lustre=lustre)
    volumes = {key: manifest for key, manifest in manifests.items() if manifest["kind"] == "PersistentVolume"}
    assert volumes
    for key, volume in volumes.items():
        claim = manifests[key.removesuffix("-volume")]
        reference = volume["spec"]["claimRef"]
        assert (reference["namespace"], reference["name"]) == ("vision-train", claim["metadata"]["name"])
        assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
        assert claim["spec"]["storageClassName"] == volume["spec"]["storageClassName"] == ""
        assert claim["spec"]["accessModes"] == volume["spec"]["accessModes"]
        assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


@each
def test_read_only_claims_have_read_only_volumes(efs: bool, lustre: bool) -> None:
    manifests = _volumes(efs=efs, lustre=lustre)
    for key in CLAIMS - {"checkpoints"}:
        spec = manifests[f"{key}-volume"]["spec"]
        assert spec["accessModes"] == ["ReadOnlyMany"]
        assert {"ro", "read-only"} & set(spec["mountOptions"])


def test_namespaces_share_no_volume() -> None:
    one, other = (
        {
            (manifest["metadata"]["name"], manifest["spec"]["csi"]["volumeHandle"])
            for manifest in _volumes(lustre=True, namespace=namespace).values()
            if manifest["kind"] == "PersistentVolume"
        }
        for namespace in ("vision-train", "vision-serve")
    )
    assert not {name for name, _ in one} & {name for name, _ in other}
    assert not {outputs for _, outputs in one} & {outputs for _, outputs in other}


@pytest.mark.parametrize(("efs", "lustre", "drivers"), [
    (False, False, {"raw": "s3", "datasets": "s3", "models": "s3"}),
    (True, False, {"raw": "s3", "datasets": "efs", "models": "s3"}),
    (False, True, {"raw": "fsx", "datasets": "fsx", "models": "s3", "checkpoints": "fsx"}),
    (True, True, {"raw": "fsx", "datasets": "efs", "models": "s3", "checkpoints": "fsx"}),
])  # fmt: skip
def test_each_volume_uses_the_first_storage_that_exists(efs: bool, lustre: bool, drivers: dict[str, str]) -> None:
    manifests = _volumes(efs=efs, lustre=lustre)
    used = {
        key.removesuffix("-volume"): manifest["spec"]["csi"]["driver"].partition(".")[0]
        for key, manifest in manifests.items()
        if manifest["kind"] == "PersistentVolume"
    }
    assert used == drivers


@pytest.mark.parametrize(
    ("efs", "mode", "storage_class"), [(False, "ReadWriteOnce", "gp3"), (True, "ReadWriteMany", "efs")]
)
def test_without_lustre_checkpoints_use_a_class_and_are_not_awaited(efs: bool, mode: str, storage_class: str) -> None:
    claim = _volumes(efs=efs)["checkpoints"]
    assert (claim["spec"]["accessModes"], claim["spec"]["storageClassName"]) == ([mode], storage_class)
    assert claim["spec"]["resources"] == {"requests": {"storage": "100Gi"}}
    assert claim["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


@pytest.mark.parametrize(("claim", "fileset"), [("raw", "raw/vision"), ("checkpoints", "checkpoints/vision")])
def test_a_team_sees_its_own_directories_of_lustre(claim: str, fileset: str) -> None:
    mounted = _volumes(lustre=True)[f"{claim}-volume"]["spec"]["csi"]["volumeAttributes"]
    assert mounted == {"dnsname": "fs-2.fsx.us-east-1.amazonaws.com", "mountname": f"abcd/{fileset}"}


@pytest.mark.parametrize(("claim", "bucket"), [("raw", "raw"), ("datasets", "raw"), ("models", "models")])
def test_a_team_sees_its_own_prefix_of_a_bucket(claim: str, bucket: str) -> None:
    spec = _volumes()[f"{claim}-volume"]["spec"]
    assert "prefix vision/" in spec["mountOptions"]
    assert spec["csi"]["volumeAttributes"] == {"bucketName": f"b-{bucket}"}


@each
def test_a_claim_says_where_in_a_bucket_its_files_are(efs: bool, lustre: bool) -> None:
    manifests = _volumes(efs=efs, lustre=lustre)
    addresses = {name: manifests[name]["metadata"].get("annotations", {}).get(S3_URI) for name in CLAIMS}
    assert addresses == {
        "raw": "s3://b-raw/vision/",
        "models": "s3://b-models/vision/",
        "datasets": None if efs else "s3://b-raw/vision/",
        "checkpoints": "s3://b-checkpoints/vision/" if lustre else None,
    }


def test_the_shared_file_system_is_mounted_through_its_access_point_by_tls_with_a_role() -> None:
    spec = _volumes(efs=True)["datasets-volume"]["spec"]
    assert spec["csi"]["volumeHandle"] == "fs-1::fsap-1"
    assert {"tls", "iam"} <= set(spec["mountOptions"])


@each
def test_static_volumes_use_almost_no_storage_quota(efs: bool, lustre: bool) -> None:
    manifests = _volumes(efs=efs, lustre=lustre)
    requests = {
        manifest["spec"]["resources"]["requests"]["storage"]
        for manifest in manifests.values()
        if manifest["kind"] == "PersistentVolumeClaim" and "volumeName" in manifest["spec"]
    }
    assert requests == {"1Gi"}


DEFAULT = "storageclass.kubernetes.io/is-default-class"


def _place(**settings: object) -> drivers.LustrePlace:
    lustre = Lustre.model_validate_json(json.dumps(settings))
    return drivers.LustrePlace(settings=lustre, subnet_id="subnet-1", security_group_id="sg-1")


def test_the_default_class_creates_encrypted_volumes_in_the_pods_zone() -> None:
    manifests = [drivers.block("key", "gp3", default=True), drivers.shared("fs-1"), drivers.lustre(_place(), "key", {})]
    defaults = [one for one in manifests if one["metadata"].get("annotations", {}).get(DEFAULT) == "true"]
    assert [one["metadata"]["name"] for one in defaults] == ["gp3"]
    assert defaults[0]["volumeBindingMode"] == "WaitForFirstConsumer"
    assert defaults[0]["allowVolumeExpansion"] is True
    assert defaults[0]["parameters"] == {"type": "gp3", "encrypted": "true", "kmsKeyId": "key"}


def test_claims_of_the_shared_class_get_their_own_directory_and_user() -> None:
    parameters = drivers.shared("fs-1")["parameters"]
    assert parameters["provisioningMode"] == "efs-ap"
    assert parameters["subPathPattern"] == "${.PVC.namespace}/${.PVC.name}"
    assert drivers.shared("fs-1")["mountOptions"] == ["tls", "iam"]
    # With a fixed uid and gid every claim would have the same user on the file system.
    assert not {"uid", "gid"} & set(parameters)


def test_the_path_of_checkpoints_fits_the_longest_namespace() -> None:
    """100 characters in total; the driver adds a dash and a UUID (botocore, efs `Path`)."""
    parameters = drivers.shared("fs-1")["parameters"]
    node = limits.limit("iam-role").longest - physical_length("slipway", "a", WORKLOAD_ROLE.format(namespace=""))
    path = f"{parameters['basePath']}/{parameters['subPathPattern']}-{uuid4()}"
    assert len(path.replace("${.PVC.namespace}", "n" * node).replace("${.PVC.name}", "checkpoints")) <= 100
    assert path.count("/") <= 4


@pytest.mark.parametrize(("settings", "throughput", "key"), [
    ({}, "250", "key"),
    ({"perUnitStorageThroughput": 1000}, "1000", "key"),
    ({"deploymentType": "SCRATCH_2"}, None, None),
])  # fmt: skip
def test_file_systems_of_the_lustre_class_are_like_the_shared_one(
    settings: dict[str, object], throughput: str | None, key: str | None
) -> None:
    parameters = drivers.lustre(_place(**settings), "key", {"owner": "ml", "environment": "test"})["parameters"]
    assert parameters.get("perUnitStorageThroughput") == throughput
    assert parameters.get("kmsKeyId") == key
    assert parameters["extraTags"] == "environment=test,owner=ml"


def test_parameters_of_classes_are_strings() -> None:
    manifests = (
        drivers.block("key", "gp3", default=True),
        drivers.shared("fs-1"),
        drivers.lustre(_place(), "key", {"owner": "ml"}),
    )
    assert all(isinstance(value, str) for one in manifests for value in one["parameters"].values())


# The file systems: access, links to buckets, retention.


EFS: dict[str, Any] = {"storage.efs": {}}
LUSTRE: dict[str, Any] = {"storage.lustre": {"storageCapacity": 2400}}
TEAM = {"project": "models", "costCenter": "research", "cpus": {"cpu": {"nominalQuota": 4}}}


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
