"""Secrets Manager and Parameter Store: encryption and rotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.questions import each, has_companion, present
from policies.levels import Levels
from policies.resources.resource import Resource
from policies.resources.tokens import PARAMETER, SECRET_ROTATION, STORED_SECRET
from policies.rule import Check, Context, Setting, StackRule, Violation, everywhere, violation

_WORDS: Final = ("password", "secret", "token", "apikey", "api-key", "api_key", "credential")


def _named_like_a_secret(parameter: Resource) -> bool:
    return any(word in (parameter["name"].text() or parameter.name).lower() for word in _WORDS)


def _plain_type(parameter: Resource, _: Context) -> Iterator[Violation]:
    if _named_like_a_secret(parameter) and parameter["type"].is_not("SecureString"):
        yield violation(parameter["type"], at=parameter)


def _aws_key(parameter: Resource, _: Context) -> Iterator[Violation]:
    if parameter["type"].raw == "SecureString" and parameter["keyId"].missing:
        yield violation(parameter["keyId"], at=parameter)


def _rare_rotation(rotation: Resource, context: Context) -> Iterator[Violation]:
    days = rotation["rotationRules"]["automaticallyAfterDays"]
    number = days.number()
    if number is not None and number > context.settings["days"]:
        yield violation(days, at=rotation)


SECRET_STORES = StackRule(
    name="secret-stores-encrypted",
    title="Stored secrets use a customer managed KMS key and are rotated every 90 days",
    types=(STORED_SECRET, SECRET_ROTATION, PARAMETER),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A secret that is never rotated stays known to everyone who ever had access to it.",
    fix="Set kmsKeyId of the secret and add an aws.secretsmanager.SecretRotation; set type SecureString and keyId "
    "of a parameter.",
    settings={
        "days": Setting(
            asks="maximum days between rotations of a secret",
            schema={"type": "integer", "minimum": 1},
            values=everywhere(90),
        )
    },
    checks={
        "key": Check(
            asks="must be a customer managed KMS key",
            find=each(STORED_SECRET, present("kmsKeyId")),
            external_ids=("CKV_AWS_149", "AVD-AWS-0098"),
        ),
        "rotated": Check(
            asks="must be rotated",
            find=has_companion(SECRET_ROTATION, "secretId", STORED_SECRET, "never rotated"),
            external_ids=("CKV2_AWS_57",),
        ),
        "days": Check(
            asks="must be at most the rule's setting",
            find=each(SECRET_ROTATION, _rare_rotation),
            external_ids=("CKV_AWS_304",),
        ),
        "parameter": Check(
            asks="must be SecureString",
            find=each(PARAMETER, _plain_type),
            external_ids=("CKV2_AWS_34",),
        ),
        "parameter-key": Check(
            asks="must be a customer managed KMS key",
            find=each(PARAMETER, _aws_key),
            external_ids=("CKV_AWS_337",),
        ),
    },
)

RULES = (SECRET_STORES,)
