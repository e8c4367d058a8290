"""EFS and FSx file systems: encryption, throughput, backups, access points, mounts and links to buckets."""

from collections.abc import Iterator
from typing import Final

from policies.checks.questions import (
    at_least,
    companions,
    each,
    false,
    filled,
    has_companion,
    in_setting,
    is_in,
    not_in,
    present,
    true,
)
from policies.evaluation.iam import refuses_plain_transport
from policies.resources import tokens
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation

ENCRYPTED = ResourceRule(
    name="efs-encrypted-cmk",
    types=(tokens.EFS,),
    finds={
        "encrypted": true("encrypted"),
        "key": present("kmsKeyId"),
    },
)


THROUGHPUT_BACKUP = StackRule(
    name="efs-throughput-backup",
    types=(tokens.EFS, tokens.EFS_BACKUP, tokens.BACKUP_VAULT),
    settings={
        "modes": setting(
            "throughput modes that a file system may have",
            ["bursting", "elastic", "provisioned"],
            ["elastic", "provisioned"],
            ["elastic", "provisioned"],
        )
    },
    finds={
        "throughput": each(tokens.EFS, in_setting("throughputMode", "modes")),
        "lifecycle": each(tokens.EFS, filled("lifecyclePolicies")),
        "backup": has_companion(tokens.EFS_BACKUP, "fileSystemId", tokens.EFS, "without one"),
        "enabled": each(tokens.EFS_BACKUP, is_in("backupPolicy.status", "ENABLED")),
        "vault": each(tokens.BACKUP_VAULT, present("kmsKeyArn")),
    },
)


def _plain(stack: Stack, _: Context) -> Iterator[Violation]:
    for system in stack.of(tokens.EFS):
        policies = [companion["policy"] for companion in companions(stack, system, tokens.EFS_POLICY, "fileSystemId")]
        if not any(policy.unknown or refuses_plain_transport(policy) for policy in policies):
            got = "open to mounts without TLS: no file system policy denies them"
            yield Violation(path="", got=got, at=system)


ACCESS_POINTS = StackRule(
    name="efs-access-points",
    types=(tokens.EFS, tokens.EFS_ACCESS_POINT, tokens.EFS_POLICY),
    finds={
        "root": each(tokens.EFS_ACCESS_POINT, not_in("rootDirectory.path", "/", default="/")),
        "user": each(tokens.EFS_ACCESS_POINT, present("posixUser")),
        "transport": _plain,
    },
)


_DRIVER: Final = "efs.csi.aws.com"
_TRUE: Final = ("1", "t", "true")  # what the driver reads as true (Go, strconv.ParseBool)


def _without_identity(resource: Resource, _: Context) -> Iterator[Violation]:
    """The driver changes options to lower case (kubernetes-sigs/aws-efs-csi-driver v3.4.1, pkg/driver/node.go)."""
    if _driver_of(resource) == _DRIVER:
        options = (resource["spec"] if resource.type == tokens.PERSISTENT_VOLUME else resource.props)["mountOptions"]
        values = options.items()
        if not (options.unknown or unknowns(values) or "iam" in {one.lower() for one in texts(values)}):
            yield violation(options)


def _without_tls(resource: Resource, _: Context) -> Iterator[Violation]:
    encrypted = resource["spec"].at("csi", "volumeAttributes", "encryptInTransit")
    if _driver_of(resource) == _DRIVER and encrypted.known and str(encrypted.raw).lower() not in _TRUE:
        yield violation(encrypted)


def _driver_of(resource: Resource) -> str | None:
    class_ = resource.type == tokens.STORAGE_CLASS
    return (resource["provisioner"] if class_ else resource["spec"].at("csi", "driver")).text()


MOUNTS = ResourceRule(
    name="efs-mounts-iam",
    types=(tokens.PERSISTENT_VOLUME, tokens.STORAGE_CLASS),
    finds={"identity": _without_identity, "transport": _without_tls},
)


def _no_key(system: Resource, _: Context) -> Iterator[Violation]:
    """Scratch file systems support only keys of FSx itself (FSx for Lustre User Guide, "Encrypting data at rest")."""
    kind, key = system["deploymentType"], system["kmsKeyId"]
    if key.missing and not kind.unknown and "SCRATCH" not in str(kind.raw):
        yield violation(key)


FSX_ENCRYPTED = ResourceRule(
    name="fsx-encrypted-cmk",
    types=(tokens.LUSTRE, tokens.OPEN_ZFS, tokens.ONTAP),
    finds={"key": _no_key},
)


def _linked(stack: Stack, system: Resource) -> bool:
    """FSx backs up no file system that is linked to a bucket (FSx for Lustre User Guide, "Protecting your data with
    backups"; read 2026-11): the bucket is its copy."""
    return bool(companions(stack, system, tokens.DATA_LINK, "fileSystemId"))


NO_SCRATCH = StackRule(
    name="fsx-no-scratch-prod",
    types=(tokens.LUSTRE, tokens.DATA_LINK),
    settings={
        "types": setting(
            "deployment types that a file system may have",
            ["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"],
            ["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"],
            ["PERSISTENT_1", "PERSISTENT_2"],
        ),
        "backupDays": setting(
            "minimum retention of backups of a file system without a linked bucket, in days", 0, 0, 7, minimum=0
        ),
    },
    finds={
        "scratch": each(tokens.LUSTRE, in_setting("deploymentType", "types")),
        "backups": each(tokens.LUSTRE, at_least("automaticBackupRetentionDays", "backupDays"), unless=_linked),
        "final": each(tokens.LUSTRE, false("skipFinalBackup"), unless=_linked),
    },
)


def _without_policies(link: Resource, _: Context) -> Iterator[Violation]:
    """A link without an export policy and an import policy copies nothing."""
    policies = [link["s3"][key]["events"] for key in ("autoExportPolicy", "autoImportPolicy")]
    if all(events.missing for events in policies):
        yield violation(policies[0], at=link)


NO_DELETE = StackRule(
    name="fsx-dra-no-delete",
    types=(tokens.DATA_LINK,),
    finds={
        "delete": each(tokens.DATA_LINK, false("deleteDataInFilesystem")),
        "policy": each(tokens.DATA_LINK, _without_policies),
    },
)
