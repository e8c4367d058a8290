"""Validating manifests with values that are not known in a preview.

Each unknown is replaced by a placeholder text. If the API server requires a number or another format, it rejects that
field: this is not an error of the program, so the field is removed and the rest is validated again.
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
"""Valid as a name, a label value and free text, so that most fields accept it."""
_INDEX = re.compile(r"\[[^\]]*\]")


def with_placeholders(obj: Object) -> tuple[Object, tuple[Path, ...]]:
    """The object with a placeholder for each unknown, and the paths of the unknowns."""
    unknowns = tuple(_unknowns(obj, ()))
    return (_replaced(obj) if unknowns else obj), unknowns


def blamed(message: str, unknowns: Iterable[Path]) -> tuple[Path, ...]:
    """The unknowns that a message rejects. Messages number or name list items, so indexes are not compared."""
    text = _INDEX.sub("", message)
    return tuple(path for path in unknowns if re.search(rf"\b{re.escape(_plain(path))}\b", text))


def complains_of_unknown(message: str, unknowns: Iterable[Path]) -> bool:
    """Whether a message is about an unknown: it quotes the placeholder or the path."""
    return PLACEHOLDER in message or bool(blamed(message, unknowns))


def without(obj: Object, places: Iterable[Path]) -> Object:
    """The object without these paths. List items are removed from the end, so that earlier indexes stay valid."""
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
