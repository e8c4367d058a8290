"""A service's own code and words for a value that its model does not allow.

Codes: the "Errors" and "Common Errors" of each service's API Reference, read 2026-11; the words are those that Coral,
AWS's service framework, answers with. EC2 and S3 have words of their own.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

CODES: Mapping[str, str] = MappingProxyType(
    {
        "autoscaling": "ValidationError",
        "budgets": "InvalidParameterException",
        "ce": "ValidationException",
        "cloudwatch": "ValidationError",
        "ec2": "InvalidParameterValue",
        "ecr": "InvalidParameterException",
        "efs": "ValidationException",
        "eks": "InvalidParameterException",
        "events": "ValidationException",
        "fsx": "BadRequest",
        "iam": "ValidationError",
        "kms": "ValidationException",
        "logs": "InvalidParameterException",
        "rds": "InvalidParameterValue",
        "s3": "InvalidArgument",
        "sns": "InvalidParameter",
        "sqs": "InvalidParameterValue",
    }
)
"""The code of a service for a value out of its limits."""

_MISSING = {"ec2": "MissingParameter", "s3": "MalformedXML", "sqs": "MissingParameter"}
_NOT_IN_LIST = {"s3": "MalformedXML"}
_SHOWN = 80
"""Characters of a value that a message shows; a policy document has thousands."""


def missing(service: str, member: str) -> str:
    """A required member is missing."""
    code = _MISSING.get(service, CODES[service])
    if service == "ec2":
        return f"{code}: The request must contain the parameter {member}"
    return f"{code}: Value null at '{member}' failed to satisfy constraint: Member must not be null"


def not_in_list(service: str, member: str, value: Any, allowed: Sequence[str]) -> str:
    """A word that is none of an enumeration."""
    code = _NOT_IN_LIST.get(service, CODES[service])
    return f"{code}: {_at(service, member, value)}Member must satisfy enum value set: {_hint(str(value), allowed)}"


def out_of_range(service: str, member: str, value: Any, *, what: str, limit: float, above: bool) -> str:
    """A number, or a length, above its maximum or below its minimum; `what` is `value` or `length`."""
    direction = "less" if above else "greater"
    text = f"Member must have {what} {direction} than or equal to {limit}"
    return f"{CODES[service]}: {_at(service, member, value)}{text}"


def no_match(service: str, member: str, value: Any, pattern: str) -> str:
    """A text that a pattern does not match."""
    text = f"Member must satisfy regular expression pattern: {pattern}"
    return f"{CODES[service]}: {_at(service, member, value)}{text}"


def _at(service: str, member: str, value: Any) -> str:
    shown = str(value) if len(str(value)) <= _SHOWN else f"{str(value)[:_SHOWN]}..."
    if service == "ec2":
        return f"Value ({shown}) for parameter {member} is invalid. "
    return f"Value '{shown}' at '{member}' failed to satisfy constraint: "


def _hint(value: str, words: Sequence[str]) -> str:
    listed = f"[{', '.join(words)}]"
    by_lower = {word.lower(): word for word in words}
    close = difflib.get_close_matches(value.lower(), by_lower, n=1, cutoff=0.6)
    return f"{listed}; did you mean {by_lower[close[0]]!r}?" if close else listed
