"""Other values for the inputs of a type, at any depth, derived from the SDK's kinds and the shapes of AWS's model."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from botocore.model import ListShape, MapShape, Shape, StringShape
from sandbox.aws.outputs import simplest

from sandbox.aws.kinds import Field, Kind, ListOf, MapOf, ObjectOf, Scalar
from sandbox.aws.limits.members import Member
from sandbox.aws.limits.operations import Reason
from tests.sandbox.aws.samples import World
from tests.sandbox.aws.samples.world import OTHER_TRUST, document

DEPTH: Final = 4
"""Properties in one another; the expressions of budgets contain themselves."""

Found = Iterator[tuple[str, Any]]
_TEXTS: Final = ("changed", "10", "10.1.9.0/24", "2001:db8::/56", "cron(0 1 * * ? *)", "/changed/", "0755", "s3://b/p")


@dataclass(frozen=True)
class Alternatives:
    """Values that refer to other objects refer to some of `world`."""

    world: World

    def of(self, name: str, kind: Kind, member: Member, present: Any) -> Found:
        """Paths at or below a property, each with a value for the property that is another one there.

        A path may have several values: any of them may be refused, where AWS's model says nothing about a text.
        """
        kind = simplest(kind)
        if member.reason is Reason.OUTPUT:
            return
        if isinstance(kind, ObjectOf):
            inside = present if isinstance(present, Mapping) else self._required(kind.fields, member)
            yield from self._below(name, kind, member, inside)
        elif isinstance(kind, ListOf):
            yield from self._of_list(name, kind, member, present if isinstance(present, list) else [])
        elif isinstance(kind, MapOf):
            for value in self._scalars(name, simplest(kind.item), _inner(member.shape), None):
                yield name, {**(present or {}), "changed": value}
        else:
            for value in self._scalars(name, kind, member.shape, present):
                yield name, value

    def _below(self, name: str, kind: ObjectOf, member: Member, inside: Mapping[str, Any]) -> Found:
        if name.count(".") + 1 >= DEPTH:
            return
        for key, field in kind.fields.items():
            child = member.children.get(key, Member(key))
            for path, value in self.of(f"{name}.{key}", field.kind, child, inside.get(key)):
                yield path, {**inside, key: value}
            if key in inside and not field.required:
                yield f"{name}.{key} removed", {one: value for one, value in inside.items() if one != key}

    def _of_list(self, name: str, kind: ListOf, member: Member, items: list[Any]) -> Found:
        one = Member(name, shape=_inner(member.shape), children=member.children)
        for path, value in self.of(name, kind.item, one, items[0] if items else None):
            yield path, [value, *items[1:]]
            if items and path == name:
                yield f"{path} longer", [*items, value]
        if items:
            yield f"{name} shorter", items[:-1]

    def _required(self, fields: Mapping[str, Field], member: Member) -> dict[str, Any]:
        """The properties that a new object needs: by the SDK or by AWS's model."""
        needed = set(getattr(_inner(member.shape), "required_members", ()))
        made: dict[str, Any] = {}
        for key, field in fields.items():
            child = member.children.get(key, Member(key))
            if field.required or child.member.rpartition(".")[2] in needed:
                _, made[key] = next(self.of(key, field.kind, child, None), ("", None))
        return {key: value for key, value in made.items() if value is not None}

    def _scalars(self, name: str, kind: Kind, shape: Shape | None, present: Any) -> Iterator[Any]:
        if not isinstance(kind, Scalar):
            return
        # The AWS provider accepts texts for numbers and booleans.
        form = str if kind.name == "str" or "." in name else (lambda value: value)
        if kind.name == "bool" or (shape is not None and shape.type_name == "boolean"):
            value = present not in (True, "true")
            yield form(value).lower() if form is str else value
        elif kind.name in ("int", "float") or (shape is not None and shape.type_name in ("integer", "long")):
            yield from map(form, _numbers(shape, present))
        elif shape is not None and shape.type_name == "timestamp":
            yield "2030-01-01T00:00:00Z"
        else:
            known = shape.enum if isinstance(shape, StringShape) and shape.enum else self._texts(name)
            yield from (one for one in known if one != present)

    def _texts(self, name: str) -> tuple[str, ...]:
        last = name.rpartition(".")[2].lower()
        return next((values for word, values in self._known.items() if word in last), _TEXTS)

    @cached_property
    def _known(self) -> Mapping[str, tuple[str, ...]]:
        """Texts for inputs with such a word in the name: documents, and what other objects are named by."""
        world, role = self.world, self.world.role()
        queue = world.queue()["arn"]
        dead = json.dumps({"deadLetterTargetArn": queue, "maxReceiveCount": 4})
        return {
            "assumerolepolicy": (OTHER_TRUST,), "redrivepolicy": (dead,), "eventpattern": ('{"source": ["aws.s3"]}',),
            "policy": (document("s3:List*"), "changed"), "version": ("$Latest", "1.35", "17.5", "changed"),
            "subnet": (world.subnets(1)[0],), "securitygroup": (world.group(),), "groupid": (world.group(),),
            "vpcid": (world.vpc(),), "table": (world.table(),), "bucket": (world.bucket(),),
            "key": (world.key()["arn"], "changed"), "role": (role["arn"], role["name"]), "arn": (queue, role["arn"]),
        }  # fmt: skip


def _inner(shape: Shape | None) -> Shape | None:
    if isinstance(shape, ListShape):
        return shape.member
    return shape.value if isinstance(shape, MapShape) else shape


def _numbers(shape: Shape | None, present: Any) -> Iterator[int]:
    """Numbers near the present one, else the bounds of the model."""
    metadata = shape.metadata if shape else {}
    if present is not None:
        yield from (int(float(present)) + 1, int(float(present)) * 2, int(float(present)) - 1)
    yield from (int(bound) for bound in (metadata.get("min"), metadata.get("max")) if bound is not None)
    yield from (1, 60, 400, 1024)
