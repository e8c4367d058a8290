"""A stack file of an older version in today's words: settings that were renamed, and nothing else of the text."""

from collections.abc import Iterator
from typing import Any, Final

import yaml

from spec import strict_yaml
from spec.settings.source import SETTINGS
from spec.settings.translate import renamed

_QUOTES: Final = ("'", '"')


def migrate(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text with the new names, and each old path with its key's new name, in the order of the file.

    Comments, order and form stay. A key whose new name the file has as well stays, too: which one is meant isn't known.

    Raises:
        yaml.YAMLError: It is no YAML.
    """
    found, kept, at = list[tuple[str, str]](), list[str](), 0
    for path, new, key in _old(_settings(strict_yaml.tree(text)), ""):
        quote = next((one for one in _QUOTES if key.style == one), "")
        kept += [text[at : key.start_mark.index], quote, new, quote]
        at = key.end_mark.index
        found.append((path, new))
    return "".join([*kept, text[at:]]), found


def _settings(node: Any) -> Any:
    for name in SETTINGS:
        node = next((value for key, value in _pairs(node) if key.value == name), None)
    return node


def _old(node: Any, above: str) -> Iterator[tuple[str, str, yaml.ScalarNode]]:
    pairs = _pairs(node)
    names = {key.value for key, _ in pairs}
    for key, value in pairs:
        path = f"{above}{key.value}"
        new = renamed(path)
        if new is not None and new not in names:
            yield path, new, key
        yield from _old(value, f"{path.rpartition('.')[0]}.{new}.".lstrip(".") if new else f"{path}.")


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return node.value if isinstance(node, yaml.MappingNode) else []
