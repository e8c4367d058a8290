"""EFS file systems: encryption, throughput, backup, access points and mounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.questions import companions, each, filled, has_companion, in_setting, is_in, present, true
from policies.evaluation.documents import refuses_plain_transport
from policies.levels import Levels
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    BACKUP_VAULT,
    EFS,
    EFS_ACCESS_POINT,
    EFS_BACKUP,
    EFS_POLICY,
    PERSISTENT_VOLUME,
    STORAGE_CLASS,
)
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, violation

ENCRYPTED = ResourceRule(
    name="efs-encrypted-cmk",
    title="EFS file systems are encrypted with a customer managed KMS key",
    types=(EFS,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Encryption can't be enabled later: the file system has to be recreated and its data copied.",
    fix="Set encrypted: true and kmsKeyId of the file system.",
    checks={
        "encrypted": Check(
            asks="must be true",
            find=true("encrypted"),
            external_ids=("CKV_AWS_42", "AVD-AWS-0037"),
        ),
        "key": Check(
            asks="must be a customer managed KMS key",
            find=present("kmsKeyId"),
            external_ids=("CKV_AWS_184",),
        ),
    },
)


THROUGHPUT_BACKUP = StackRule(
    name="efs-throughput-backup",
    title="EFS file systems have enough throughput, lifecycle policies and backups",
    types=(EFS, EFS_BACKUP, BACKUP_VAULT),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Bursting throughput depends on the size, so a small file system with many readers stalls when its burst "
    "credits are used up (EFS User Guide, Throughput modes).",
    fix="Set throughputMode and lifecyclePolicies, and an aws.efs.BackupPolicy with status ENABLED.",
    settings={
        "modes": Setting(
            asks="throughput modes that a file system may have",
            schema={"type": "array", "items": {"type": "string"}},
            values={
                "dev": ["bursting", "elastic", "provisioned"],
                "staging": ["elastic", "provisioned"],
                "prod": ["elastic", "provisioned"],
            },
        )
    },
    checks={
        "throughput": Check(
            asks="must be a mode that the environment allows",
            find=each(EFS, in_setting("throughputMode", "modes")),
        ),
        "lifecycle": Check(
            asks="must move unused files to a storage class of lower cost",
            find=each(EFS, filled("lifecyclePolicies")),
        ),
        "backup": Check(
            asks="must have a backup policy",
            find=has_companion(EFS_BACKUP, "fileSystemId", EFS, "without one"),
            external_ids=("CKV2_AWS_18",),
        ),
        "enabled": Check(
            asks="must be ENABLED",
            find=each(EFS_BACKUP, is_in("backupPolicy.status", "ENABLED")),
        ),
        "vault": Check(
            asks="must be a customer managed KMS key",
            find=each(BACKUP_VAULT, present("kmsKeyArn")),
            external_ids=("CKV_AWS_166",),
        ),
    },
)


def _whole_file_system(point: Resource, _: Context) -> Iterator[Violation]:
    path = point["rootDirectory"]["path"]
    if path.missing or path.raw == "/":
        yield violation(path, at=point)


def _plain(stack: Stack, _: Context) -> Iterator[Violation]:
    for system in stack.of(EFS):
        policies = [companion["policy"] for companion in companions(stack, system, EFS_POLICY, "fileSystemId")]
        if not any(policy.unknown or refuses_plain_transport(policy) for policy in policies):
            got = "open to mounts without TLS: no file system policy denies them"
            yield Violation(path="", got=got, at=system)


ACCESS_POINTS = StackRule(
    name="efs-access-points",
    title="EFS access points have their own root directory and user, and mounts use TLS",
    types=(EFS, EFS_ACCESS_POINT, EFS_POLICY),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Without its own root directory and user, a pod that mounts the file system has root access to the files of "
    "all teams.",
    fix="Set rootDirectory.path and posixUser of the access point, and add a file system policy that denies "
    "aws:SecureTransport false.",
    checks={
        "root": Check(
            asks="must not be the root of the file system",
            find=each(EFS_ACCESS_POINT, _whole_file_system),
            external_ids=("CKV_AWS_329",),
        ),
        "user": Check(
            asks="must be set",
            find=each(EFS_ACCESS_POINT, present("posixUser")),
            external_ids=("CKV_AWS_330",),
        ),
        "transport": Check(
            asks="must require TLS",
            find=_plain,
        ),
    },
)


_DRIVER: Final = "efs.csi.aws.com"
_TRUE: Final = ("1", "t", "true")
"""What the driver reads as true (Go, strconv.ParseBool)."""


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
    title="Volumes of EFS are mounted with an IAM identity and TLS",
    types=(PERSISTENT_VOLUME, STORAGE_CLASS),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Without the mount option iam the driver connects as nobody: the mount fails where the file system's policy "
    "names roles, and works only where the policy lets in every client that reaches the mount targets "
    "(kubernetes-sigs/aws-efs-csi-driver, docs/parameters.md).",
    fix="Add iam to mountOptions of the StorageClass or PersistentVolume, and leave encryptInTransit at true.",
    checks={
        "identity": Check(
            asks="must contain iam",
            find=_without_identity,
        ),
        "transport": Check(
            asks="must be true",
            find=_without_tls,
        ),
    },
)

RULES = (ENCRYPTED, THROUGHPUT_BACKUP, ACCESS_POINTS, MOUNTS)
