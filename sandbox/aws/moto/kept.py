"""Objects of AWS that moto lacks, or can't change: kept by the members of their service's model, as `kept.yaml` says.

Creating stores the members of a request, describing finds objects by those of their members that the request names,
and answers are given in the form of the operation's output. They are kept beside moto's own objects of the service, and
end with them.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from botocore import xform_name
from botocore.model import ListShape, OperationModel, Shape, StructureShape
from moto.backends import get_backend
from moto.core import errors
from moto.core.exceptions import ServiceException
from moto.core.utils import get_service_model, utcnow
from moto.moto_api._internal import mock_random

from sandbox.aws.client import Aws
from sandbox.aws.rules.requests import fact, search
from sandbox.aws.shapes import fill, normal
from spec import strict_yaml

_VERBS: Final = ("create", "put", "read", "update", "delete")
_ATTRIBUTE: Final = "slipway_kept"
UNANSWERED: Final = "NotImplemented"
"""The code of an operation that nobody answers."""
Kept = dict[str, Any]


class KeptError(ServiceException):
    """An answer with a code of the service."""


@dataclass(frozen=True)
class Kind:
    """One kind of object."""

    name: str  # the model's name: a parameter or a part of an answer that ends with it holds the object's members
    key: tuple[str, ...]  # the members that identify one
    new: Mapping[str, Any] = field(default_factory=dict)
    """Members that the service gives, at creation; a parameter of the same name has precedence."""
    shown: Mapping[str, Any] = field(default_factory=dict)  # members that follow from others
    missing: str = ""  # the error code where there is none; without one, a description is empty
    exists: str = ""  # the error code where there is one already; without one, a second creation replaces it
    merged: tuple[str, ...] = ()  # structures of which an update changes what it names
    facts: Mapping[str, str] = field(default_factory=dict)
    """Members that another service or object knows, in the form of rules/requests.py."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Kinds of objects that are made with one, belong to it and end with it: expressions of lists of their members."""
    each: str = ""  # the parameter that lists the objects of a request
    resource: str = ""  # the member by which tags name the object
    holder: str = ""  # method of moto that finds its own object to which these belong, by the first member of the key

    def identity(self, members: Mapping[str, Any]) -> tuple[Any, ...]:
        """The key of an object, or the one that parameters name."""
        return tuple(_text(members.get(name)) for name in self.key)

    def members(self, parameters: Mapping[str, Any]) -> Kept:
        """The members in parameters, of which one may hold the others."""
        found: Kept = {}
        for name, value in parameters.items():
            inside = name not in self.key and self.name.endswith(name.removeprefix("New"))
            found |= value if inside and isinstance(value, Mapping) else {name: value}
        return found


@functools.cache
def operations() -> Mapping[tuple[str, str], tuple[str, Kind]]:
    """The verb and the kind of each operation, by service and the model's name."""
    found: dict[tuple[str, str], tuple[str, Kind]] = {}
    for service, kinds in strict_yaml.beside(__file__).items():
        for name, row in kinds.items():
            words: Any = {word: tuple(value) if isinstance(value, list) else value for word, value in row.items()}
            called = {verb: words.pop(verb) for verb in _VERBS if verb in words}
            kind = Kind(name, **words)
            for verb, names in called.items():
                for operation in (names,) if isinstance(names, str) else names:
                    found[service, operation] = verb, kind
    return found


def install() -> None:
    """Let moto's server lead the paths of these operations to their service. Before it starts; idempotent."""
    if UNANSWERED not in errors.COMMON_ERROR_CODES:
        errors.COMMON_ERROR_CODES.append(UNANSWERED)
    for service, operation in operations():
        model = get_service_model(service)
        if model.metadata["protocol"].startswith("rest"):
            paths: dict[str, Any] = importlib.import_module(f"moto.{service}.urls").url_paths
            path = model.operation_model(operation).http["requestUri"].partition("?")[0]
            paths.setdefault(re.sub(r"\{(\w+)\+?\}", r"<\1>", path), next(iter(paths.values())))


class Store:
    """What is kept of a service in an account and region."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[tuple[Any, ...], Kept]] = {}
        self.tags: dict[str, dict[str, str]] = {}
        """By what names an object: its ARN, or its ID in EC2."""
        self.given: dict[tuple[str, str], dict[str, Any]] = {}
        """What requests set of moto's objects (remembered.py)."""


