"""YAML as people write it in this project: stack files, catalogs, tables of data.

PyYAML reads YAML 1.1: there `no`, `on` and `yes` are booleans, `20:00` is the number 1200, `1e3` a text, and a key
that is set twice has its last value. Pulumi reads stack files with go-yaml: the first three are texts, the fourth is a
number, and the last is an error (gopkg.in/yaml.v3 v3.0.1, resolve.go). So it is here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn

import yaml

_MERGE: Final = "tag:yaml.org,2002:merge"
_SafeLoader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's if PyYAML was built with it: about ten times faster, and every command reads the catalog."""


def _plain(tag: str, pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern by which PyYAML knows plain scalars of a type, changed to what go-yaml takes for it."""
    match tag.rpartition(":")[2]:
        case "bool":
            return re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
        case "int":
            # Without the last form, base 60.
            return re.compile(f"(?!.*:)(?:{pattern.pattern})", pattern.flags)
        case "float":
            # With a point or an exponent; what has neither is looked at next, as an integer.
            number = r"[-+]?(?=[^eE]*\.|.*[eE])(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
            return re.compile(rf"(?:{number}|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")
        case _:
            return pattern


class StrictLoader(_SafeLoader):  # type: ignore[misc]
    """Safe YAML whose keys are texts and different, without merge keys; only `true` and `false` are booleans."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {
        first: [(tag, _plain(tag, pattern)) for tag, pattern in resolvers]
        for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """As PyYAML does, after a look at the keys."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                stop("a key must be text, and merge keys are not supported", key.start_mark)
            if key.value in seen:
                stop(f"the key {key.value!r} is set twice", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def stop(problem: str, mark: Any) -> NoReturn:
    """Raise yaml.MarkedYAMLError for a place of the text."""
    raise yaml.MarkedYAMLError(None, None, problem, mark)


def read(text: str) -> Any:
    """The one document of a text. Raises yaml.YAMLError, mostly with a place, for anything else."""
    return yaml.load(text, Loader=StrictLoader)  # noqa: S506 - a SafeLoader, stricter


def rows(path: Path) -> Iterator[tuple[str, Any]]:
    """The entries of a file that is a list, each with its place as `FILE:LINE`.

    Raises:
        yaml.YAMLError: The file is no list in strict YAML.
    """
    reader = StrictLoader(path.read_text(encoding="utf-8"))
    try:
        node = reader.get_single_node()
        if not isinstance(node, yaml.SequenceNode):
            stop(f"{path} must be a list", getattr(node, "start_mark", None))
        for entry in node.value:
            yield f"{path.name}:{entry.start_mark.line + 1}", reader.construct_object(entry, deep=True)
    finally:
        reader.dispose()
