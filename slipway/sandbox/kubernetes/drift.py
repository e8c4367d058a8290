"""Drift of an object: which fields that the program sets were changed by another client.

The live object is compared with the object after our own last write, not with the inputs, so defaults, admission and
other spellings of a quantity are not drift. Only fields that the inputs set are compared. The result is the inputs that
would describe the live object, so that the next preview shows the differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.sandbox.kubernetes.objects import Object

SERVER_METADATA = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)


def drifted(inputs: Mapping[str, Any], recorded: Mapping[str, Any], live: Mapping[str, Any]) -> Object:
    """The inputs, with live values for fields in which the live object differs from the recorded one."""
    kept = {key: value for key, value in inputs.items() if key.startswith("__")}
    wanted = {key: value for key, value in inputs.items() if key not in kept}
    present: Object = _in_map(wanted, recorded, live)
    return {**present, **kept}


def imported(live: Mapping[str, Any]) -> Object:
    """The inputs that describe a live object, for an import."""
    inputs = {key: value for key, value in live.items() if key != "status"}
    inputs["metadata"] = {k: v for k, v in (live.get("metadata") or {}).items() if k not in SERVER_METADATA}
    return inputs


def _in_map(wanted: Mapping[str, Any], recorded: Any, live: Mapping[str, Any]) -> Object:
    before = recorded if isinstance(recorded, Mapping) else {}
    present = {}
    for key, value in wanted.items():
        if key in live:
            present[key] = _value(value, before.get(key), live[key])
        elif key not in before:
            # The API server never returned it: for example an empty map, which it does not store.
            present[key] = value
    return present


def _value(wanted: Any, recorded: Any, live: Any) -> Any:
    if recorded == live:
        return wanted
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return _in_map(wanted, recorded, live)
    if isinstance(wanted, list) and isinstance(live, list):
        return _in_list(wanted, recorded if isinstance(recorded, list) else [], live)
    return live


def _in_list(wanted: list[Any], recorded: list[Any], live: list[Any]) -> list[Any]:
    """Items with names are matched by name; any other list is replaced by the live one."""
    ours, before, now = _by_name(wanted), _by_name(recorded), _by_name(live)
    if ours is None or before is None or now is None:
        return live
    kept = [_value(item, before.get(name), now[name]) for name, item in ours.items() if name in now]
    added = [item for name, item in now.items() if name not in ours and name not in before]
    return kept + added


def _by_name(items: list[Any]) -> dict[str, Any] | None:
    """The items by `name`; None unless each has a different one."""
    named = {item["name"]: item for item in items if isinstance(item, Mapping) and isinstance(item.get("name"), str)}
    return named if len(named) == len(items) else None
