"""What volumes need, and the buckets, file systems and databases that they are on."""

from collections.abc import Mapping
from typing import Any, Final

from slipway.render.recording import RecordedResource
from tests.bench.durations import ADDON, RELEASE
from tests.bench.needed.charts import values_at
from tests.bench.needed.cluster import LOG_GROUP, addon
from tests.bench.needed.need import Index, Need, inputs, of, policies_behind, source_of

VOLUME: Final = "kubernetes:core/v1:PersistentVolume"
CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"
EFS: Final = "aws:efs/fileSystem:FileSystem"
MOUNT_TARGET: Final = "aws:efs/mountTarget:MountTarget"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
LINK: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
OBJECT: Final = "aws:s3/bucketObjectv2:BucketObjectv2"
DATABASE: Final = "aws:rds/instance:Instance"
RULES: Final = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)
DRIVERS: Final[Mapping[str, str]] = {
    "ebs.csi.aws.com": "aws-ebs-csi-driver",
    "efs.csi.aws.com": "aws-efs-csi-driver",
    "fsx.csi.aws.com": "aws-fsx-csi-driver",
    "s3.csi.aws.com": "aws-mountpoint-s3-csi-driver",
}
"""EKS add-on by the driver's name (EKS User Guide, 'Use application data storage for your cluster')."""
CLASS_KEYS: Final = ("storageClassName", "defaultStorageClass", "storageClass")


def claims(resource: RecordedResource) -> list[str]:
    """Names of the storage classes whose volumes a claim, or the pods of a release, ask for."""
    plain = inputs(resource)
    asking = plain.get("spec") if resource.type == CLAIM else plain.get("values") if resource.type == RELEASE else None
    return [name for name in values_at(asking, CLASS_KEYS) if isinstance(name, str)]


def _classes(index: Index, later: RecordedResource) -> list[RecordedResource]:
    names = claims(later)
    return [each for each in index.of_type(CLASS) if inputs(each)["metadata"]["name"] in names]


def _driver(index: Index, name: Any) -> list[RecordedResource]:
    """The add-on of a driver, and the policies of its role: with the key's, without which it can't do its work."""
    found = [each for each in index.of_type(ADDON) if addon(each) == DRIVERS.get(name)]
    return found + [policy for each in found for policy in policies_behind("podIdentityAssociations")(index, each)]


def _drivers_of_classes(index: Index, later: RecordedResource) -> list[RecordedResource]:
    found = _classes(index, later)
    return [each for one in found for each in _driver(index, inputs(one)["provisioner"])]


def _driver_of_volume(index: Index, volume: RecordedResource) -> list[RecordedResource]:
    return _driver(index, inputs(volume)["spec"]["csi"]["driver"])


def _volume_of_claim(index: Index, claim: RecordedResource) -> list[RecordedResource]:
    name = inputs(claim)["spec"].get("volumeName")
    return [each for each in index.of_type(VOLUME) if name and inputs(each)["metadata"]["name"] == name]


def _behind_spec(index: Index, volume: RecordedResource) -> set[str]:
    return {each.urn for each in index.behind(volume, "spec")}


def _mount_targets(index: Index, volume: RecordedResource) -> list[RecordedResource]:
    """Of the file system that it is on, with the rules that let nodes reach them."""
    systems = _behind_spec(index, volume)
    targets = [
        each
        for each in index.of_type(MOUNT_TARGET)
        if systems & {one.urn for one in index.behind(each, "fileSystemId")}
    ]
    return targets + [rule for each in targets for rule in _rules(index, each, "securityGroups")]


def _links(index: Index, volume: RecordedResource) -> list[RecordedResource]:
    """Links to buckets of the same Lustre file system, of the directory that the volume begins at."""
    systems = _behind_spec(index, volume)
    attributes = inputs(volume)["spec"]["csi"].get("volumeAttributes") or {}
    path = f"/{str(attributes.get('mountname', '')).partition('/')[2]}/"
    return [
        each
        for each in index.of_type(LINK)
        if systems & {one.urn for one in index.behind(each, "fileSystemId")}
        and path.startswith(f"{inputs(each)['fileSystemPath']}/")
    ]


def _directories(index: Index, link: RecordedResource) -> list[RecordedResource]:
    """Objects of the linked bucket that become directories."""
    buckets = {each.urn for each in index.behind(link, "dataRepositoryPath")}
    return [
        each
        for each in index.of_type(OBJECT)
        if str(inputs(each)["key"]).endswith("/") and buckets & {one.urn for one in index.behind(each, "bucket")}
    ]


def _links_before(index: Index, link: RecordedResource) -> list[RecordedResource]:
    """Links of the same file system whose path sorts before: any one order would do, and this is the project's."""
    systems = {each.urn for each in index.behind(link, "fileSystemId")}
    return [
        each
        for each in index.of_type(LINK)
        if systems & {one.urn for one in index.behind(each, "fileSystemId")}
        and inputs(each)["fileSystemPath"] < inputs(link)["fileSystemPath"]
    ]


