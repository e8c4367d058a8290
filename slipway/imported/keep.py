"""What an import keeps of an object: the fields of `kept.yaml`, with names hashed if nobody may know them."""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any, Final

from sandbox.kubernetes.controllers.table import of_image
from sandbox.kubernetes.objects import Object, Ref
from spec import strict_yaml
from spec.catalog import upgrades

_DOCUMENT: Final[Mapping[str, Any]] = strict_yaml.beside(__file__, "kept")
_METADATA: Final = next(one for one in _DOCUMENT["shapes"] if "ownerReferences" in one)
CONFIGS: Final = frozenset(_DOCUMENT["configs"])
GENERATED: Final = frozenset(_DOCUMENT["generated"])
"""Labels that Kubernetes gives to what it makes, and refuses where it makes them itself."""
HELM: Final[Mapping[str, Any]] = _DOCUMENT["secrets"]
_PLAIN: Final = re.compile("|".join(_DOCUMENT["plain"]))
_DOMAINS: Final = re.compile(_DOCUMENT["domains"])
_FACTS: Final = re.compile("|".join(_DOCUMENT["facts"]))
_TERM: Final = ("key", "operator", "value", "values", "effect", "tolerationSeconds", "minValues")
"""Fields of requirements, taints and tolerations."""


@dataclass(frozen=True)
class Row:
    """A kind that is kept; the words are those of `kept.yaml`."""

    name: str  # `Job.batch`, as kubectl takes it; the name of its file
    scope: str = "namespaced"
    record: bool = False
    text: bool = False
    ends: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


ROWS: Final = MappingProxyType({name: Row(name, **(words or {})) for name, words in _DOCUMENT["kinds"].items()})
"""Kinds by name, in the order in which the sandbox gets them."""


def name_of(obj: Mapping[str, Any]) -> str:
    """The name of an object's kind, as rows have it."""
    ref = Ref.of(obj)
    return f"{ref.kind}.{ref.group}".rstrip(".")


@dataclass(frozen=True)
class Names:
    """Names as a folder has them: as they are, or hashed with a key that nobody keeps, each always in the same way."""

    key: bytes = b""

    def name(self, text: str) -> str:
        """A name of an object, or of a part of one."""
        if not self.key or not text or _PLAIN.fullmatch(text):
            return text
        return f"n{hmac.digest(self.key, text.encode('utf-8', 'replace'), 'sha256').hex()[:12]}"

    def label(self, key: str) -> str:
        """The key of a label."""
        domain, slash, _ = key.rpartition("/")
        return key if slash and _DOMAINS.fullmatch(domain) else self.name(key)

    def value(self, key: str, text: str) -> str:
        """The value of a label."""
        return text if _FACTS.fullmatch(key) else self.name(text)


def _image(names: Names, text: str) -> str:
    return text if of_image(text) or upgrades.recognized(text) else names.name(text)


def _labels(names: Names, value: Any) -> Any:
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {names.label(str(key)): names.value(str(key), str(one)) for key, one in pairs}


def _term(names: Names, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return None
    key, values = str(value.get("key") or ""), value.get("values")
    found = {
        "key": names.label(key) if key else None,
        "value": names.value(key, str(value["value"])) if value.get("value") else None,
        "values": [names.value(key, str(one)) for one in values] if isinstance(values, list) else None,
    }
    return {each: one for each, one in {**value, **found}.items() if each in _TERM and one is not None}


def _text(of: Callable[[Names, str], str]) -> Callable[[Names, Any], Any]:
    return lambda names, value: of(names, value) if isinstance(value, str) else None


_MARKS: Final[Mapping[str, Callable[[Names, Any], Any]]] = {
    "name": _text(Names.name), "key": _text(Names.label), "image": _text(_image),
    "labels": _labels, "terms": _term,
}  # fmt: skip


def kept(value: Any, shape: Any, names: Names) -> Any:
    """What a shape keeps of a value; None if that is nothing."""
    if shape is None:
        return _plain(value)
    if isinstance(value, list):
        return [found for one in value if (found := kept(one, shape, names)) is not None]
    if isinstance(shape, str):
        return _MARKS[shape](names, value)
    if not isinstance(value, Mapping):
        return None
    # Of a map by role or resource every key is kept.
    shapes = dict.fromkeys(map(str, value), shape["*"]) if "*" in shape else shape
    return {key: found for key in shapes if (found := kept(value.get(key), shapes[key], names)) is not None}


def _plain(value: Any) -> Any:
    """The value as JSON has it: YAML has dates."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [*map(_plain, value)] if isinstance(value, list) else value.isoformat() if isinstance(value, date) else value


def reduced(obj: Mapping[str, Any], row: Row, names: Names) -> Object:
    """What is kept of an object of a kind."""
    head = {"apiVersion": str(obj["apiVersion"]), "kind": str(obj["kind"])}
    return {**head, "metadata": kept(obj["metadata"], _METADATA, names) or {}, **kept(obj, row.fields, names)}
