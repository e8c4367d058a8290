"""Shared file systems (EFS): encrypted, backed up, and entered by their own doors alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.documents import refuses_plain_transport
from policies.fixtures import Fixture, FixtureResource, edited, one, with_, without
from policies.levels import Levels
from policies.questions import companions, each, filled, given, has_companion, in_setting, is_in, true
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, ResourceRule, Setting, StackRule, problem
from policies.tokens import BACKUP_VAULT, EFS, EFS_ACCESS_POINT, EFS_BACKUP, EFS_POLICY

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d"
_SYSTEM: Final[dict[str, Any]] = {
    "encrypted": True,
    "kmsKeyId": _KEY,
    "throughputMode": "elastic",
    "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
}

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
            bad=(one(edited(_SYSTEM, "encrypted", False)), one(edited(_SYSTEM, "encrypted"))),
        ),
        "key": Check(
            asks="must be a key of the stack's own",
            find=given("kmsKeyId"),
            external_ids=("CKV_AWS_184",),
            bad=(one(edited(_SYSTEM, "kmsKeyId")),),
        ),
    },
    good=(one(_SYSTEM),),
)

_OF_SYSTEM: Final = {"fileSystemId": ("system",)}
_KEPT: Final[Fixture] = {
    "system": FixtureResource(type=EFS, props=_SYSTEM),
    "backup": FixtureResource(type=EFS_BACKUP, props={"backupPolicy": {"status": "ENABLED"}}, takes=_OF_SYSTEM),
    "vault": FixtureResource(type=BACKUP_VAULT, props={"kmsKeyArn": _KEY}),
    "point": FixtureResource(
        type=EFS_ACCESS_POINT,
        props={"rootDirectory": {"path": "/datasets"}, "posixUser": {"uid": 1000, "gid": 1000}},
        takes=_OF_SYSTEM,
    ),
}

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
            bad=(with_(_KEPT, "system", "throughputMode", "bursting"), with_(_KEPT, "system", "throughputMode")),
        ),
        "lifecycle": Check(
            asks="must move what nobody reads to cheaper storage",
            find=each(EFS, filled("lifecyclePolicies")),
            bad=(with_(_KEPT, "system", "lifecyclePolicies"), with_(_KEPT, "system", "lifecyclePolicies", [])),
        ),
        "backup": Check(
            asks="must have a backup policy",
            find=has_companion(EFS_BACKUP, "fileSystemId", EFS, "without one"),
            external_ids=("CKV2_AWS_18",),
            bad=(without(_KEPT, "backup"),),
        ),
        "enabled": Check(
            asks="must be ENABLED",
            find=each(EFS_BACKUP, is_in("backupPolicy.status", "ENABLED")),
            bad=(with_(_KEPT, "backup", "backupPolicy.status", "DISABLED"),),
        ),
        "vault": Check(
            asks="must be a key of the stack's own",
            find=each(BACKUP_VAULT, given("kmsKeyArn")),
            external_ids=("CKV_AWS_166",),
            bad=(with_(_KEPT, "vault", "kmsKeyArn"),),
        ),
    },
    good=(_KEPT, with_(_KEPT, "system", "throughputMode", "provisioned")),
)


def _whole(point: Resource, _: Context) -> Iterator[Problem]:
    path = point["rootDirectory"]["path"]
    if path.missing or path.raw == "/":
        yield problem(path, at=point)


def _plain(stack: Stack, _: Context) -> Iterator[Problem]:
    for system in stack.of(EFS):
        policies = [found["policy"] for found in companions(stack, system, EFS_POLICY, "fileSystemId")]
        if not any(policy.unknown or refuses_plain_transport(policy) for policy in policies):
            got = "mounted without TLS as well: no file system policy denies that"
            yield Problem(path="", got=got, at=system)


def _policy(**changes: Any) -> str:
    statement = {
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        **changes,
    }
    return json.dumps({"Statement": [statement]})


_ENTERED: Final[Fixture] = {
    **_KEPT,
    "policy": FixtureResource(type=EFS_POLICY, props={"policy": _policy()}, takes=_OF_SYSTEM),
}

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
            bad=(with_(_ENTERED, "point", "rootDirectory"), with_(_ENTERED, "point", "rootDirectory.path", "/")),
        ),
        "user": Check(
            asks="must be set",
            find=each(EFS_ACCESS_POINT, given("posixUser")),
            external_ids=("CKV_AWS_330",),
            bad=(with_(_ENTERED, "point", "posixUser"),),
        ),
        "transport": Check(
            asks="must be mounted over TLS alone",
            find=_plain,
            bad=(
                without(_ENTERED, "policy"),
                with_(_ENTERED, "policy", "policy", _policy(Effect="Allow")),
                with_(_ENTERED, "policy", "policy", _policy(Condition={})),
            ),
        ),
    },
    good=(_ENTERED, {"point": _ENTERED["point"]}),
)

RULES = (ENCRYPTED, THROUGHPUT_BACKUP, ACCESS_POINTS)
