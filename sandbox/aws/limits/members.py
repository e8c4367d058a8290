"""Which operations take which input of a type, and the limits that AWS's service models set there."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from botocore.model import ListShape, Shape, StructureShape

from sandbox.aws.client import Aws
from sandbox.aws.kinds import AnyOf, Kind, ListOf, ObjectOf
from sandbox.aws.limits.operations import EVERYWHERE, OPERATIONS, Operations, Reason
from sandbox.aws.schema import Schema, schema
from sandbox.aws.shapes import normal

_LOCK = threading.Lock()
_TREES: dict[str, Tree] = {}
_OF_ONE: dict[tuple[str, str], Mapping[str, Member]] = {}


@dataclass(frozen=True)
class Member:
    """One input, at any depth.

    Attributes:
        path: Its path in Pulumi's spelling, without indexes.
        operation: The operation that takes it; empty if none does.
        member: Its path in the operation's parameters.
        shape: What the model says about it; None if it is no member.
        children: The properties of an object.
        reason: Why it is no member; None together with no shape means that the tables forgot it.
        supplied: Required members that the provider sends itself, for an object.
    """

    path: str
    operation: str = ""
    member: str = ""
    shape: Shape | None = None
    children: Mapping[str, Member] = field(default_factory=dict)
    reason: Reason | None = None
    supplied: frozenset[str] = frozenset()

    def all(self) -> Iterator[Member]:
        """The member and everything below it."""
        yield self
        for child in self.children.values():
            yield from child.all()


@dataclass(frozen=True)
class Tree:
    """The members of one type; `shape` is the parameters of its first operation."""

    operations: Operations
    shape: StructureShape
    members: Mapping[str, Member]

    def all(self) -> Iterator[Member]:
        """All members, at any depth."""
        for member in self.members.values():
            yield from member.all()


def tree(aws: Aws, type_token: str) -> Tree | None:
    """The members of a type; None if the tables do not have it. Thread-safe."""
    operations, known = OPERATIONS.get(type_token), schema(type_token)
    if operations is None or known is None:
        return None
    with _LOCK:
        if type_token not in _TREES:
            _TREES[type_token] = _Builder(aws, operations).build(known)
        return _TREES[type_token]


def of_one(aws: Aws, type_token: str, operation: str) -> Mapping[str, Member]:
    """The inputs of a type of which an operation has a member. Thread-safe."""
    key = (type_token, operation)
    with _LOCK:
        if key not in _OF_ONE:
            _OF_ONE[key] = _of_one(aws, *key)
        return _OF_ONE[key]


def _of_one(aws: Aws, type_token: str, operation: str) -> Mapping[str, Member]:
    known, row = schema(type_token), OPERATIONS[type_token]
    if known is None:
        return {}
    shape, members = aws.input_shape(row.service, operation), {}
    for path, target in row.members.items():
        of, _, member = target.rpartition(":")
        only, _, name = path.rpartition(":")
        # Below an object the path begins there.
        if {of, only} <= {"", operation} and member and ("." in name or _follow(shape, member)):
            members[name] = member
    builder = _Builder(aws, replace(row, operations=(operation,), members=members))
    return {name: one for name, one in builder.build(known).members.items() if one.member}


class _Builder:
    def __init__(self, aws: Aws, operations: Operations) -> None:
        self._operations = operations
        self._shapes = {name: aws.input_shape(operations.service, name) for name in operations.operations}

    def build(self, known: Schema) -> Tree:
        members = {name: self._input(name, one.kind) for name, one in known.inputs.items()}
        return Tree(self._operations, self._shapes[self._operations.operations[0]], members)

    def _input(self, name: str, kind: Kind) -> Member:
        reason = self._reason(name)
        if reason is not None:
            return Member(name, reason=reason)
        target = self._operations.members.get(name, "")
        operation, _, path = target.rpartition(":")
        if operation and not path:
            return self._whole(name, kind, operation)
        for candidate in [operation] if operation else self._operations.operations:
            found = self._find(candidate, name, path)
            if found is not None:
                return self._member(name, kind, candidate, *found)
        return Member(name)

    def _whole(self, name: str, kind: Kind, operation: str) -> Member:
        """An object whose properties are the parameters of an operation of its own."""
        supplied = {one.removeprefix(f"{operation}.") for one in self._operations.supplied}
        shape = self._shapes[operation]
        return Member(
            name, operation, "", shape, self._children(name, kind, operation, "", shape), None, frozenset(supplied)
        )

    def _find(self, operation: str, name: str, path: str) -> tuple[str, Shape] | None:
        root = self._shapes[operation]
        found = _follow(root, path) if path else _named(root, name)
        wrap = self._operations.wrap
        if found is None and wrap and not path and wrap in root.members:
            inner = _named(_structure(root.members[wrap]), name)
            return (f"{wrap}.{inner[0]}", inner[1]) if inner else None
        return found

    def _member(self, path: str, kind: Kind, operation: str, member: str, shape: Shape) -> Member:
        return Member(
            path, operation, member, shape, self._children(path, kind, operation, member, shape), None,
            self._operations.supplied,
        )  # fmt: skip

    def _children(self, path: str, kind: Kind, operation: str, member: str, shape: Shape) -> dict[str, Member]:
        kind = _element(kind)
        if not isinstance(kind, ObjectOf):
            return {}
        structure = _structure(shape)
        children = {}
        for name, one in kind.fields.items():
            below = f"{path}.{name}"
            reason = self._reason(below)
            target = self._operations.members.get(below, "")
            found = _follow(structure, target) if target else _named(structure, name)
            if reason is not None or found is None:
                children[name] = Member(below, reason=reason)
            else:
                children[name] = self._member(below, one.kind, operation, f"{member}.{found[0]}".strip("."), found[1])
        return children

    def _reason(self, path: str) -> Reason | None:
        return self._operations.unmapped.get(path) or EVERYWHERE.get(path)


def _element(kind: Kind) -> Kind:
    while isinstance(kind, (AnyOf, ListOf)):
        kind = kind.options[0] if isinstance(kind, AnyOf) else kind.item
    return kind


def _structure(shape: Shape) -> Shape:
    while isinstance(shape, ListShape):
        shape = shape.member
    return shape


def _named(shape: Shape, name: str) -> tuple[str, Shape] | None:
    """The member of a structure with a name that is equal but for case and plural."""
    if not isinstance(shape, StructureShape):
        return None
    return next(((key, item) for key, item in shape.members.items() if normal(key) == normal(name)), None)


def _follow(shape: Shape, path: str) -> tuple[str, Shape] | None:
    """The member at a path, through lists."""
    for part in path.split("."):
        inner = _structure(shape)
        if not isinstance(inner, StructureShape) or part not in inner.members:
            return None
        shape = inner.members[part]
    return path, shape
