"""FSx for Lustre. Moto 5.2.5 has no UpdateFileSystem: updates that AWS makes in place are only recorded.

Source of the changes that force a new file system: hashicorp/terraform-provider-aws internal/service/fsx/
lustre_file_system.go, read 2026-11.
"""

from __future__ import annotations

from slipway.sandbox.aws.mapping import Call, Inputs, ResourceMapping, Tags

SERVICE = "fsx"


def _shrinks(path: str, old: Inputs, new: Inputs) -> bool:
    """Capacity can only grow in place, and on SCRATCH_1 it can't change at all."""
    if path != "storageCapacity":
        return False
    smaller = int(new.get("storageCapacity", 0)) < int(old.get("storageCapacity", 0))
    return smaller or new.get("deploymentType", "SCRATCH_1") == "SCRATCH_1"


LUSTRE = ResourceMapping(
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    SERVICE,
    create=Call(
        "create_file_system",
        fixed={"FileSystemType": "LUSTRE"},
        omit=frozenset({"skipFinalBackup", "finalBackupTags", "backupId"}),
        wrap="LustreConfiguration",
    ),
    id="FileSystem.FileSystemId",
    read=Call("describe_file_systems", target={"FileSystemIds": ["{id}"]}, item="FileSystems[0]"),
    delete=Call("delete_file_system", target={"FileSystemId": "{id}"}),
    force_new=frozenset(
        {
            "backupId", "copyTagsToBackups", "deploymentType", "driveCacheType", "efaEnabled", "exportPath",
            "fileSystemTypeVersion", "importPath", "importedFileChunkSize", "kmsKeyId", "securityGroupIds",
            "storageType", "subnetIds",
        }
    ),
    replace_if=_shrinks,
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"ResourceARN": "{arn}"},
        read=Call("list_tags_for_resource", target={"ResourceARN": "{arn}"}, item="Tags"),
    ),
    from_item={
        "arn": "ResourceARN", "dnsName": "DNSName", "mountName": "LustreConfiguration.MountName",
        "deploymentType": "LustreConfiguration.DeploymentType",
        "perUnitStorageThroughput": "LustreConfiguration.PerUnitStorageThroughput",
        "dataCompressionType": "LustreConfiguration.DataCompressionType",
    },
    computed={"mountName": "fsx", "dnsName": "{id}.fsx.{region}.amazonaws.com"},
    drift=("deploymentType", "storageType"),
)  # fmt: skip

MAPPINGS = (LUSTRE,)
