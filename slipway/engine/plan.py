"""What a run of the engine would replace or delete, read from the engine's event log.

`--event-log FILE` writes one `apitype.EngineEvent` per line (pulumi v3.258.0, sdk/go/common/apitype/events.go). It is a
debugging flag, so `ENVIRONMENT` must be set; the Automation API of every language depends on it. It is used instead of
`--json`, because the user then still sees the engine's own display of the same run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spec.errors import SlipwayError

ENVIRONMENT: Final = {"PULUMI_DEBUG_COMMANDS": "true"}
_TAKES: Final = {
    "delete": "delete",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "discard-replaced": "replace",
    "import-replacement": "replace",
}
"""The engine's steps that replace or delete a resource, and the operation that each belongs to. A replacement is three
steps, in an order that depends on `deleteBeforeReplace`."""
_UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's text for a value that is not known yet (sdk/go/common/resource/plugin/rpc.go, UnknownStringValue)."""
_PART: Final = re.compile(r"\[\"(?P<quoted>[^\"]*)\"\]|\[(?P<index>\d+)\]|(?P<name>[^.\[]+)")
_LONGEST: Final = 100


@dataclass(frozen=True, kw_only=True)
class Forced:
    """A property that makes a change a replacement.

    Attributes:
        path: Property path: `vpcConfig.subnetIds[0]`.
        old: The current value, as text.
        new: The desired value, as text.
    """

    path: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Removal:
    """One resource that would be replaced or deleted.

    Attributes:
        urn: Its URN.
        type: Its type token.
        operation: `replace` or `delete`.
        forced: Properties that force a replacement.
        retained: Whether the object itself stays when it leaves the state (`retainOnDelete`).
        inputs: Its current inputs.
        outputs: Its current outputs.
    """

    urn: str
    type: str
    operation: str
    forced: tuple[Forced, ...] = ()
    retained: bool = False
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)


def removals(log: Iterable[str]) -> tuple[Removal, ...]:
    """Resources that the run of an event log would replace or delete, each once, sorted by URN.

    Raises:
        SlipwayError: A line is not an event, so the plan can't be evaluated.
    """
    by_urn: dict[str, Removal] = {}
    for step in _steps(log):
        removal = _removal(step)
        before = by_urn.get(removal.urn)
        # Of the steps of one replacement, the first that names its reasons is kept.
        if before is None or (removal.operation, bool(removal.forced)) > (before.operation, bool(before.forced)):
            by_urn[removal.urn] = removal
    return tuple(by_urn[urn] for urn in sorted(by_urn))


def _steps(log: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for line in log:
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            step = (event.get("resourcePreEvent") or {}).get("metadata")
            if step and step["op"] in _TAKES:
                yield step
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            msg = f"the engine's event log has a line that is not an event ({error}): the plan can't be evaluated"
            raise SlipwayError(msg) from error


def _removal(step: Mapping[str, Any]) -> Removal:
    old, new = step.get("old") or {}, step.get("new") or {}
    before, after = old.get("inputs") or {}, new.get("inputs") or {}
    operation = _TAKES[step["op"]]
    return Removal(
        urn=step["urn"],
        type=step["type"],
        operation=operation,
        forced=tuple(Forced(path=path, old=_shown(before, path), new=_shown(after, path)) for path in _reasons(step))
        if operation == "replace"
        else (),
        retained=bool(old.get("retainOnDelete")),
        inputs=before,
        outputs=old.get("outputs") or {},
    )


def _reasons(step: Mapping[str, Any]) -> list[str]:
    """Paths that force a replacement: from the provider's detailed diff, else the properties that the engine names."""
    detailed = step.get("detailedDiff") or {}
    exact = [path for path, change in detailed.items() if str(change.get("diffKind", "")).endswith("-replace")]
    return sorted(exact) or sorted(step.get("keys") or ())


def _shown(values: Mapping[str, Any], path: str) -> str:
    value: Any = values
    for part in _PART.finditer(path):
        key: Any = int(part["index"]) if part["index"] else part["quoted"] or part["name"]
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return "not set"
    if value == _UNKNOWN:
        return "known only after the update"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
