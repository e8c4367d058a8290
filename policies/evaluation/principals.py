"""Whom a policy allows: one evaluator for trust policies, key policies and policies of other resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.evaluation.conditions import constraints, limits_the_caller
from policies.evaluation.documents import Statement, listed, parsed, statements
from policies.resources.access import Node, plain
from policies.resources.resource import Resource

_ACCOUNT: Final = re.compile(r"arn:[a-z-]+:[a-z0-9-]+:[a-z0-9-]*:(\d{12}):.*|(\d{12})")
_KINDS: Final = ("AWS", "Federated", "CanonicalUser")
_BY_ACCOUNT: Final = frozenset(
    {"aws:principalaccount", "aws:principalarn", "aws:sourceaccount", "aws:sourcearn", "kms:calleraccount"}
)


def home(resource: Resource) -> set[str]:
    """Accounts of the resource's provider; arguments of a provider are encoded as JSON."""
    provider: Mapping[str, Any] = resource.provider
    allowed = provider["allowedAccountIds"] if "allowedAccountIds" in list(provider) else None
    return {str(one.raw) for one in listed(parsed(Node("allowedAccountIds", plain(allowed)))) if one.known}


def account_of(text: str) -> str | None:
    """The account in an ARN or an account ID; None for `*`, services, and ARNs without one."""
    found = _ACCOUNT.fullmatch(text)
    return (found[1] or found[2]) if found else None


def anybody(document: Node, *, conditions: bool = True) -> Iterator[str]:
    """Statements for every principal that no condition limits, as the end of a sentence that begins with "it is".

    Args:
        document: The policy.
        conditions: Whether the service evaluates conditions on the caller.
    """
    for statement in _allowing(document):
        inverted = not statement.node["NotPrincipal"].missing
        wide = [who for kind in ("AWS", "Federated", "Service") for who in statement.principals(kind) if _wild(who)]
        if inverted:
            yield "for all principals but some (NotPrincipal)"
        elif wide and not (conditions and limits_the_caller(statement)):
            yield f"for the principal {wide[0].shown} without a condition that limits it"


def foreign_principals(document: Node, known: set[str]) -> Iterator[str]:
    """Principals outside the known accounts, in principals and in the conditions that limit them."""
    for statement in _allowing(document):
        values = [who for kind in _KINDS for who in statement.principals(kind)]
        values += [value for key, some in constraints(statement) if key in _BY_ACCOUNT for value in some]
        for value in values:
            account = account_of(str(value.raw))
            if value.known and account is not None and account not in known:
                yield str(value.raw)
        yield from (str(who.raw) for who in statement.principals("CanonicalUser") if who.known)


def _allowing(document: Node) -> Iterator[Statement]:
    return (statement for statement in statements(document) if statement.allows)


def _wild(who: Node) -> bool:
    return who.known and "*" in str(who.raw)
