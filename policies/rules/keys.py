"""KMS keys: what is encrypted with one is lost with it."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.documents import statements
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, violation
from policies.tokens import KEY


def _never_rotated(key: Resource, _: Context) -> Iterator[Violation]:
    """KMS rotates symmetric keys alone (KMS Developer Guide, "Rotate AWS KMS keys")."""
    symmetric = not key["customerMasterKeySpec"].is_not("SYMMETRIC_DEFAULT") or key["customerMasterKeySpec"].missing
    if symmetric and not key["customerMasterKeySpec"].unknown and key["enableKeyRotation"].is_false(default=False):
        yield violation(key["enableKeyRotation"])


def _disabled(key: Resource, _: Context) -> Iterator[Violation]:
    if key["isEnabled"].is_false(default=True):
        yield violation(key["isEnabled"])


def _hasty(key: Resource, context: Context) -> Iterator[Violation]:
    """KMS waits 30 days unless told otherwise."""
    days = key["deletionWindowInDays"].number()
    if days is not None and days < context.settings["minimumDays"]:
        yield violation(key["deletionWindowInDays"])


def _without_policy(key: Resource, _: Context) -> Iterator[Violation]:
    if key["policy"].missing:
        yield violation(key["policy"])


def _for_everybody(key: Resource, _: Context) -> Iterator[Violation]:
    for statement in statements(key["policy"]):
        if statement.allows and any(who.raw == "*" for who in statement.principals("AWS")):
            yield violation(key["policy"], "for the principal '*'")


def _lockable(key: Resource, _: Context) -> Iterator[Violation]:
    if key["bypassPolicyLockoutSafetyCheck"].is_true(default=False):
        yield violation(key["bypassPolicyLockoutSafetyCheck"])


KMS_KEY_SAFE = ResourceRule(
    name="kms-key-safe",
    title="A key is rotated, has a policy that names its users, and can't be lost in a week",
    types=(KEY,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A cluster whose key is gone is degraded for ever: AWS knows no way back (EKS User Guide, Encrypt secrets).",
    fix="Set enableKeyRotation and a policy on the key; the window is keyDeletionDays of the stack file.",
    settings={
        "minimumDays": Setting(
            asks="days in which a deletion can be taken back",
            schema={"type": "integer", "minimum": 7, "maximum": 30},
            values={"dev": 7, "staging": 7, "prod": 30},
        )
    },
    checks={
        "rotation": Check(
            asks="must be true",
            find=_never_rotated,
            external_ids=("CKV_AWS_7", "AVD-AWS-0065"),
        ),
        "enabled": Check(
            asks="must be true",
            find=_disabled,
            external_ids=("CKV_AWS_227",),
        ),
        "window": Check(
            asks="must be at least the environment's minimum",
            find=_hasty,
        ),
        "policy": Check(
            asks="must be set",
            find=_without_policy,
            external_ids=("CKV2_AWS_64",),
        ),
        "principal": Check(
            asks="must name who may use it",
            find=_for_everybody,
            external_ids=("CKV_AWS_33",),
        ),
        "lockout": Check(
            asks="must be false",
            find=_lockable,
        ),
    },
)

RULES = (KMS_KEY_SAFE,)
