"""KMS keys: rotation, deletion window and key policies."""

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.checks.questions import at_least, false, present, true
from policies.evaluation.iam import described, statements
from policies.resources.resource import Resource
from policies.resources.tokens import KEY
from policies.rule import Check, Context, Levels, ResourceRule, Violation, setting, violation


def _never_rotated(key: Resource, _: Context) -> Iterator[Violation]:
    """KMS rotates symmetric keys alone (KMS Developer Guide, "Rotate AWS KMS keys")."""
    symmetric = not key["customerMasterKeySpec"].is_not("SYMMETRIC_DEFAULT") or key["customerMasterKeySpec"].missing
    if symmetric and not key["customerMasterKeySpec"].unknown and key["enableKeyRotation"].is_false(default=False):
        yield violation(key["enableKeyRotation"])


def _any_principal(key: Resource, _: Context) -> Iterator[Violation]:
    for statement in statements(key["policy"]):
        if statement.allows and any(who.raw == "*" for who in statement.principals("AWS")):
            yield violation(key["policy"], f"for the principal '*'{described(statement)}")


KMS_KEY_SAFE = ResourceRule(
    name="kms-key-safe",
    types=(KEY,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    settings={
        "minimumDays": setting("minimum days in which a deletion can be cancelled", 7, 7, 30, minimum=7, maximum=30)
    },
    checks={
        "rotation": Check("must be true", _never_rotated, ("CKV_AWS_7", "AVD-AWS-0065")),
        "enabled": Check("must be true", true("isEnabled", default=True), ("CKV_AWS_227",)),
        # The default of KMS is 30 days.
        "window": Check(
            "must be at least the environment's minimum", at_least("deletionWindowInDays", "minimumDays", default=30)
        ),
        "policy": Check("must be set", present("policy"), ("CKV2_AWS_64",)),
        "principal": Check("must name its principals", _any_principal, ("CKV_AWS_33",)),
        "lockout": Check("must be false", false("bypassPolicyLockoutSafetyCheck")),
    },
)

RULES = (KMS_KEY_SAFE,)
