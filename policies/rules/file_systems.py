"""EFS and FSx file systems: encryption, throughput, backups, access points, mounts and links to buckets."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

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
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    BACKUP_VAULT,
    DATA_LINK,
    EFS,
    EFS_ACCESS_POINT,
    EFS_BACKUP,
    EFS_POLICY,
    LUSTRE,
    ONTAP,
    OPEN_ZFS,
    PERSISTENT_VOLUME,
    STORAGE_CLASS,
)
from policies.rule import Check, Context, Levels, ResourceRule, StackRule, Violation, setting, violation

ENCRYPTED = ResourceRule(
    name="efs-encrypted-cmk",
    types=(EFS,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={
        "encrypted": Check("must be true", true("encrypted"), ("CKV_AWS_42", "AVD-AWS-0037")),
        "key": Check("must be a customer managed KMS key", present("kmsKeyId"), ("CKV_AWS_184",)),
    },
)


THROUGHPUT_BACKUP = StackRule(
    name="efs-throughput-backup",
    types=(EFS, EFS_BACKUP, BACKUP_VAULT),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    settings={
        "modes": setting(
            "throughput modes that a file system may have",
            ["bursting", "elastic", "provisioned"],
            ["elastic", "provisioned"],
            ["elastic", "provisioned"],
        )
    },
    checks={
        "throughput": Check(
            "must be a mode that the environment allows", each(EFS, in_setting("throughputMode", "modes"))
        ),
        "lifecycle": Check(
            "must move unused files to a storage class of lower cost", each(EFS, filled("lifecyclePolicies"))
        ),
        "backup": Check(
            "must have a backup policy", has_companion(EFS_BACKUP, "fileSystemId", EFS, "without one"), ("CKV2_AWS_18",)
        ),
        "enabled": Check("must be ENABLED", each(EFS_BACKUP, is_in("backupPolicy.status", "ENABLED"))),
        "vault": Check(
            "must be a customer managed KMS key", each(BACKUP_VAULT, present("kmsKeyArn")), ("CKV_AWS_166",)
        ),
    },
)


def _plain(stack: Stack, _: Context) -> Iterator[Violation]:
    for system in stack.of(EFS):
        policies = [companion["policy"] for companion in companions(stack, system, EFS_POLICY, "fileSystemId")]
        if not any(policy.unknown or refuses_plain_transport(policy) for policy in policies):
            got = "open to mounts without TLS: no file system policy denies them"
            yield Violation(path="", got=got, at=system)


ACCESS_POINTS = StackRule(
    name="efs-access-points",
    types=(EFS, EFS_ACCESS_POINT, EFS_POLICY),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={
        "root": Check(
            "must not be the root of the file system",
            each(EFS_ACCESS_POINT, not_in("rootDirectory.path", "/", default="/")),
            ("CKV_AWS_329",),
        ),
        "user": Check("must be set", each(EFS_ACCESS_POINT, present("posixUser")), ("CKV_AWS_330",)),
        "transport": Check("must require TLS", _plain),
    },
)


_DRIVER: Final = "efs.csi.aws.com"
_TRUE: Final = ("1", "t", "true")  # what the driver reads as true (Go, strconv.ParseBool)


def _without_identity(resource: Resource, _: Context) -> Iterator[Violation]:
    """The driver changes options to lower case (kubernetes-sigs/aws-efs-csi-driver v3.4.1, pkg/driver/node.go)."""
    if _driver_of(resource) == _DRIVER:
        options = (resource["spec"] if resource.type == PERSISTENT_VOLUME else resource.props)["mountOptions"]
        values = options.items()
        if not (options.unknown or unknowns(values) or "iam" in {one.lower() for one in texts(values)}):
            yield violation(options)


def _without_tls(resource: Resource, _: Context) -> Iterator[Violation]:
    encrypted = resource["spec"].at("csi", "volumeAttributes", "encryptInTransit")
    if _driver_of(resource) == _DRIVER and encrypted.known and str(encrypted.raw).lower() not in _TRUE:
        yield violation(encrypted)


def _driver_of(resource: Resource) -> str | None:
    class_ = resource.type == STORAGE_CLASS
    return (resource["provisioner"] if class_ else resource["spec"].at("csi", "driver")).text()


MOUNTS = ResourceRule(
    name="efs-mounts-iam",
    types=(PERSISTENT_VOLUME, STORAGE_CLASS),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={"identity": Check("must contain iam", _without_identity), "transport": Check("must be true", _without_tls)},
)


def _no_key(system: Resource, _: Context) -> Iterator[Violation]:
    """Scratch file systems support only keys of FSx itself (FSx for Lustre User Guide, "Encrypting data at rest")."""
    kind, key = system["deploymentType"], system["kmsKeyId"]
    if key.missing and not kind.unknown and "SCRATCH" not in str(kind.raw):
        yield violation(key)


FSX_ENCRYPTED = ResourceRule(
    name="fsx-encrypted-cmk",
    types=(LUSTRE, OPEN_ZFS, ONTAP),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={"key": Check("must be a customer managed KMS key", _no_key, ("CKV_AWS_190", "CKV_AWS_203", "CKV_AWS_178"))},
)


def _linked(stack: Stack, system: Resource) -> bool:
    """FSx backs up no file system that is linked to a bucket (FSx for Lustre User Guide, "Protecting your data with
    backups"; read 2026-11): the bucket is its copy."""
    return bool(companions(stack, system, DATA_LINK, "fileSystemId"))


NO_SCRATCH = StackRule(
    name="fsx-no-scratch-prod",
    types=(LUSTRE, DATA_LINK),
    severity=Severity.HIGH,
    levels=Levels("-/A/M"),
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
    checks={
        "scratch": Check(
            "must be a deployment type that the environment allows", each(LUSTRE, in_setting("deploymentType", "types"))
        ),
        "backups": Check(
            "must be at least the environment's minimum",
            each(LUSTRE, at_least("automaticBackupRetentionDays", "backupDays"), unless=_linked),
        ),
        "final": Check("must be false", each(LUSTRE, false("skipFinalBackup"), unless=_linked)),
    },
)


def _without_policies(link: Resource, _: Context) -> Iterator[Violation]:
    """A link without an export policy and an import policy copies nothing."""
    policies = [link["s3"][key]["events"] for key in ("autoExportPolicy", "autoImportPolicy")]
    if all(events.missing for events in policies):
        yield violation(policies[0], at=link)


NO_DELETE = StackRule(
    name="fsx-dra-no-delete",
    types=(DATA_LINK,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={
        "delete": Check("must be false", each(DATA_LINK, false("deleteDataInFilesystem"))),
        "policy": Check("must be set, here or in s3.autoImportPolicy", each(DATA_LINK, _without_policies)),
    },
)


RULES = (ENCRYPTED, THROUGHPUT_BACKUP, ACCESS_POINTS, MOUNTS, FSX_ENCRYPTED, NO_SCRATCH, NO_DELETE)
