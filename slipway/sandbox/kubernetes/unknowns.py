"""Values that are not known in a preview, in manifests that shall be validated all the same.

An unknown is put there as a text. Where the API server wants a number there, or a text of another form, it complains
about that very field: such a complaint is not the program's fault, the field is left out, and the rest is validated
once more.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from typing import Any

from slipway.sandbox.kubernetes.objects import Object
from slipway.sandbox.rpc import paths
from slipway.sandbox.rpc.paths import Path
from slipway.sandbox.rpc.wire import UNKNOWN

PLACEHOLDER = "slipway-unknown-yet"
"""Valid as a name, a label's value and free text, so that most complaints do not arise."""
_INDEX = re.compile(r"\[[^\]]*\]")


def with_placeholders(obj: Object) -> tuple[Object, tuple[Path, ...]]:
    """The object with a text for each unknown, and the places of these."""
    found = tuple(_unknowns(obj, ()))
    return (_replaced(obj) if found else obj), found


def blamed(message: str, unknowns: Iterable[Path]) -> tuple[Path, ...]:
    """The unknowns that a message complains about. Messages number or name list items, so indexes are not compared."""
    said = _INDEX.sub("", message)
    return tuple(path for path in unknowns if re.search(rf"\b{re.escape(_plain(path))}\b", said))


def complains_of_unknown(message: str, unknowns: Iterable[Path]) -> bool:
    """Whether a message is about an unknown: it quotes the placeholder, or names the place."""
    return PLACEHOLDER in message or bool(blamed(message, unknowns))


def without(obj: Object, places: Iterable[Path]) -> Object:
    """The object without these places. Items of lists are taken from the end, so that the indexes before them hold."""
    pruned = copy.deepcopy(obj)
    for path in sorted(places, key=lambda path: [(isinstance(part, str), part) for part in path], reverse=True):
        parent: Any = pruned
        for part in path[:-1]:
            parent = parent[part]
        del parent[path[-1]]
    return pruned


def _plain(path: Path) -> str:
    return paths.without_indexes(path)


def _unknowns(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _unknowns(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknowns(item, (*path, index))
    elif isinstance(value, str) and UNKNOWN in value:
        yield path


def _replaced(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    return value.replace(UNKNOWN, PLACEHOLDER) if isinstance(value, str) else value
