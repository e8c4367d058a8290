"""Shared file systems (EFS): encrypted, backed up, and entered by their own doors alone."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.documents import refuses_plain_transport
from policies.levels import Levels
from policies.questions import companions, each, filled, given, has_companion, in_setting, is_in, true
from policies.resource import Resource, Stack
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, violation
from policies.tokens import BACKUP_VAULT, EFS, EFS_ACCESS_POINT, EFS_BACKUP, EFS_POLICY

ENCRYPTED = ResourceRule(
    name="efs-encrypted-cmk",
    title="Shared file systems are encrypted with a key of the stack's own",
    types=(EFS,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Encryption can't be switched on later: the file system has to be made anew and copied.",
    fix="Give the file system encrypted: true and kmsKeyId.",
    checks={
        "encrypted": Check(
            asks="must be true",
            find=true("encrypted"),
            external_ids=("CKV_AWS_42", "AVD-AWS-0037"),
        ),
        "key": Check(
            asks="must be a key of the stack's own",
            find=given("kmsKeyId"),
            external_ids=("CKV_AWS_184",),
        ),
    },
)


THROUGHPUT_BACKUP = StackRule(
    name="efs-throughput-backup",
    title="Shared file systems are fast when many read them, cheap when nobody does, and backed up",
    types=(EFS, EFS_BACKUP, BACKUP_VAULT),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Bursting throughput follows the size, so a small file system of many readers stalls when its credits are gone "
    "(EFS User Guide, Throughput modes).",
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
            asks="must be one of the modes that do not run dry",
            find=each(EFS, in_setting("throughputMode", "modes")),
        ),
        "lifecycle": Check(
            asks="must move what nobody reads to cheaper storage",
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
            asks="must be a key of the stack's own",
            find=each(BACKUP_VAULT, given("kmsKeyArn")),
            external_ids=("CKV_AWS_166",),
        ),
    },
)


def _whole(point: Resource, _: Context) -> Iterator[Violation]:
    path = point["rootDirectory"]["path"]
    if path.missing or path.raw == "/":
        yield violation(path, at=point)


def _plain(stack: Stack, _: Context) -> Iterator[Violation]:
    for system in stack.of(EFS):
        policies = [found["policy"] for found in companions(stack, system, EFS_POLICY, "fileSystemId")]
        if not any(policy.unknown or refuses_plain_transport(policy) for policy in policies):
            got = "mounted without TLS as well: no file system policy denies that"
            yield Violation(path="", got=got, at=system)


ACCESS_POINTS = StackRule(
    name="efs-access-points",
    title="A shared file system is entered by access points, as a certain user, over TLS",
    types=(EFS, EFS_ACCESS_POINT, EFS_POLICY),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Without a root and a user of its own, a pod that mounts the file system sees the files of all teams as root.",
    fix="Give the access point rootDirectory.path and posixUser, and the file system a policy that denies "
    "aws:SecureTransport false.",
    checks={
        "root": Check(
            asks="must be a directory of its own",
            find=each(EFS_ACCESS_POINT, _whole),
            external_ids=("CKV_AWS_329",),
        ),
        "user": Check(
            asks="must be set",
            find=each(EFS_ACCESS_POINT, given("posixUser")),
            external_ids=("CKV_AWS_330",),
        ),
        "transport": Check(
            asks="must be mounted over TLS alone",
            find=_plain,
        ),
    },
)

RULES = (ENCRYPTED, THROUGHPUT_BACKUP, ACCESS_POINTS)
