"""KMS keys: rotation, deletion window and key policies."""

from collections.abc import Iterator

from policies.checks.questions import at_least, false, present, true
from policies.evaluation.iam import described, statements
from policies.resources.resource import Resource
from policies.resources.tokens import KEY
from policies.rule import Context, ResourceRule, Violation, setting, violation


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
    settings={
        "minimumDays": setting("minimum days in which a deletion can be cancelled", 7, 7, 30, minimum=7, maximum=30)
    },
    finds={
        "rotation": _never_rotated,
        "enabled": true("isEnabled", default=True),
        # The default of KMS is 30 days.
        "window": at_least("deletionWindowInDays", "minimumDays", default=30),
        "policy": present("policy"),
        "principal": _any_principal,
        "lockout": false("bypassPolicyLockoutSafetyCheck"),
    },
)
