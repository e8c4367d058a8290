"""Parallel file systems (FSx): encrypted, kept where a copy is kept, and never a way to lose a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.fixtures import Fixture, FixtureResource, edited, one, with_, without
from policies.levels import Levels
from policies.questions import at_least, companions, each, false, in_setting
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, ResourceRule, Setting, StackRule, problem
from policies.tokens import DATA_LINK, LUSTRE, ONTAP, OPEN_ZFS

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d"
_SYSTEM: Final[dict[str, Any]] = {
    "deploymentType": "PERSISTENT_2",
    "kmsKeyId": _KEY,
    "automaticBackupRetentionDays": 7,
    "skipFinalBackup": False,
}
_SCRATCH: Final = {"deploymentType": "SCRATCH_2"}


def _no_key(system: Resource, _: Context) -> Iterator[Problem]:
    """Scratch file systems know no key but AWS's own (FSx for Lustre User Guide, "Encrypting data at rest")."""
    kind, key = system["deploymentType"], system["kmsKeyId"]
    if key.missing and not kind.unknown and "SCRATCH" not in str(kind.raw):
        yield problem(key)


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
            bad=(one(edited(_SYSTEM, "kmsKeyId")), one({"deploymentType": "SINGLE_AZ_2"}, type=OPEN_ZFS)),
        )
    },
    good=(one(_SYSTEM), one(_SCRATCH)),
)


def _linked(stack: Stack, system: Resource) -> bool:
    """FSx backs up no file system that is linked to a bucket (FSx for Lustre User Guide, "Protecting your data with
    backups"; read 2026-11): the bucket is its copy."""
    return bool(companions(stack, system, DATA_LINK, "fileSystemId"))


_OF_SYSTEM: Final = {"fileSystemId": ("system",)}
_LINK: Final = FixtureResource(
    type=DATA_LINK,
    props={"deleteDataInFilesystem": False, "s3": {"autoExportPolicy": {"events": ["NEW", "CHANGED"]}}},
    takes=_OF_SYSTEM,
)
_ALONE: Final[Fixture] = {"system": FixtureResource(type=LUSTRE, props=_SYSTEM)}
_LINKED: Final[Fixture] = {
    "system": FixtureResource(type=LUSTRE, props=edited(_SYSTEM, "skipFinalBackup", True)),
    "link": _LINK,
}

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
            bad=(with_(_LINKED, "system", "deploymentType", "SCRATCH_2"),),
        ),
        "backups": Check(
            asks="must be long enough to notice what is missing",
            find=each(LUSTRE, at_least("automaticBackupRetentionDays", "backupDays"), unless=_linked),
            bad=(
                with_(_ALONE, "system", "automaticBackupRetentionDays"),
                with_(_ALONE, "system", "automaticBackupRetentionDays", 6),
            ),
        ),
        "final": Check(
            asks="must be false",
            find=each(LUSTRE, false("skipFinalBackup"), unless=_linked),
            bad=(with_(_ALONE, "system", "skipFinalBackup", True),),
        ),
    },
    good=(_ALONE, _LINKED, with_(_LINKED, "system", "automaticBackupRetentionDays", 0)),
)


def _silent(link: Resource, _: Context) -> Iterator[Problem]:
    """A link that neither takes in nor gives out is one on which nobody decided."""
    policies = [link["s3"][key]["events"] for key in ("autoExportPolicy", "autoImportPolicy")]
    if all(events.missing for events in policies):
        yield problem(policies[0], at=link)


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
            bad=(with_(_LINKED, "link", "deleteDataInFilesystem", True),),
        ),
        "policy": Check(
            asks="must say what is copied",
            find=each(DATA_LINK, _silent),
            bad=(with_(_LINKED, "link", "s3"), with_(_LINKED, "link", "s3.autoExportPolicy", {})),
        ),
    },
    good=(
        _LINKED,
        with_(_LINKED, "link", "s3", {"autoImportPolicy": {"events": ["NEW"]}}),
        without(_LINKED, "link"),
    ),
)

RULES = (ENCRYPTED, NO_SCRATCH, NO_DELETE)
