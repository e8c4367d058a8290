"""Checking the inputs of a type against AWS's model: required members, lengths, ranges, enumerations and patterns.

Unknown values are skipped, and so are empty texts and lists, which the AWS provider does not send.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.limits import patterns, wording
from slipway.sandbox.aws.limits.members import Member, tree
from slipway.sandbox.aws.shapes import pair_names, to_api
from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.hooks import Failure
from slipway.sandbox.rpc.paths import Path
from slipway.sandbox.rpc.wire import UNKNOWN

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
            sources = [one for one in members.values() if _head(one.member.removeprefix(prefix)) == name]
            if any(value.get(_last(one.path)) not in (None, "") for one in sources):
                continue
            shown = (*at, _last(sources[0].path)) if sources else at or (name,)
            yield Failure(paths.write(shown), wording.missing(self._service, f"{prefix}{name}"))

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
                yield from self._scalar(member, shape.key, key, (*at, key))
                yield from self._scalar(member, shape.value, item, (*at, key))
        elif isinstance(shape, StructureShape) and list(shape.members) == ["Value"]:
            yield from self.value(member, shape.members["Value"], value, at)
        else:
            yield from self._scalar(member, shape, value, at)

    def _list(self, member: Member, shape: ListShape, value: Any, at: Path) -> Iterator[Failure]:
        if isinstance(value, Mapping) and not member.children:
            yield from self._pairs(member, shape.member, value, at)
            return
        items = value if isinstance(value, list) else [value]
        yield from self._length(member, shape, value, len(items), at)
        for index, item in enumerate(items):
            yield from self.value(member, shape.member, item, (*at, index) if isinstance(value, list) else at)

    def _pairs(self, member: Member, shape: Shape, value: Mapping[str, Any], at: Path) -> Iterator[Failure]:
        """A map where AWS has a list of keys and values: tags."""
        names = pair_names(shape.members) if isinstance(shape, StructureShape) else None
        if names is None or not isinstance(shape, StructureShape):
            return
        for key, item in value.items():
            yield from self._scalar(member, shape.members[names[0]], key, (*at, key))
            if item != "":
                yield from self._scalar(member, shape.members[names[1]], item, (*at, key))

    def _object(self, member: Member, shape: Shape, value: Mapping[str, Any], at: Path) -> Iterator[Failure]:
        prefix = f"{member.member}." if member.member else ""
        yield from self.required(shape, prefix, member.children, value, at, member.supplied)
        for name, item in value.items():
            child = member.children.get(name)
            if child is not None:
                yield from self.value(child, child.shape, item, (*at, name))

    def _scalar(self, member: Member, shape: Shape, value: Any, at: Path) -> Iterator[Failure]:
        if value == UNKNOWN or isinstance(shape, (StructureShape, ListShape, MapShape)):
            return
        sent = to_api(shape, value)
        name, where, shown = member.member, paths.write(at), "***" if "sensitive" in shape.metadata else sent
        if isinstance(shape, StringShape):
            if shape.enum:
                if shape.name not in OPEN_LISTS and sent not in shape.enum:
                    yield Failure(where, wording.not_in_list(self._service, name, shown, shape.enum))
                return
            yield from self._length(member, shape, shown, len(sent), at)
            pattern = shape.metadata.get("pattern")
            if pattern and not patterns.matches(pattern, sent):
                yield Failure(where, wording.no_match(self._service, name, shown, pattern))
        elif shape.type_name in _NUMBERS and isinstance(sent, (int, float)):
            yield from self._range(member, shape, shown, sent, at, "value")

    def _length(self, member: Member, shape: Shape, value: Any, length: int, at: Path) -> Iterator[Failure]:
        yield from self._range(member, shape, value, length, at, "length")

    def _range(self, member: Member, shape: Shape, value: Any, size: float, at: Path, what: str) -> Iterator[Failure]:
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        for limit, above in ((low, False), (high, True)):
            if limit is not None and (size > limit if above else size < limit):
                text = wording.out_of_range(self._service, member.member, value, what=what, limit=limit, above=above)
                yield Failure(paths.write(at), text)


def _head(path: str) -> str:
    return path.split(".", maxsplit=1)[0]


def _last(path: str) -> str:
    return path.rpartition(".")[2]
