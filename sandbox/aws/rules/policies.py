"""What a policy that the account holds says."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping
from typing import Any, Final

_ABSENT: Final = frozenset({"aws:sourceowner", "aws:principalorgid", "aws:principalaccount", "kms:calleraccount"})
"""Keys that a request of a service does not have (IAM User Guide, reference_policies_condition-keys.html)."""


def statements(policy: Any) -> list[Mapping[str, Any]]:
    """The statements of a policy, or of its text; none of what is no policy, about which moto says more."""
    try:
        document = json.loads(policy) if isinstance(policy, (str, bytes)) else policy
    except ValueError:
        return []
    found = document.get("Statement") if isinstance(document, Mapping) else None
    return [one for one in listed(found) if isinstance(one, Mapping)]


def listed(given: Any) -> list[Any]:
    """One of a kind may stand without a list."""
    return given if isinstance(given, list) else [] if given is None else [given]


def principals(statement: Mapping[str, Any], kind: str) -> list[str]:
    """The principals of a kind, `AWS` or `Service`; `*` is everybody."""
    principal = statement.get("Principal", "*" if "NotPrincipal" in statement else None)
    found = principal.get(kind) if isinstance(principal, Mapping) else principal if kind == "AWS" else None
    return [str(one) for one in listed(found)]


def admits(policy: Any, service: str, action: str, place: Mapping[str, str]) -> bool:
    """Whether a statement allows a service's principal (`logs`) one of the actions, separated by spaces. A condition on
    a key that is not known here counts as met; a denial with a condition is left out."""
    about = [one for one in statements(policy) if _is_of(one, service, place) and names(one, action)]
    denied = any(one.get("Effect") == "Deny" and not one.get("Condition") for one in about)
    return not denied and any(one.get("Effect") == "Allow" and _is_met(one, place) for one in about)


def _is_of(statement: Mapping[str, Any], service: str, place: Mapping[str, str]) -> bool:
    form = rf"{re.escape(service)}(\.{re.escape(place['region'])})?\.amazonaws\.com(\.cn)?"
    return "*" in principals(statement, "AWS") or any(
        re.fullmatch(form, one) for one in principals(statement, "Service")
    )


def names(statement: Mapping[str, Any], actions: str) -> bool:
    """Whether a statement is about one of the actions, separated by spaces."""
    given = [str(one).lower() for one in listed(statement.get("Action", statement.get("NotAction")))]
    found = any(fnmatch.fnmatchcase(action.lower(), one) for action in actions.split() for one in given)
    return found if "Action" in statement else not found


def _is_met(statement: Mapping[str, Any], place: Mapping[str, str]) -> bool:
    for operator, pairs in (statement.get("Condition") or {}).items():
        for key, values in pairs.items() if isinstance(pairs, Mapping) else ():
            if operator.startswith("StringEquals") and not operator.endswith("IfExists"):
                if key.lower() in _ABSENT:
                    return False
                if key.lower() == "aws:sourceaccount" and place["account"] not in map(str, listed(values)):
                    return False
    return True