def _rules(index: Index, resource: RecordedResource, *properties: str) -> list[RecordedResource]:
    """Rules of its security groups, and those of other groups that name one of them."""
    groups = {each.urn for each in index.behind(resource, *properties)}
    return [
        each
        for each in index.of_type(*RULES)
        if groups & {one.urn for one in index.behind(each, "securityGroupId", "referencedSecurityGroupId")}
    ]


def _rules_of_lustre(index: Index, system: RecordedResource) -> list[RecordedResource]:
    return _rules(index, system, "securityGroupIds")


def _log_groups(index: Index, database: RecordedResource) -> list[RecordedResource]:
    prefix = f"/aws/rds/instance/{inputs(database).get('identifier')}/"
    return [each for each in index.of_type(LOG_GROUP) if str(inputs(each).get("name")).startswith(prefix)]


NEEDS: Final[Mapping[str, Need]] = {
    "a volume after its driver": Need(
        later=of(VOLUME),
        earlier=_driver_of_volume,
        required=True,
        why="only the driver mounts it, and it must not go before the volume (kubernetes.io, 'Persistent Volumes')",
    ),
    "a volume of EFS after its mount targets": Need(
        later=of(VOLUME),
        earlier=_mount_targets,
        why="a file system is mounted through a mount target of the zone, whose group lets NFS in (EFS User Guide, "
        "'Managing mount targets')",
    ),
    "a volume of Lustre after its link": Need(
        later=of(VOLUME),
        earlier=_links,
        why="the directory that is mounted comes with the link to the bucket (FSx for Lustre User Guide, 'Linking your "
        "file system to an Amazon S3 bucket')",
    ),
    "a link after its file system and bucket": Need(
        later=of(LINK),
        earlier=source_of("fileSystemId", "dataRepositoryPath"),
        required=True,
        why="they are its inputs",
    ),
    "a link after the directories of its bucket": Need(
        later=lambda each: each.type == LINK and bool(inputs(each).get("batchImportMetaDataOnCreate")),
        earlier=_directories,
        why="it imports what is in the bucket when it is created (FSx API Reference, CreateDataRepositoryAssociation, "
        "BatchImportMetaDataOnCreate)",
    ),
    "a link after the links of its file system before it": Need(
        later=of(LINK),
        earlier=_links_before,
        why="FSx works on one request of a file system at a time, and the second would wait within its own time limit "
        "(FSx for Lustre User Guide, 'Linking your file system to an Amazon S3 bucket')",
    ),
    "a claim after its volume": Need(
        later=of(CLAIM), earlier=_volume_of_claim, why="it stays Pending, and the provider waits until it is Bound"
    ),
    "a claim after its class": Need(
        later=lambda each: bool(claims(each)),
        earlier=_classes,
        required=True,
        why="it stays Pending (kubernetes.io, 'Storage Classes')",
    ),
    "a claim after its class's driver": Need(
        later=lambda each: bool(claims(each)),
        earlier=_drivers_of_classes,
        required=True,
        why="it stays Pending; and a driver that goes first leaves the volumes on the bill (kubernetes.io, 'Persistent "
        "Volumes', Reclaiming)",
    ),
    "a rule after the groups that it names": Need(
        later=of(*RULES),
        earlier=source_of("securityGroupId", "referencedSecurityGroupId"),
        required=True,
        why="they are its inputs; the group of the nodes comes with the control plane (EKS User Guide, 'View Amazon "
        "EKS security group requirements for clusters')",
    ),
    "a file system or database after its key, subnets and groups": Need(
        later=of(EFS, MOUNT_TARGET, LUSTRE, DATABASE),
        earlier=source_of(
            "kmsKeyId",
            "subnetId",
            "subnetIds",
            "dbSubnetGroupName",
            "fileSystemId",
            "securityGroups",
            "securityGroupIds",
            "vpcSecurityGroupIds",
        ),
        required=True,
        why="they are its inputs",
    ),
    "a Lustre file system after the rules of its groups": Need(
        later=of(LUSTRE),
        earlier=_rules_of_lustre,
        required=True,
        why="FSx checks the ports when it creates one (FSx for Lustre User Guide, 'Creating an FSx for Lustre file "
        "system fails')",
    ),
    "a database after its log groups": Need(
        later=of(DATABASE),
        earlier=_log_groups,
        required=True,
        why="RDS creates them itself, without retention and key (RDS User Guide, 'Publishing database logs')",
    ),
    "a database after the policies of its monitoring role": Need(
        later=of(DATABASE),
        earlier=policies_behind("monitoringRoleArn"),
        required=True,
        why="RDS tries the role at once (RDS User Guide, 'Setting up Enhanced Monitoring')",
    ),
}
