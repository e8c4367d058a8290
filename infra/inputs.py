"""Inputs of components as a Pulumi package has them: derived from their own classes, so that nothing stands twice.

An input in the package has the name, type and text of the component's own; resources aren't among them. Settings have
the types of a stack file, and a pool is given by its settings and the zones where it may be.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, Final, NotRequired, TypedDict, get_args, get_origin

import pulumi
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from components.base.outputs import Cluster
from components.storage.claims import ClaimArgs
from infra import schema
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve
from spec.settings.parts import alone, part
from spec.settings.pools import Pool
from spec.settings.zones import Place

NESTED: Final = (Cluster, ClaimArgs)
"""Classes within inputs."""
_POOLS: Final = Sequence[PoolSpec]
_ZONES: Final = "Zones of the pools."


def named(kind: type) -> str:
    """Name of its type in the package: `ClusterArgs`, beside the settings `Cluster`."""
    return f"{kind.__name__.removesuffix('Args')}Args"


def typed(kind: type) -> Any:
    """A TypedDict of the inputs, from which Pulumi infers the schema."""
    found: dict[str, Any] = {}
    for name, hint, needed in _fields(kind):
        found[name] = _type(hint) if needed else NotRequired[_type(hint)]
        if hint == _POOLS:
            found["zones"] = list[str] if needed else NotRequired[list[str]]
    return TypedDict(named(kind), found)  # type: ignore[operator]


def describe(kind: type, properties: dict[str, Any], package: str) -> None:
    """Complete the schema of inputs: the texts of the class, and the types of settings."""
    texts = _texts(kind)
    for name, hint, _ in _fields(kind):
        given, settings = properties[to_camel(name)], _settings(hint)
        given["description"] = texts[name]
        if settings is not None:
            given |= schema.reference(package, settings.__name__)
            del given["type"], given["additionalProperties"]
        elif hint == _POOLS:
            given["description"] += " As in a stack file, by their names."
            given["additionalProperties"] = schema.reference(package, "Pool")
            properties["zones"]["description"] = _ZONES


def values(kind: type, given: Mapping[str, Any], name: str) -> Any:
    """The inputs of the component, from those of the package.

    Raises:
        ConfigurationError: For settings of a pool or of charts that a stack file may not have either.
    """
    cluster = Cluster(**given["cluster"])
    place = Place(zones=tuple(given.get("zones", ())), version=cluster.version)
    made = {"pool": name} if kind.__name__.startswith("GpuNodePool") else {}
    hints = {key: hint for key, hint, _ in _fields(kind)}
    return kind(**made | {key: _value(hints[key], one, key, place) for key, one in given.items() if key in hints})


def whole(value: Any) -> Any:
    """The value with whole numbers as integers: the engine transports every number as a float."""
    if isinstance(value, Mapping):
        return {key: whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _value(hint: Any, given: Any, key: str, place: Place) -> Any:
    if hint == _POOLS:
        return [resolve(pool, alone(Pool, pool, one), place) for pool, one in whole(given).items()]
    if inspect.isclass(hint) and is_dataclass(hint):
        return hint(**whole(given))
    if get_origin(hint) is not None and is_dataclass(get_args(hint)[-1]):
        return {name: get_args(hint)[-1](**whole(one)) for name, one in given.items()}
    if inspect.isclass(hint) and issubclass(hint, BaseModel):
        return part(hint, key, whole(given))
    return whole(given)


def _fields(kind: type) -> list[tuple[str, Any, bool]]:
    """Name, type and whether it is required, of each that another program can give."""
    hints = inspect.get_annotations(kind, eval_str=True)
    return [
        (one.name, hints[one.name], one.default is MISSING and one.default_factory is MISSING)
        for one in fields(kind)
        if pulumi.Resource not in (hints[one.name], *get_args(hints[one.name]))
    ]


def _settings(hint: Any) -> type | None:
    """The class of the settings that the input has."""
    found = get_args(hint)[1] if get_origin(hint) is Annotated else hint
    return found if inspect.isclass(found) and issubclass(found, BaseModel) else None


def _type(hint: Any) -> Any:
    if hint == _POOLS or _settings(hint) is not None:
        return dict[str, Any]
    if inspect.isclass(hint) and is_dataclass(hint):
        return typed(hint)
    if get_origin(hint) is not None and is_dataclass(get_args(hint)[-1]):
        return dict[str, typed(get_args(hint)[-1])]  # type: ignore[misc]
    return hint


def _texts(kind: type) -> dict[str, str]:
    """Texts of the attributes in its docstring."""
    _, _, lines = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    found = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", lines, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text) for name, text in found}
