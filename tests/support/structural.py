"""Validates manifests against structural schemas of CRDs: names, types, enumerations, patterns and limits, no unknown
fields.

Stricter than an API server, which drops unknown fields. CEL rules need a real one.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

Schema: TypeAlias = Mapping[str, Any]
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe YAML loader that reads the bare `=` in one of Prometheus' CRDs as text."""


_Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: loader.construct_scalar(node))


def definition(file: Path, kind: str) -> dict[str, Any]:
    """The CRD of a kind in a file."""
    documents = yaml.load_all(file.read_text(encoding="utf-8"), Loader=_Loader)
    crds = (each for each in documents if each and each["kind"] == "CustomResourceDefinition")
    (crd,) = (each for each in crds if each["spec"]["names"]["kind"] == kind)
    return dict(crd)


def schema(crd: Mapping[str, Any], version: str) -> Schema:
    """The schema of one version of a CRD."""
    (served,) = (each for each in crd["spec"]["versions"] if each["name"] == version)
    served_schema: Schema = served["schema"]["openAPIV3Schema"]
    return served_schema


def complaints(value: Any, expected: Schema, path: str = "") -> Iterator[str]:
    """Violations of a schema."""
    if expected.get("x-kubernetes-int-or-string"):
        value = str(value)
    elif "type" in expected and not _is(value, expected["type"]):
        yield f"{path}: {value!r} is no {expected['type']}"
        return
    if "enum" in expected and value not in expected["enum"]:
        yield f"{path}: {value!r} is none of {expected['enum']}"
    if "pattern" in expected and isinstance(value, str) and not re.search(expected["pattern"], value):
        yield f"{path}: {value!r} does not match {expected['pattern']}"
    if isinstance(value, int) and not expected.get("minimum", value) <= value <= expected.get("maximum", value):
        yield f"{path}: {value} is out of bounds"
    if isinstance(value, dict):
        yield from _in_object(value, expected, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from complaints(item, expected.get("items", {}), f"{path}[{index}]")


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and not (isinstance(value, bool) and kind != "boolean")


def _in_object(value: Mapping[str, Any], expected: Schema, path: str) -> Iterator[str]:
    known, others = expected.get("properties", {}), expected.get("additionalProperties")
    yield from (f"{path}.{key} is missing" for key in expected.get("required", ()) if key not in value)
    for key, item in value.items():
        if key in known:
            yield from complaints(item, known[key], f"{path}.{key}")
        elif isinstance(others, Mapping):
            yield from complaints(item, others, f"{path}.{key}")
        elif known and not others and not expected.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{path}.{key} is not known"
