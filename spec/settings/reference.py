"""The page of all settings, docs/settings.md, from the schema of the stack file: `python -m spec.settings.reference`.

What the schema says of a setting is what its model's docstring says, so the page is as true as the models are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from spec.settings import schema

FILE: Final = Path(__file__).parents[2] / "docs" / "settings.md"
_MANY: Final = 16
"""Names of an enumeration that are still written out; of longer ones the schema has the list."""
_HEAD: Final = """\
# Settings

<!-- Made by `python -m spec.settings.reference` from the models in spec/settings; edit those. -->

Every key of `slipway:platform` in a stack file. A key with the default *required* must be given, one that is *none* is
off or follows from others. What several keys have to do with each other (ranges that overlap, shares beyond a pool, a
MIG layout that does not fit) is not here: `slipway check` knows it. Long lists of names (instance types, zones,
regions, layouts) are in [schema.json](../stacks/schema.json), from which an editor completes them.
[stacks/](../stacks/README.md) says what the three environments make of it.
"""
_BELOW: Final = {"map": ".NAME", "list": "[]", "one": ""}


def text() -> str:
    """The page."""
    definitions: Mapping[str, Any] = schema.generate()["$defs"]
    sections = dict(_walk("Platform", "", definitions, frozenset()))
    parts = [_section(path, definitions[name], definitions, sections) for path, name in sections.items()]
    return "\n".join([_HEAD, *parts])


def _walk(name: str, path: str, definitions: Mapping[str, Any], above: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Every model below one, as (path, model), the model itself first."""
    yield path, name
    for key, field in definitions[name]["properties"].items():
        for shape, ref in _models(field, definitions):
            if ref not in above:
                yield from _walk(ref, f"{path}.{key}".lstrip(".") + _BELOW[shape], definitions, above | {name})


def _models(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Models that a field holds, and how: one, a list, or a map by name."""
    for choice in field.get("anyOf", [field]):
        for shape, value in (("one", choice), ("list", choice.get("items", {})), ("map", _values(choice))):
            name = _name(value)
            if name and "properties" in definitions[name]:
                yield shape, name


def _section(path: str, model: Mapping[str, Any], definitions: Mapping[str, Any], sections: Mapping[str, str]) -> str:
    lines = [f"## {f'`{path}`' if path else 'The whole'}", "", _line(model["description"]), ""]
    rows = [_row(key, field, path, model, definitions, sections) for key, field in model["properties"].items()]
    if not rows:
        return "\n".join([*lines, f"It has no settings: `{path.rpartition('.')[2]}: {{}}`.", ""])
    return "\n".join([*lines, "| Key | Value | Default | Meaning |", "|---|---|---|---|", *rows, ""])


def _row(
    key: str,
    field: Mapping[str, Any],
    path: str,
    model: Mapping[str, Any],
    definitions: Mapping[str, Any],
    sections: Mapping[str, str],
) -> str:
    full = f"{path}.{key}".lstrip(".")
    below = next((found for end in _BELOW.values() if (found := full + end) in sections), None)
    name = f"[`{key}`](#{_anchor(below)})" if below else f"`{key}`"
    meaning = field.get("description") or _of_model(field, definitions)
    return f"| {name} | {_kind(field, definitions)} | {_default(key, field, model)} | {_cell(meaning)} |"


def _kind(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    choices = [choice for choice in field.get("anyOf", [field]) if choice.get("type") != "null"]
    return " or ".join(dict.fromkeys(_one(choice, definitions) for choice in choices))


def _one(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if name := _name(value):
        found = definitions[name]
        return "settings" if "properties" in found else _one(found, definitions)
    if "enum" in value:
        return _names(value)
    kind = str(value.get("type"))
    if kind == "array":
        return f"list: {_kind(value['items'], definitions)}"
    if kind == "object":
        return _map(value, definitions)
    if kind in ("integer", "number"):
        return _bounds("whole number" if kind == "integer" else "number", value)
    formats = {"date": "date", "ipv4network": "network"}
    return "true, false" if kind == "boolean" else formats.get(value.get("format", ""), "text")


def _names(value: Mapping[str, Any]) -> str:
    names = value["enum"]
    return ", ".join(f"`{each}`" for each in names) if len(names) <= _MANY else "one of the schema's list"


def _map(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    keys = value.get("propertyNames", {})
    keys = definitions[_name(keys)] if _name(keys) else keys
    by = f" by {_names(keys)}" if "enum" in keys else ""
    return f"map{by}: {_kind(_values(value) or {'type': 'string'}, definitions)}"


def _bounds(kind: str, value: Mapping[str, Any]) -> str:
    minimum = value.get("minimum", value.get("exclusiveMinimum"))
    maximum = value.get("maximum")
    if minimum is None or maximum is None:
        return kind
    return f"{kind}, {'above' if 'exclusiveMinimum' in value else 'from'} {minimum:,} to {maximum:,}"


def _default(key: str, field: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    if key in model.get("required", ()):
        return "*required*"
    if "default" in field:
        return "*none*" if field["default"] in (None, [], "") else f"`{json.dumps(field['default']).strip(chr(34))}`"
    if any(key in choice.get("required", ()) for choice in model.get("anyOf", ())):
        return "*none*" if key == "preset" else "*the preset's*"
    return ""


def _of_model(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What the model or enumeration says of itself, for a field that says nothing."""
    for choice in field.get("anyOf", [field]):
        if name := _name(choice):
            return str(definitions[name].get("description", ""))
    return ""


def _values(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a map holds; nothing where it is none."""
    patterns = value.get("patternProperties")
    held = next(iter(patterns.values())) if patterns else value.get("additionalProperties")
    return held if isinstance(held, Mapping) else {}


def _name(value: Mapping[str, Any]) -> str:
    return str(value.get("$ref", "")).rpartition("/")[2]


def _anchor(path: str) -> str:
    """The anchor that GitHub makes of the section's heading."""
    return "".join(letter for letter in path.lower() if letter.isalnum() or letter in "-_")


def _line(value: str) -> str:
    return " ".join(value.split())


def _cell(value: str) -> str:
    return _line(value).replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with `--check` say whether the committed one is current."""
    if not arguments:
        FILE.write_text(text(), encoding="utf-8", newline="\n")
        return 0
    if list(arguments) != ["--check"]:
        sys.stderr.write(f"unknown arguments: {' '.join(arguments)}; there is only --check\n")
        return 2
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == text():
        return 0
    sys.stderr.write(f"{FILE} is out of date: run `python -m spec.settings.reference`.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
