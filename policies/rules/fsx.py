"""Parallel file systems (FSx): encrypted, kept where a copy is kept, and never a way to lose a bucket."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.levels import Levels
from policies.questions import at_least, companions, each, false, in_setting
from policies.resource import Resource, Stack
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, violation
from policies.tokens import DATA_LINK, LUSTRE, ONTAP, OPEN_ZFS


def _no_key(system: Resource, _: Context) -> Iterator[Violation]:
    """Scratch file systems know no key but AWS's own (FSx for Lustre User Guide, "Encrypting data at rest")."""
    kind, key = system["deploymentType"], system["kmsKeyId"]
    if key.missing and not kind.unknown and "SCRATCH" not in str(kind.raw):
        yield violation(key)


ENCRYPTED = ResourceRule(
    name="fsx-encrypted-cmk",
    title="Parallel file systems are encrypted with a key of the stack's own",
    types=(LUSTRE, OPEN_ZFS, ONTAP),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="AWS's key can't be taken away from anybody, and can't be changed later without a new file system.",
    fix="Give the file system kmsKeyId.",
    checks={
        "key": Check(
            asks="must be a key of the stack's own",
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
    title="What is on a parallel file system in production survives a broken disk and a wrong command",
    types=(LUSTRE, DATA_LINK),
    severity=Severity.HIGH,
    levels=Levels("-/A/M"),
    why="A scratch file system keeps one copy: a failed server takes its files with it.",
    fix="Take deploymentType PERSISTENT_2, and link it to a bucket or keep backups.",
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
            asks="days for which backups of a file system without a bucket are kept",
            schema={"type": "integer", "minimum": 0},
            values={"dev": 0, "staging": 0, "prod": 7},
        ),
    },
    checks={
        "scratch": Check(
            asks="must be one that keeps two copies",
            find=each(LUSTRE, in_setting("deploymentType", "types")),
        ),
        "backups": Check(
            asks="must be long enough to notice what is missing",
            find=each(LUSTRE, at_least("automaticBackupRetentionDays", "backupDays"), unless=_linked),
        ),
        "final": Check(
            asks="must be false",
            find=each(LUSTRE, false("skipFinalBackup"), unless=_linked),
        ),
    },
)


def _silent(link: Resource, _: Context) -> Iterator[Violation]:
    """A link that neither takes in nor gives out is one on which nobody decided."""
    policies = [link["s3"][key]["events"] for key in ("autoExportPolicy", "autoImportPolicy")]
    if all(events.missing for events in policies):
        yield violation(policies[0], at=link)


NO_DELETE = StackRule(
    name="fsx-dra-no-delete",
    title="A link between a file system and a bucket neither deletes nor strands data",
    types=(DATA_LINK,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A link that goes can take the files with it, and one without a policy leaves results in a file system that "
    "nobody copies.",
    fix="Leave deleteDataInFilesystem false, and say in s3.autoExportPolicy or s3.autoImportPolicy what is copied.",
    checks={
        "delete": Check(
            asks="must be false",
            find=each(DATA_LINK, false("deleteDataInFilesystem")),
        ),
        "policy": Check(
            asks="must say what is copied",
            find=each(DATA_LINK, _silent),
        ),
    },
)

RULES = (ENCRYPTED, NO_SCRATCH, NO_DELETE)
