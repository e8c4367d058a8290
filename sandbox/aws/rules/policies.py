"""Whether a policy that the account holds admits a service."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from typing import Any, Final

_ABSENT: Final = frozenset({"aws:sourceowner", "aws:principalorgid", "aws:principalaccount", "kms:calleraccount"})
"""Keys that a request of a service does not have (IAM User Guide, reference_policies_condition-keys.html)."""


def admits(document: Mapping[str, Any], service: str, action: str, place: Mapping[str, str]) -> bool:
    """Whether a statement allows a service's principal (`logs`) one of the actions, separated by spaces. A condition on
    a key that is not known here counts as met; a denial with a condition is left out."""
    found = [one for one in _list(document.get("Statement")) if isinstance(one, Mapping)]
    about = [one for one in found if _is_of(one, service, place) and _names(one, action.split())]
    denied = any(one.get("Effect") == "Deny" and not one.get("Condition") for one in about)
    return not denied and any(one.get("Effect") == "Allow" and _is_met(one, place) for one in about)


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


def _is_of(statement: Mapping[str, Any], service: str, place: Mapping[str, str]) -> bool:
    principal = statement.get("Principal", "*" if "NotPrincipal" in statement else None)
    if principal == "*":
        return True
    if not isinstance(principal, Mapping):
        return False
    form = rf"{re.escape(service)}(\.{re.escape(place['region'])})?\.amazonaws\.com(\.cn)?"
    return "*" in _list(principal.get("AWS")) or any(
        re.fullmatch(form, str(one)) for one in _list(principal.get("Service"))
    )


def _names(statement: Mapping[str, Any], actions: list[str]) -> bool:
    given = [str(one).lower() for one in _list(statement.get("Action", statement.get("NotAction")))]
    found = any(fnmatch.fnmatchcase(action.lower(), one) for action in actions for one in given)
    return found if "Action" in statement else not found


def _is_met(statement: Mapping[str, Any], place: Mapping[str, str]) -> bool:
    for operator, pairs in (statement.get("Condition") or {}).items():
        for key, values in pairs.items() if isinstance(pairs, Mapping) else ():
            if operator.startswith("StringEquals") and not operator.endswith("IfExists"):
                if key.lower() in _ABSENT:
                    return False
                if key.lower() == "aws:sourceaccount" and place["account"] not in map(str, _list(values)):
                    return False
    return True
