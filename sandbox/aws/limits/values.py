"""Checking values against the limits of AWS's service models, in AWS's words."""

from __future__ import annotations

import difflib
import functools
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import regex
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from sandbox.aws.client import Aws
from sandbox.aws.limits.members import Member, tree
from sandbox.aws.shapes import pair_names, to_api
from sandbox.rpc import diff
from sandbox.rpc.diff import Path
from sandbox.rpc.hooks import Failure
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

_ROWS = strict_yaml.read(pathlib.Path(__file__).with_name("codes.yaml").read_text(encoding="utf-8"))


def code(service: str, of: str = "code") -> str:
    """The code of a service for what is wrong, by a word of codes.yaml."""
    found: str = _ROWS[service].get(of) or _ROWS[service]["code"]
    return found


CODES: Mapping[str, str] = MappingProxyType({service: code(service) for service in _ROWS})
"""The code of a service for a value out of its limits."""

_SHOWN = 80
"""Characters of a value that a message shows; a policy document has thousands."""


def missing(service: str, member: str) -> str:
    """A required member is missing."""
    given = code(service, "missing")
    if service == "ec2":
        return f"{given}: The request must contain the parameter {member}"
    return f"{given}: Value null at '{member}' failed to satisfy constraint: Member must not be null"


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


OPEN_LISTS = frozenset({"InstanceType"})
"""Enumerations that grow between releases of botocore; the AWS provider does not check them either."""

_NUMBERS = ("integer", "long", "float", "double")


def check(aws: Aws, type_token: str, inputs: Mapping[str, Any]) -> list[Failure]:
    """The problems with the inputs of a type, each with the property and the service's own words."""
    known = tree(aws, type_token)
    if known is None:
        return []
    checker = _Checker(known.operations.service)
    creating = {name: one for name, one in known.members.items() if one.operation == known.operations.operations[0]}
    supplied = known.operations.supplied | {known.operations.wrap}
    failures = list(checker.required(known.shape, "", creating, inputs, (), supplied))
    if known.operations.wrap:
        wrapped = known.shape.members[known.operations.wrap]
        failures += checker.required(wrapped, f"{known.operations.wrap}.", creating, inputs, (), supplied)
    for name, value in inputs.items():
        member = known.members.get(name)
        if member is not None:
            failures += checker.value(member, member.shape, value, (name,))
    return failures


def of_request(service: str, shape: Shape, value: Any, at: Path = ()) -> Iterator[str]:
    """The problems with an operation's parameters, in the service's own words. Clients look for required members."""
    checker, name = _Checker(service), diff.write(at)
    member = Member(name, member=name)
    if value is None:
        return
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        for key, item in value.items():
            if key in shape.members:
                yield from of_request(service, shape.members[key], item, (*at, key))
    elif isinstance(shape, ListShape) and isinstance(value, list):
        yield from (one.reason for one in checker.length(member, shape, value, len(value), at))
        for index, item in enumerate(value):
            yield from of_request(service, shape.member, item, (*at, index))
    elif isinstance(shape, MapShape) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from of_request(service, shape.key, key, at)
            yield from of_request(service, shape.value, item, (*at, key))
    else:
        yield from (one.reason for one in checker.scalar(member, shape, value, at))