def store(aws: Aws, service: str, holder: str = "", name: Any = None) -> Store:
    """What is kept beside moto's objects of a service, or beside one that a method finds by name."""
    backends: Any = get_backend(service)[aws.account]  # type: ignore[call-overload]
    place = backends[aws.region if aws.region in backends.regions else aws.partition]
    if holder:
        place = getattr(place, holder)(name)
    if not hasattr(place, _ATTRIBUTE):
        setattr(place, _ATTRIBUTE, Store())
    found: Store = getattr(place, _ATTRIBUTE)
    return found


def answers(service: str, operation: str) -> bool:
    """Whether an operation may be about what is kept."""
    return (service, operation) in operations() or _is_tagging(service, operation)


def answer(aws: Aws, service: str, model: OperationModel, parameters: Mapping[str, Any]) -> Kept | None:
    """The answer to an operation; None if it is another's. Raises KeptError."""
    if (service, model.name) in operations():
        verb, kind = operations()[service, model.name]
        place = store(aws, service, kind.holder, parameters.get(kind.key[0]))
        return _Answer(aws, service, model, kind, place).of(verb, parameters)
    return _tagging(store(aws, service).tags, model, parameters)


@dataclass(frozen=True)
class _Answer:
    aws: Aws
    service: str
    model: OperationModel
    kind: Kind
    store: Store

    @property
    def objects(self) -> dict[tuple[Any, ...], Kept]:
        return self.store.objects.setdefault(self.kind.name, {})

    def of(self, verb: str, parameters: Mapping[str, Any]) -> Kept:
        if verb == "read":
            return self._outputs(self._found(parameters), read=True)
        many = parameters.get(self.kind.each, []) if self.kind.each else [self.kind.members(parameters)]
        return self._outputs([getattr(self, f"_{verb}")(dict(members)) for members in many])

    def _create(self, members: Kept) -> Kept:
        tags, kept = _taken_out(members) if self.kind.resource else ({}, members)
        now, hex = utcnow(), mock_random.get_random_hex(17)
        month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        made = {"uuid": str(mock_random.uuid4()), "hex": hex, "short": hex[:8], "now": now, "month": month}
        names = {**self.aws.names(), **made, **kept}
        for name, template in self.kind.new.items():
            value = _filled(template, names)
            names[name] = kept[name] = (
                {**value, **kept.get(name, {})} if isinstance(value, dict) else kept.get(name, value)
            )
        known = {name: fact(self.aws, text, kept) for name, text in self.kind.facts.items()}
        kept |= {name: value for name, value in known.items() if value is not None}
        key = self.kind.identity(kept)
        if key in self.objects and self.kind.exists:
            raise KeptError(self.kind.exists, f"{self.kind.name} {', '.join(key)} already exists")
        self.objects[key] = kept
        for name, expression in self.kind.parts.items():
            kinds = (kind for (of, _), (_, kind) in operations().items() if of == self.service)
            part = replace(self, kind=next(kind for kind in kinds if kind.name == name))
            for one in search(expression, kept) or ():
                part._create({**{of: kept[of] for of in self.kind.key}, **one})
        if self.kind.resource:
            self.store.tags[kept[self.kind.resource]] = tags
        return kept

    def _put(self, members: Kept) -> Kept:
        return self._update(members) if self.kind.identity(members) in self.objects else self._create(members)

    def _update(self, members: Kept) -> Kept:
        kept = self._one(members)
        for name, value in members.items():
            own: Any = kept.get(name)
            kept[name] = {**own, **value} if name in self.kind.merged and own else value
        return kept

    def _delete(self, members: Kept) -> Kept:
        kept = self._one(members)
        del self.objects[self.kind.identity(kept)]
        for name in self.kind.parts:
            parts = self.store.objects.get(name, {})
            for key in [key for key, part in parts.items() if self.kind.identity(part) == self.kind.identity(kept)]:
                del parts[key]
        self.store.tags.pop(kept.get(self.kind.resource, ""), None)
        return kept

    def _one(self, members: Kept) -> Kept:
        key = self.kind.identity(members)
        if key not in self.objects:
            raise self._missing(key)
        return self.objects[key]

    def _missing(self, key: Iterable[Any]) -> KeptError:
        return KeptError(self.kind.missing, f"{self.kind.name} {', '.join(map(str, key))} does not exist")

    def _says_missing(self) -> bool:
        """Whether a description has that error: the models of some services have none at all."""
        named = [shape.name for shape in self.model.error_shapes]
        return bool(self.kind.missing) and (not named or self.kind.missing in named)

    def _found(self, parameters: Mapping[str, Any]) -> list[Kept]:
        """The objects that a description names, by members and by filters."""
        found = list(self.objects.values())
        members = {normal(name): name for kept in found for name in (*kept, *self.kind.shown)}
        members |= {normal(name): name for name in self.kind.key}
        for name, value in parameters.items():
            member = members.get(normal(name.removesuffix("List"))) or members.get(normal(name.removesuffix("es")))
            if name == "Filters":
                pairs = [(members.get(normal(one["Name"].replace("-", "")), ""), one["Values"]) for one in value]
                found = [kept for kept in found if all(str(kept.get(of)) in values for of, values in pairs)]
            elif member is not None:
                wanted = [_text(one) for one in (value if isinstance(value, list) else [value])]
                found = [kept for kept in found if _text(kept.get(member)) in wanted]
                if len(found) < len(wanted) and self._says_missing() and (member,) == self.kind.key:
                    raise self._missing(wanted)
        one = set(self.kind.key) <= set(parameters) or not any(map(_is_of_objects, self._shape().members.values()))
        if one and not found and self._says_missing():
            raise self._missing(parameters.values())
        return found

    def _outputs(self, found: list[Kept], *, read: bool = False) -> Kept:
        shown = [self._shown(kept) for kept in found]
        outputs: Kept = {}
        for name, member in self._shape().members.items():
            if len(shown) == 1 and name in shown[0]:
                outputs[name] = shown[0][name]
            elif read and _is_of_objects(member):
                outputs[name] = [kept.get(self.kind.name, kept) for kept in shown]
            elif isinstance(member, StructureShape) and shown and self.kind.name.lower().endswith(name.lower()):
                outputs[name] = shown[0]
        return outputs

    def _shape(self) -> StructureShape:
        shape = self.model.output_shape
        return (
            shape
            if isinstance(shape, StructureShape)
            else StructureShape("Empty", {"type": "structure", "members": {}})
        )

    def _shown(self, kept: Kept) -> Kept:
        names = {**self.aws.names(), **kept}
        tags = self.store.tags.get(kept.get(self.kind.resource, ""), {})
        more = {name: _filled(template, names) for name, template in self.kind.shown.items()}
        return {**kept, **more, **(_pairs("Tags", tags) if self.kind.resource else {})}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _is_of_objects(shape: Shape) -> bool:
    return isinstance(shape, ListShape) and isinstance(shape.member, StructureShape)


