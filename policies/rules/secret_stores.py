"""Secrets where they belong: under a key of the stack's own, and changed from time to time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.questions import each, given, has_companion
from policies.resource import Resource
from policies.rule import Check, Context, Setting, StackRule, Violation, everywhere, violation
from policies.tokens import PARAMETER, SECRET_ROTATION, STORED_SECRET

_WORDS: Final = ("password", "secret", "token", "apikey", "api-key", "api_key", "credential")


def _named_so(parameter: Resource) -> bool:
    return any(word in (parameter["name"].text() or parameter.name).lower() for word in _WORDS)


def _open(parameter: Resource, _: Context) -> Iterator[Violation]:
    if _named_so(parameter) and parameter["type"].is_not("SecureString"):
        yield violation(parameter["type"], at=parameter)


def _aws_key(parameter: Resource, _: Context) -> Iterator[Violation]:
    if parameter["type"].raw == "SecureString" and parameter["keyId"].missing:
        yield violation(parameter["keyId"], at=parameter)


def _seldom(rotation: Resource, context: Context) -> Iterator[Violation]:
    days = rotation["rotationRules"]["automaticallyAfterDays"]
    number = days.number()
    if number is not None and number > context.settings["days"]:
        yield violation(days, at=rotation)


SECRET_STORES = StackRule(
    name="secret-stores-encrypted",
    title="Stored secrets are encrypted with a key of the stack's own, and changed every quarter",
    types=(STORED_SECRET, SECRET_ROTATION, PARAMETER),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A secret that never changes is known to everybody who ever worked here.",
    fix="Give the secret kmsKeyId and an aws.secretsmanager.SecretRotation; a parameter, type SecureString and keyId.",
    settings={
        "days": Setting(
            asks="days after which a secret must be changed at the latest",
            schema={"type": "integer", "minimum": 1},
            values=everywhere(90),
        )
    },
    checks={
        "key": Check(
            asks="must be a key of the stack's own",
            find=each(STORED_SECRET, given("kmsKeyId")),
            external_ids=("CKV_AWS_149", "AVD-AWS-0098"),
        ),
        "rotated": Check(
            asks="must be rotated",
            find=has_companion(SECRET_ROTATION, "secretId", STORED_SECRET, "never changed"),
            external_ids=("CKV2_AWS_57",),
        ),
        "days": Check(
            asks="must be a quarter at the most",
            find=each(SECRET_ROTATION, _seldom),
            external_ids=("CKV_AWS_304",),
        ),
        "parameter": Check(
            asks="must be SecureString",
            find=each(PARAMETER, _open),
            external_ids=("CKV2_AWS_34",),
        ),
        "parameter-key": Check(
            asks="must be a key of the stack's own",
            find=each(PARAMETER, _aws_key),
            external_ids=("CKV_AWS_337",),
        ),
    },
)

RULES = (SECRET_STORES,)
