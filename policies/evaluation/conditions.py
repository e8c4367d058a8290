"""Conditions of IAM statements, judged by whether they narrow what a statement allows.

A condition narrows if the request has to have one of a few values: a positive operator, a key that the caller does not
choose, and values that are no wildcards. `aws:SecureTransport`, a date, `StringLike: "*"`, `...IfExists` and
`ForAllValues:`, which are true for requests without the key, do not (IAM User Guide, "Condition operators").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from policies.evaluation.documents import Statement, listed
from policies.evaluation.ranges import internet
from policies.resources.access import Node

_POSITIVE: Final = frozenset(
    {
        "stringequals",
        "stringequalsignorecase",
        "stringlike",
        "arnequals",
        "arnlike",
        "numericequals",
        "bool",
        "ipaddress",
        "foranyvalue:stringequals",
        "foranyvalue:stringequalsignorecase",
        "foranyvalue:stringlike",
        "foranyvalue:arnequals",
        "foranyvalue:arnlike",
    }
)
_ACCOUNT: Final = re.compile(r"\d{12}")
_IDENTIFIERS: Final = frozenset(
    {"aws:principalaccount", "aws:sourceaccount", "aws:principalorgid", "kms:calleraccount"}
)
_TAGS: Final = ("aws:resourcetag/", "aws:requesttag/")
CALLER: Final = frozenset(
    {
        "aws:principalaccount",
        "aws:principalarn",
        "aws:principalorgid",
        "aws:principalorgpaths",
        "aws:sourceaccount",
        "aws:sourcearn",
        "aws:sourceorgid",
        "aws:sourceip",
        "aws:sourcevpc",
        "aws:sourcevpce",
        "kms:calleraccount",
    }
)
"""Keys that say who or what calls, or from which network (IAM User Guide, "AWS global condition context keys"; KMS in
the Service Authorization Reference)."""


def constraints(statement: Statement) -> Iterator[tuple[str, list[Node]]]:
    """Keys, in lower case, that a request must have, with the accepted values."""
    for operator, keys in statement.node["Condition"].fields().items():
        if operator.lower() in _POSITIVE:
            yield from ((key.lower(), listed(values)) for key, values in keys.fields().items())


def undecided(statement: Statement) -> bool:
    """Whether the condition is not known before the update."""
    return statement.node["Condition"].unknown


def described(statement: Statement) -> str:
    """The values that a request must have, as the end of a message; a suppression is void once they change."""
    parts = [f"{key} {', '.join(value.whole for value in values)}" for key, values in constraints(statement)]
    return f" with {' and '.join(sorted(parts))}" if parts else ""


def wildcard(value: Node) -> bool:
    """Whether a value accepts everything, or in an ARN more than one account."""
    text = str(value.raw)
    if value.unknown:
        return False
    if not text.startswith("arn:"):
        return text.strip("*?:") == ""
    parts = text.split(":", 5)
    # The ARN of a bucket has no account: names of buckets are unique.
    return len(parts) < 6 or not (_ACCOUNT.fullmatch(parts[4]) or (parts[2] == "s3" and parts[5].strip("*?/")))


def narrow(statement: Statement, counts: Callable[[str], bool]) -> bool:
    """Whether a condition on a key that counts accepts a few values only; true if it is not known yet."""
    return undecided(statement) or any(counts(key) and _few(key, values) for key, values in constraints(statement))


def _few(key: str, values: list[Node]) -> bool:
    if key == "aws:sourceip":
        return not list(internet(values))
    if key in _IDENTIFIERS:
        return not any(value.known and set("*?") & set(str(value.raw)) for value in values)
    return not any(wildcard(value) for value in values)


def limits_the_caller(statement: Statement) -> bool:
    """Whether a statement of a resource policy is for few callers whatever its principal is."""
    return narrow(statement, lambda key: key in CALLER)


def limits_the_resource(statement: Statement) -> bool:
    """Whether a statement of an identity's policy applies to some resources only, by tags or by a key of the service.
    Global keys say something about the caller, whom the statement is for anyway."""
    return narrow(statement, lambda key: key.startswith(_TAGS) or not key.startswith("aws:"))