def _filled(template: Any, names: Mapping[str, Any]) -> Any:
    """A template that is one name has its value, whatever that is; None if it has none."""
    if isinstance(template, Mapping):
        return {name: _filled(inner, names) for name, inner in template.items()}
    whole = re.fullmatch(r"\{(\w+)\}", template) if isinstance(template, str) else None
    return names.get(whole[1]) if whole else fill(template, names)


# Tags: an operation on tags is ours where it names one of these objects.

_ADDS: Final = ("TagResource", "CreateTags")
_REMOVES: Final = ("UntagResource", "DeleteTags")
_LISTS: Final = ("ListTagsForResource",)
_GIVEN: Final = ("ResourceTags", "Tags", "TagSpecifications")


def _pairs(name: str, tags: Mapping[str, str]) -> Kept:
    return {name: [{"Key": key, "Value": value} for key, value in tags.items()]}


def _taken_out(members: Kept) -> tuple[dict[str, str], Kept]:
    """The tags of a request, and its other members."""
    given = members.get("ResourceTags") or members.get("Tags") or []
    given = [*given, *(tag for one in members.get("TagSpecifications") or () for tag in one.get("Tags") or ())]
    others = {name: value for name, value in members.items() if name not in _GIVEN}
    return {one["Key"]: one.get("Value", "") for one in given}, others


@functools.cache
def _is_tagging(service: str, operation: str) -> bool:
    tagged = any(of == service and kind.resource for (of, _), (_, kind) in operations().items())
    return tagged and operation in (*_ADDS, *_REMOVES, *_LISTS)


def _tagging(tags: dict[str, dict[str, str]], model: OperationModel, parameters: Mapping[str, Any]) -> Kept | None:
    named = [value for name, value in parameters.items() if name.startswith("Resource") and "Tag" not in name]
    ours = [tags[one] for each in named for one in (each if isinstance(each, list) else [each]) if one in tags]
    if not ours:
        return None
    if model.name in _LISTS:
        return _pairs(next(name for name in model.output_shape.members if "Tag" in name), ours[0])
    given = next(value for name, value in parameters.items() if "Tag" in name)
    for own in ours:
        for one in given:
            if model.name in _ADDS:
                own[one["Key"]] = one.get("Value", "")
            else:
                own.pop(one if isinstance(one, str) else one["Key"], None)
    return {}


def unanswered(service: str, action: str) -> KeptError:
    """What an operation gets that nobody answers: no client tries it again."""
    return KeptError(UNANSWERED, f"the sandbox's AWS does not answer {service} {xform_name(action)}")
