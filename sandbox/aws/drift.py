"""Whether the live value of a property still matches the inputs.

AWS answers with defaults filled in, lists in another order, numbers as strings and policies in another layout. None of
that is drift, and a refresh that shows it teaches users to ignore refreshes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox.aws.kinds import AnyOf, Kind, ListOf, MapOf, ObjectOf
from sandbox.aws.statements import as_text


def same(kind: Kind, wanted: Any, live: Any) -> bool:
    """Whether the live value matches the wanted one."""
    if isinstance(kind, AnyOf):
        kind = kind.options[0]
    if isinstance(kind, ListOf):
        return _same_list(kind.item, wanted or [], live or [])
    if isinstance(kind, MapOf):
        return {k: str(v) for k, v in (wanted or {}).items()} == {k: str(v) for k, v in (live or {}).items()}
    if isinstance(kind, ObjectOf):
        return _same_object(kind, wanted or {}, live or {})
    return _same_scalar(wanted, live)


def drifted(kind: Kind, wanted: Any, live: Any) -> Any:
    """The value to show instead of the wanted one; for an object, only the properties that the program set."""
    if isinstance(kind, ObjectOf) and isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return {
            key: item
            if same(kind.fields[key].kind, item, live.get(key))
            else drifted(kind.fields[key].kind, item, live.get(key))
            for key, item in wanted.items()
        }
    return live


def _same_object(kind: ObjectOf, wanted: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Compare only the properties that the program set; AWS chooses the others."""
    return all(same(kind.fields[key].kind, item, live.get(key)) for key, item in wanted.items())


def _same_list(kind: Kind, wanted: list[Any], live: list[Any]) -> bool:
    if len(wanted) != len(live):
        return False
    rest = list(live)
    for item in wanted:
        match = next((index for index, other in enumerate(rest) if same(kind, item, other)), None)
        if match is None:
            return False
        rest.pop(match)
    return True


def _same_scalar(wanted: Any, live: Any) -> bool:
    if wanted == live or _text(wanted) == _text(live):
        return True
    documents = _document(wanted), _document(live)
    return None not in documents and documents[0] == documents[1]


def _text(value: Any) -> str:
    return "" if value is None else as_text(value)


def _document(value: Any) -> Any:
    """A JSON document in a canonical layout: to IAM `"s3:*"` and `["s3:*"]` are equal, and lists have no order."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return _layout(value) if isinstance(value, (Mapping, list)) else None


def _layout(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _layout(item) for key, item in value.items()}
    if isinstance(value, list):
        items = sorted((_layout(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
        return items[0] if len(items) == 1 else items
    return value