class _Checker:
    def __init__(self, service: str) -> None:
        self._service = service

    def required(
        self, shape: Shape | None, prefix: str, members: Mapping[str, Member], value: Mapping[str, Any], at: Path,
        supplied: frozenset[str],
    ) -> Iterator[Failure]:  # fmt: skip
        """The required members of a structure that no property gives; `prefix` is the path of the structure."""
        while isinstance(shape, ListShape):
            shape = shape.member
        if not isinstance(shape, StructureShape):
            return
        for name in shape.required_members:
            if "idempotencyToken" in shape.members[name].metadata or {name, f"{prefix}{name}"} & supplied:
                continue
            sources = [one for one in members.values() if one.member.removeprefix(prefix).partition(".")[0] == name]
            if any(value.get(_last(one.path)) not in (None, "", []) for one in sources):
                continue
            shown = (*at, _last(sources[0].path)) if sources else at or (name,)
            yield Failure(diff.write(shown), missing(self._service, f"{prefix}{name}"))

    def value(self, member: Member, shape: Shape | None, value: Any, at: Path) -> Iterator[Failure]:
        """The problems with one value."""
        if shape is None or value is None or value == UNKNOWN or value in ("", [], {}):
            return
        if isinstance(shape, ListShape):
            yield from self._list(member, shape, value, at)
        elif isinstance(value, list):
            # Pulumi has a list where AWS has one object.
            for index, item in enumerate(value):
                yield from self.value(member, shape, item, (*at, index))
        elif isinstance(value, Mapping) and member.children:
            yield from self._object(member, shape, value, at)
        elif isinstance(shape, MapShape) and isinstance(value, Mapping):
            for key, item in value.items():
                yield from self.scalar(member, shape.key, key, (*at, key))
                yield from self.scalar(member, shape.value, item, (*at, key))
        elif isinstance(shape, StructureShape) and list(shape.members) == ["Value"]:
            yield from self.value(member, shape.members["Value"], value, at)
        else:
            yield from self.scalar(member, shape, value, at)

    def _list(self, member: Member, shape: ListShape, value: Any, at: Path) -> Iterator[Failure]:
        if isinstance(value, Mapping) and not member.children:
            yield from self._pairs(member, shape.member, value, at)
            return
        items = value if isinstance(value, list) else [value]
        yield from self.length(member, shape, value, len(items), at)
        for index, item in enumerate(items):
            yield from self.value(member, shape.member, item, (*at, index) if isinstance(value, list) else at)

    def _pairs(self, member: Member, shape: Shape, value: Mapping[str, Any], at: Path) -> Iterator[Failure]:
        """A map where AWS has a list of keys and values: tags."""
        names = pair_names(shape.members) if isinstance(shape, StructureShape) else None
        if names is None or not isinstance(shape, StructureShape):
            return
        for key, item in value.items():
            yield from self.scalar(member, shape.members[names[0]], key, (*at, key))
            if item != "":
                yield from self.scalar(member, shape.members[names[1]], item, (*at, key))

    def _object(self, member: Member, shape: Shape, value: Mapping[str, Any], at: Path) -> Iterator[Failure]:
        prefix = f"{member.member}." if member.member else ""
        yield from self.required(shape, prefix, member.children, value, at, member.supplied)
        for name, item in value.items():
            child = member.children.get(name)
            if child is not None:
                yield from self.value(child, child.shape, item, (*at, name))

    def scalar(self, member: Member, shape: Shape, value: Any, at: Path) -> Iterator[Failure]:
        """The problems with a text or a number."""
        if value == UNKNOWN or isinstance(shape, (StructureShape, ListShape, MapShape)):
            return
        sent = to_api(shape, value)
        name, where, shown = member.member, diff.write(at), "***" if "sensitive" in shape.metadata else sent
        if isinstance(shape, StringShape):
            if shape.enum:
                if shape.name not in OPEN_LISTS and sent not in shape.enum:
                    yield Failure(where, not_in_list(self._service, name, shown, shape.enum))
                return
            yield from self.length(member, shape, shown, len(sent), at)
            pattern = shape.metadata.get("pattern")
            if pattern and not matches(pattern, sent):
                yield Failure(where, no_match(self._service, name, shown, pattern))
        elif shape.type_name in _NUMBERS and isinstance(sent, (int, float)):
            yield from self._range(member, shape, shown, sent, at, "value")

    def length(self, member: Member, shape: Shape, value: Any, length: int, at: Path) -> Iterator[Failure]:
        """The problems with the length of a text, or with how many items a list has."""
        yield from self._range(member, shape, value, length, at, "length")

    def _range(self, member: Member, shape: Shape, value: Any, size: float, at: Path, what: str) -> Iterator[Failure]:
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        for limit, above in ((low, False), (high, True)):
            if limit is not None and (size > limit if above else size < limit):
                text = out_of_range(self._service, member.member, value, what=what, limit=limit, above=above)
                yield Failure(diff.write(at), text)


def _last(path: str) -> str:
    return path.rpartition(".")[2]
