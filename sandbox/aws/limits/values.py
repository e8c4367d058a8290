"""Checking a request against the limits of its service's model, in AWS's words."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import regex
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from sandbox.aws.shapes import to_api
from sandbox.rpc import diff
from sandbox.rpc.diff import Path
from sandbox.rpc.wire import UNKNOWN
from spec import strict_yaml

# The regular expressions of AWS's models: Java's dialect, matched against the whole text.
#
# The models leave anchors out or write only the first (`EKS ClusterName`: `^[0-9A-Za-z][A-Za-z0-9\-_]*`), and their
# services match the whole value nevertheless (java.util.regex `Matcher.matches`). The package `regex` knows the Unicode
# classes that Python's `re` lacks (`\p{L}`).

_ASTRAL = r"\uD800\uDC00-\uDBFF\uDFFF"
"""Java writes the characters beyond U+FFFF as a range of surrogate pairs, which Python does not have."""


_TIMEOUT_SECONDS = 0.2
"""Some patterns repeat a repetition (`(.*[\\n\\r]?)*` of budgets), and could take for ever."""


@functools.cache
def compiled(pattern: str) -> regex.Pattern[str]:
    """The expression in Python's dialect. Raises regex.error if it is none."""
    return regex.compile(pattern.replace(_ASTRAL, r"\U00010000-\U0010FFFF"))


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text matches; a pattern that takes too long to say no is counted as a match."""
    try:
        return compiled(pattern).fullmatch(text, timeout=_TIMEOUT_SECONDS) is not None
    except TimeoutError:
        return True


# A service's own code and words for a value that its model does not allow.
#
# Codes are rows of codes.yaml; the words are those that Coral, AWS's service framework, answers with. EC2 and S3 have
# words of their own.

_ROWS = strict_yaml.beside(__file__, "codes")


def code(service: str, of: str = "code") -> str:
    """The code of a service for what is wrong, by a word of codes.yaml."""
    found: str = _ROWS[service].get(of) or _ROWS[service]["code"]
    return found


CODES: Mapping[str, str] = MappingProxyType({service: code(service) for service in _ROWS})
"""The code of a service for a value out of its limits."""

_SHOWN = 80
"""Characters of a value that a message shows; a policy document has thousands."""


def not_in_list(service: str, member: str, value: Any, allowed: Sequence[str]) -> str:
    """A word that is none of an enumeration."""
    said = f"Member must satisfy enum value set: {_hint(str(value), allowed)}"
    return f"{code(service, 'list')}: {_at(service, member, value)}{said}"


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


OPEN_LISTS = frozenset({"InstanceType", "BucketCannedACL"})
"""Enumerations that grow between releases of botocore, which the AWS provider doesn't check either, or lack a word
(`log-delivery-write`; S3 User Guide, acl-overview.html#canned-acl)."""

_NUMBERS = ("integer", "long", "float", "double")


def of_request(service: str, shape: Shape, value: Any, at: Path = ()) -> Iterator[str]:
    """The problems with an operation's parameters. Clients look for required members; unknown values are skipped."""
    if value is None or (isinstance(value, str) and UNKNOWN in value):
        return
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        for key, item in value.items():
            if key in shape.members:
                yield from of_request(service, shape.members[key], item, (*at, key))
    elif isinstance(shape, ListShape) and isinstance(value, list):
        yield from _range(service, shape, value, len(value), at, "length")
        for index, item in enumerate(value):
            yield from of_request(service, shape.member, item, (*at, index))
    elif isinstance(shape, MapShape) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from of_request(service, shape.key, key, at)
            yield from of_request(service, shape.value, item, (*at, key))
    elif not isinstance(shape, (StructureShape, ListShape, MapShape)):
        yield from _scalar(service, shape, value, at)


def _scalar(service: str, shape: Shape, value: Any, at: Path) -> Iterator[str]:
    """The problems with a text or a number."""
    sent, name = to_api(shape, value), diff.write(at)
    shown = "***" if "sensitive" in shape.metadata else sent
    if isinstance(shape, StringShape):
        if shape.enum:
            if shape.name not in OPEN_LISTS and sent not in shape.enum:
                yield not_in_list(service, name, shown, shape.enum)
            return
        yield from _range(service, shape, shown, len(sent), at, "length")
        pattern = shape.metadata.get("pattern")
        if pattern and not matches(pattern, sent):
            yield no_match(service, name, shown, pattern)
    elif shape.type_name in _NUMBERS and isinstance(sent, (int, float)):
        yield from _range(service, shape, shown, sent, at, "value")


def _range(service: str, shape: Shape, value: Any, size: float, at: Path, what: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    for limit, above in ((low, False), (high, True)):
        if limit is not None and (size > limit if above else size < limit):
            yield out_of_range(service, diff.write(at), value, what=what, limit=limit, above=above)
