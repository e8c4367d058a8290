"""Rows `settings -> part of what a component declares`, in the YAML files beside this module; `test_rows` runs them.

    - what: unused files move to infrequent access and back
      set: {storage.efs.transitionToIaDays: 30}
      has: {storage-efs-files: {lifecyclePolicies: [{transitionToIa: AFTER_30_DAYS}, ...]}}

The file's name says what is declared (`SUBJECTS` of the runner), and so what `set` and the names below `has` mean. A
map in `has` names some keys of a map, or of the map in a JSON text, whose statements have their `Sid` as key; `null` is
a key that must be absent. `!only {...}` names all keys at every depth, and so does a map in a list. A list names its
elements in order, `!holds [...]` some of them in any order, `!lacks [...]` those that it must not have. `!matches TEXT`
is a pattern for a whole text, and `!output NAME.KEY` what that resource returns.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spec.strict_yaml import StrictLoader

FOLDER: Final = Path(__file__).parent
ABSENT: Final = object()


@dataclass(frozen=True)
class Tagged:
    """A value with one of the tags above."""

    tag: str
    value: Any


@dataclass(frozen=True)
class Row:
    """One row."""

    place: str  # file and line
    what: str  # the requirement
    set: Mapping[str, Any]  # settings
    has: Mapping[str, Any]  # what is declared then
    more: Mapping[str, Any]  # further keys, which the subject knows

    @property
    def id(self) -> str:
        return f"{self.place} {self.what}"


class _Loader(StrictLoader):
    """Strict YAML with the tags."""


def _tagged(loader: Any, suffix: str, node: Any) -> Any:
    if suffix in ("matches", "output"):
        return Tagged(suffix, loader.construct_scalar(node))
    if suffix in ("holds", "lacks"):
        return Tagged(suffix, loader.construct_sequence(node, deep=True))
    assert suffix == "only", f"!{suffix}"
    return Tagged(suffix, loader.construct_mapping(node, deep=True))


_Loader.add_multi_constructor("!", _tagged)


def rows(subject: str) -> Iterator[Row]:
    """The rows of a file."""
    reader = _Loader((FOLDER / f"{subject}.yaml").read_text(encoding="utf-8"))
    for node in reader.get_single_node().value:
        data = reader.construct_object(node, deep=True)
        place = f"{subject}.yaml:{node.start_mark.line + 1}"
        assert data.get("has"), f"{place}: `has` is missing"
        yield Row(place, data.pop("what"), data.pop("set", {}), data.pop("has"), data)


def differences(expected: Any, actual: Any, outputs: Mapping[str, Mapping[str, Any]], path: str = "") -> Iterator[str]:
    """Where what is declared is not as expected: path, expected and actual value."""
    actual = _readable(actual) if isinstance(expected, Mapping | Tagged) else actual
    if expected is None:
        if actual is not ABSENT:
            yield f"{path}: must be absent, but is {actual!r}"
    elif isinstance(expected, Tagged) and expected.tag == "output":
        yield from differences(_plain(expected, outputs), actual, outputs, path)
    elif isinstance(expected, Tagged) and expected.tag == "matches":
        if not (isinstance(actual, str) and re.fullmatch(expected.value, actual)):
            yield f"{path}: must match {expected.value}, but is {_shown(actual)}"
    elif isinstance(expected, Tagged) and expected.tag in ("holds", "lacks"):
        for part in expected.value:
            there = isinstance(actual, list | tuple) and any(not [*differences(part, one, outputs)] for one in actual)
            if not isinstance(actual, list | tuple) or there is (expected.tag == "lacks"):
                yield f"{path}: must {expected.tag.removesuffix('s')} {part!r}, but is {_shown(actual)}"
    elif isinstance(expected, Mapping) and expected and isinstance(actual, Mapping):
        for key, value in expected.items():
            yield from differences(value, actual.get(key, ABSENT), outputs, f"{path}.{key}" if path else key)
    else:
        wanted = _plain(expected, outputs)
        if wanted != actual or isinstance(wanted, bool) != isinstance(actual, bool):
            yield f"{path}: must be {wanted!r}, but is {_shown(actual)}"


def _plain(expected: Any, outputs: Mapping[str, Mapping[str, Any]]) -> Any:
    """A whole value, with what resources return."""
    if isinstance(expected, Tagged):
        name, _, key = str(expected.value).rpartition(".")
        return outputs[name][key] if expected.tag == "output" else _plain(expected.value, outputs)
    if isinstance(expected, Mapping):
        return {key: _plain(value, outputs) for key, value in expected.items()}
    return [_plain(value, outputs) for value in expected] if isinstance(expected, list) else expected


def _shown(actual: Any) -> str:
    return "absent" if actual is ABSENT else repr(actual)


def _readable(actual: Any) -> Any:
    """A JSON text as its value, statements of a policy by Sid."""
    if isinstance(actual, str) and actual.startswith("{"):
        try:
            actual = json.loads(actual)
        except ValueError:
            return actual
        if isinstance(actual, dict) and all("Sid" in each for each in actual.get("Statement", [{}])):
            return {each["Sid"]: each for each in actual["Statement"]}
    return actual
