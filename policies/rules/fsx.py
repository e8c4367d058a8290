"""FSx file systems: encryption, durability and links to buckets."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.checks.questions import at_least, companions, each, false, in_setting
from policies.levels import Levels
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import DATA_LINK, LUSTRE, ONTAP, OPEN_ZFS
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, violation


def _no_key(system: Resource, _: Context) -> Iterator[Violation]:
    """Scratch file systems support only keys of FSx itself (FSx for Lustre User Guide, "Encrypting data at rest")."""
    kind, key = system["deploymentType"], system["kmsKeyId"]
    if key.missing and not kind.unknown and "SCRATCH" not in str(kind.raw):
        yield violation(key)


ENCRYPTED = ResourceRule(
    name="fsx-encrypted-cmk",
    title="FSx file systems are encrypted with a customer managed KMS key",
    types=(LUSTRE, OPEN_ZFS, ONTAP),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Access to an AWS managed key can't be revoked, and a change of the key requires a new file system.",
    fix="Set kmsKeyId of the file system.",
    checks={
        "key": Check(
            asks="must be a customer managed KMS key",
            find=_no_key,
            external_ids=("CKV_AWS_190", "CKV_AWS_203", "CKV_AWS_178"),
        )
    },
)


def _linked(stack: Stack, system: Resource) -> bool:
    """FSx backs up no file system that is linked to a bucket (FSx for Lustre User Guide, "Protecting your data with
    backups"; read 2026-11): the bucket is its copy."""
    return bool(companions(stack, system, DATA_LINK, "fileSystemId"))


NO_SCRATCH = StackRule(
    name="fsx-no-scratch-prod",
    title="Production FSx for Lustre file systems are persistent, and linked to a bucket or backed up",
    types=(LUSTRE, DATA_LINK),
    severity=Severity.HIGH,
    levels=Levels("-/A/M"),
    why="A scratch file system has one copy of its data: files on a failed server are lost.",
    fix="Use deploymentType PERSISTENT_2, and link the file system to a bucket or keep backups.",
    settings={
        "types": Setting(
            asks="deployment types that a file system may have",
            schema={"type": "array", "items": {"type": "string"}},
            values={
                "dev": ["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"],
                "staging": ["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"],
                "prod": ["PERSISTENT_1", "PERSISTENT_2"],
            },
        ),
        "backupDays": Setting(
            asks="minimum retention of backups of a file system without a linked bucket, in days",
            schema={"type": "integer", "minimum": 0},
            values={"dev": 0, "staging": 0, "prod": 7},
        ),
    },
    checks={
        "scratch": Check(
            asks="must be a deployment type that the environment allows",
            find=each(LUSTRE, in_setting("deploymentType", "types")),
        ),
        "backups": Check(
            asks="must be at least the environment's minimum",
            find=each(LUSTRE, at_least("automaticBackupRetentionDays", "backupDays"), unless=_linked),
        ),
        "final": Check(
            asks="must be false",
            find=each(LUSTRE, false("skipFinalBackup"), unless=_linked),
        ),
    },
)


def _without_policies(link: Resource, _: Context) -> Iterator[Violation]:
    """A link without an export policy and an import policy copies nothing."""
    policies = [link["s3"][key]["events"] for key in ("autoExportPolicy", "autoImportPolicy")]
    if all(events.missing for events in policies):
        yield violation(policies[0], at=link)


NO_DELETE = StackRule(
    name="fsx-dra-no-delete",
    title="Data repository associations don't delete files, and declare what they copy",
    types=(DATA_LINK,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Deletion of an association can delete its files; without a policy, results stay on the file system and are "
    "not copied.",
    fix="Keep deleteDataInFilesystem false, and set s3.autoExportPolicy or s3.autoImportPolicy.",
    checks={
        "delete": Check(
            asks="must be false",
            find=each(DATA_LINK, false("deleteDataInFilesystem")),
        ),
        "policy": Check(
            asks="must be set, here or in s3.autoImportPolicy",
            find=each(DATA_LINK, _without_policies),
        ),
    },
)

RULES = (ENCRYPTED, NO_SCRATCH, NO_DELETE)
