"""The types of the fields of manifests, from the classes of pulumi_kubernetes, which are generated from Kubernetes'
OpenAPI, and for other kinds from `shapes.yaml`. An API server decodes no value of another type (k8s.io/apimachinery,
runtime/serializer/json), and what reads manifests here relies on it."""

import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, get_args, get_origin

from pulumi._types import input_type_types, is_input_type
from pulumi_kubernetes import apps, batch, core, meta

from slipway.why.bundle import Object
from slipway.why.judge import without_nulls
from spec import strict_yaml
from spec.settings.problems import HIDDEN, ConfigurationError, Problem, without_secrets

Located = tuple[tuple[str | int, ...], Object]
"""An object of a file, after the number of its document and its path there."""
_STABLE: Final = re.compile(r"v\d+")
"""Versions of Kubernetes' own kinds: the last beta of one that members create ended with 1.26 (kubernetes.io,
"Deprecated API Migration Guide")."""
_AMOUNTS: Final = frozenset(
    ("averageValue", "capacity", "divisor", "hard", "limits", "overhead", "requests", "sizeLimit", "target")
)
"""Fields in which a number is read as text (k8s.io/apimachinery, api/resource, Quantity)."""
_VALUES: Final[Mapping[Any, tuple[str, tuple[type, ...]]]] = {
    str: ("text", (str, date)),
    int: ("a whole number", (int,)),
    bool: ("true or false", (bool,)),
}
"""What a value is called, and Python's types of it; a date of YAML is text to Kubernetes."""


def decoded(found: Sequence[Located], file: str) -> list[Located]:
    """The same objects without nulls, which count as absent.

    Raises:
        ConfigurationError: Values are of other types than their fields. Those that may be secrets are not shown.
    """
    objects = [(at, without_nulls(one)) for at, one in found]
    problems = [
        replace(each, value=HIDDEN) if one.get("kind") == "Secret" or each.path.endswith("].value") else each
        for at, one in objects
        for each in _wrong(".".join(map(str, ("document", *at))), one, _type_of(one))
    ]
    if problems:
        raise ConfigurationError(problems, file)
    return objects


@cache
def classes(group: str, kind: str) -> Mapping[str, type]:
    """Classes of a kind of Kubernetes itself, by stable version; none for another."""
    package = f"pulumi_kubernetes.{group.partition('.')[0] or 'core'}"
    if ("." in group and not group.endswith(".k8s.io")) or find_spec(package) is None:
        return {}
    names = [one.name for one in pkgutil.iter_modules(import_module(package).__path__)]
    modules = {one: import_module(f"{package}.{one}") for one in names if _STABLE.fullmatch(one)}
    return {one: getattr(each, f"{kind}Args") for one, each in modules.items() if hasattr(each, f"{kind}Patch")}


def fields_of(kind: Any) -> Mapping[str, Any]:
    """The fields of an object with their types, by name; none for a map and for a value."""
    return _fields(kind) if isinstance(kind, type) and is_input_type(kind) else {}


_fields = cache(input_type_types)


def parts(kind: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """The type of the items of a list; and the types of the fields of a map, where `*` is any other. None where a value
    has no such parts, or they are of any type."""
    if isinstance(kind, Mapping):
        return None, {**fields_of(_named(kind.get("+", ""))), **kind}
    if isinstance(kind, list):
        return kind[0], None
    # `Sequence[Union[X, Awaitable[X], Output[X]]]`
    inner = next((one for each in get_args(kind)[-1:] for one in get_args(each) or (each,)), None)
    origin = get_origin(kind)
    return (
        (inner, None) if origin is Sequence else (None, {"*": inner} if origin is Mapping else fields_of(kind) or None)
    )


@cache
def _table() -> Mapping[str, Any]:
    found: Mapping[str, Any] = strict_yaml.beside(__file__)
    return found


def _named(name: str) -> Any:
    """The type of a name in the table, of the table or of Kubernetes."""
    if isinstance(found := {"text": str, "number": int, **_table()}.get(name), str):
        return _named(found)
    return found or next((getattr(one, f"{name}Args") for one in _PACKAGES if hasattr(one, f"{name}Args")), None)


_PACKAGES: Final = (core.v1, batch.v1, apps.v1, meta.v1)


def _type_of(manifest: Object) -> Any:
    """The type of an object, by its kind alone if Kubernetes has no such version."""
    kind, (group, _, version) = str(manifest.get("kind")), str(manifest.get("apiVersion")).rpartition("/")
    found: Any = classes(group, kind).get(version) or _named(kind)
    fields = fields_of(found) or found or {}
    return {"metadata": "ObjectMeta", "spec": {}, **fields, "apiVersion": "text", "kind": "text"}


def _wrong(path: str, value: Any, kind: Any, also: tuple[type, ...] = ()) -> Iterator[Problem]:
    """Each value of another type. `also`: Python's types that pass for text."""
    kind = _named(kind) if isinstance(kind, str) else kind
    several, fields = parts(kind)
    truth = isinstance(value, bool) and kind is not bool  # a number to Python
    wanted, types = _VALUES.get(kind, ("", ())) if several is None and fields is None else ("a map", ())
    if several is not None and isinstance(value, list):
        for at, one in enumerate(value):
            yield from _wrong(f"{path}[{at}]", one, several)
    elif fields is not None and isinstance(value, Mapping):
        for key, one in value.items():
            amount = (int, float) if key in _AMOUNTS else also
            yield from _wrong(f"{path}.{key}", one, fields.get(key, fields.get("*")), amount)
    elif wanted and (truth or not isinstance(value, types + also * (kind is str))):
        wanted = wanted if several is None else "a list"
        yield without_secrets(Problem(path, f"must be {wanted}", value, f"Write {wanted}."))
