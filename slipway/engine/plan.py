"""What the engine is about to take away, read from its own event log.

`--event-log FILE` writes an `apitype.EngineEvent` a line (pulumi v3.258.0, sdk/go/common/apitype/events.go); it is one
of the engine's debugging flags, so `ENVIRONMENT` must be set, and the Automation API of all languages lives by it. It
is read instead of `--json`, because the user then still sees the engine's own display of the same run.
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
"""Operations after which a resource is not what it was, as the engine names its steps, and as people do. A replacement
is three steps, in an order that `deleteBeforeReplace` decides."""
_UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""How the engine writes a value that it can't know yet (sdk/go/common/resource/plugin/rpc.go, UnknownStringValue)."""
_PART: Final = re.compile(r"\[\"(?P<quoted>[^\"]*)\"\]|\[(?P<index>\d+)\]|(?P<name>[^.\[]+)")
_LONGEST: Final = 100


@dataclass(frozen=True, kw_only=True)
class Forced:
    """A property that makes a change a replacement.

    Attributes:
        path: Where it is: `vpcConfig.subnetIds[0]`.
        old: What stands, as text.
        new: What is asked for, as text.
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
        retained: Whether the thing itself stays when it leaves the state.
        inputs: Inputs of what stands.
        outputs: Outputs of what stands.
    """

    urn: str
    type: str
    operation: str
    forced: tuple[Forced, ...] = ()
    retained: bool = False
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)


def removals(log: Iterable[str]) -> tuple[Removal, ...]:
    """Resources that the run of an event log would replace or delete, each once, in the order of their URNs.

    Raises:
        SlipwayError: A line is not an event: an engine that writes another log can't be judged.
    """
    found: dict[str, Removal] = {}
    for step in _steps(log):
        one = _removal(step)
        before = found.get(one.urn)
        # Of the steps of one replacement, the first that names its reasons is kept.
        if before is None or (one.operation, bool(one.forced)) > (before.operation, bool(before.forced)):
            found[one.urn] = one
    return tuple(found[urn] for urn in sorted(found))


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
            msg = f"the engine's event log has a line that is no event ({error}): the plan can't be judged"
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
    """Paths that force a replacement: in detail where the provider told, else the properties that the engine names."""
    detailed = step.get("detailedDiff") or {}
    exact = [path for path, found in detailed.items() if str(found.get("diffKind", "")).endswith("-replace")]
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
