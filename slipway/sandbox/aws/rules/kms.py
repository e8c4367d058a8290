"""KMS keys: their policy and their deletion."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Mapping
from typing import Any

from slipway.sandbox.aws.rules.rule import Case, is_true, rule

_KEY = "aws:kms/key:Key"
SHORTEST_WINDOW, LONGEST_WINDOW = 7, 30
_CHANGES_THE_POLICY = "kms:putkeypolicy"


@rule(
    _KEY, "ValidationException", "deletionWindowInDays",
    "KMS API Reference, ScheduleKeyDeletion PendingWindowInDays, read 2026-11",
)  # fmt: skip
def deletion_window(case: Case) -> str | None:
    """KMS says so only when the key is deleted; the AWS provider refuses it at plan."""
    days = case.new.get("deletionWindowInDays")
    if days is None or SHORTEST_WINDOW <= int(days) <= LONGEST_WINDOW:
        return None
    return f"PendingWindowInDays must be between {SHORTEST_WINDOW} and {LONGEST_WINDOW}, got {days}"


@rule(
    _KEY, "MalformedPolicyDocumentException", "policy bypassPolicyLockoutSafetyCheck",
    "https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html (prevent unmanageable keys), read "
    "2026-11",
)  # fmt: skip
def key_policy(case: Case) -> str | None:
    """Somebody may change the policy. Which principal runs the program is not known here, so any is accepted."""
    policy = case.new.get("policy")
    if not policy or is_true(case.new.get("bypassPolicyLockoutSafetyCheck")) or _somebody_may_change_it(policy):
        return None
    return "The new key policy will not allow you to update the key policy in the future."


def _somebody_may_change_it(policy: Any) -> bool:
    try:
        document = json.loads(policy) if isinstance(policy, str) else policy
    except ValueError:
        # Moto refuses a document that is no JSON.
        return True
    statements = document.get("Statement") or []
    each = statements if isinstance(statements, list) else [statements]
    return any(_allows(statement) for statement in each)


def _allows(statement: Mapping[str, Any]) -> bool:
    if statement.get("Effect") != "Allow" or not _is_principal(statement):
        return False
    if "NotAction" in statement:
        return not _names_it(statement["NotAction"])
    return _names_it(statement.get("Action", []))


def _names_it(actions: Any) -> bool:
    names = actions if isinstance(actions, list) else [actions]
    return any(fnmatch.fnmatchcase(_CHANGES_THE_POLICY, str(name).lower()) for name in names)


def _is_principal(statement: Mapping[str, Any]) -> bool:
    """Services can't run the program."""
    principal = statement.get("Principal", "*" if "NotPrincipal" in statement else None)
    return principal == "*" or (isinstance(principal, Mapping) and bool(principal.get("AWS")))


RULES = (deletion_window, key_policy)
