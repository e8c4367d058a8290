"""Reads a plan of the engine from a file: the output of `pulumi preview --json`, or an event log.

The engine compared with the deployed state, and the providers determined replacements, so the plan is exact.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sandbox.rpc import diff
from slipway.report.plan.changes import (
    LATER,
    Plan,
    PropertyChange,
    ResourceChange,
    Verb,
    at,
    ordered,
    shown,
    with_losses,
)
from spec.errors import refuse

_VERBS: Final[Mapping[str, Verb]] = {
    "create": Verb.CREATE,
    "import": Verb.CREATE,
    "update": Verb.UPDATE,
    "delete": Verb.DELETE,
    "replace": Verb.REPLACE,
    "create-replacement": Verb.REPLACE,
    "delete-replaced": Verb.REPLACE,
    "discard-replaced": Verb.REPLACE,
    "import-replacement": Verb.REPLACE,
}
"""The engine's steps (pulumi v3.258.0, pkg/resource/deploy/step.go) as verbs; other steps change nothing."""


def read(path: Path, *, refreshed: bool = False) -> Plan:
    """The plan in a file.

    Args:
        refreshed: Whether it is the event log of a refresh, whose changes are those that it found: the engine names
            them once it has read the resource (v3.258.0, pkg/engine/update.go, `ResultOp`).

    Raises:
        SlipwayError: The file can't be read, or has neither of the two formats; exit code 2.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        refuse(
            f"--plan {path}: can't be read ({why}). Give the output of `pulumi preview --json` or an event log", error
        )
    try:
        steps = list(_steps(text, "resOutputsEvent" if refreshed else "resourcePreEvent"))
        changes: dict[str, ResourceChange] = {}
        same = 0
        for step in steps:
            change = _change(step)
            same += step["op"] == "same" and _counts(step)
            # Of the three steps of a replacement, the one with the reasons is kept.
            if change and (change.urn not in changes or len(change.properties) > len(changes[change.urn].properties)):
                changes[change.urn] = change
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        refuse(
            f"--plan {path}: is not a Pulumi plan ({type(error).__name__}: {error}). Create one with "
            "`pulumi preview --stack STACK --json > FILE`, or give the file of `--event-log`.",
            error,
        )
    _add_causes(changes, steps)
    return Plan(
        against="the deployed state (Pulumi plan)",
        changes=ordered(list(changes.values())),
        unchanged=same,
        notes=(
            "The engine compared with its state. With --refresh, it updates the state from the live resources first.",
        ),
    )


def _steps(text: str, kind: str) -> Iterator[Mapping[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if isinstance(document, Mapping) and "steps" in document:
        for step in document["steps"]:
            yield {**step, "old": step.get("oldState"), "new": step.get("newState")}
        return
    if not text.strip():
        msg = "it is empty"
        raise ValueError(msg)
    for line in text.splitlines():
        if line.strip():
            event = json.loads(line)
            if "sequence" not in event:
                msg = "a line is not an event"
                raise ValueError(msg)
            step = (event.get(kind) or {}).get("metadata")
            if step:
                yield step


def _change(step: Mapping[str, Any]) -> ResourceChange | None:
    verb = _VERBS.get(step["op"])
    old, new = step.get("old") or {}, step.get("new") or {}
    token = str(new.get("type") or old.get("type") or step.get("type") or "")
    if verb is None or not _counts(step):
        return None
    before, after = old.get("inputs") or {}, new.get("inputs") or {}
    change = ResourceChange(urn=step["urn"], type=token, verb=verb, properties=_properties(step, verb, before, after))
    return with_losses(change, before, retained=bool(old.get("retainOnDelete")))


def _add_causes(changes: dict[str, ResourceChange], steps: Sequence[Mapping[str, Any]]) -> None:
    """Mark replacements that follow from another one: all properties that force them had its ID or ARN, and get a
    value that is known only after the update."""
    owners: dict[str, str] = {}
    for step in steps:
        old = step.get("old") or {}
        if (change := changes.get(step["urn"])) and change.verb is Verb.REPLACE:
            handles = (old.get("id"), (old.get("outputs") or {}).get("arn"))
            owners |= {str(handle): change.urn for handle in handles if handle}
    for urn, change in changes.items():
        forced = [one for one in change.properties if one.forces]
        causes = {owners.get(one.before) for one in forced if one.after == LATER}
        if change.verb is Verb.REPLACE and len(causes) == 1 and all(one.after == LATER for one in forced):
            cause = causes.pop()
            if cause and cause != urn:
                changes[urn] = replace(change, cause=cause.rpartition("::")[2])


def _counts(step: Mapping[str, Any]) -> bool:
    """Whether it is a step of a resource; components only group others, and providers only reach them."""
    return not str(step["urn"]).split("::")[2].rpartition("$")[2].startswith(("slipway:", "pulumi:"))


def _properties(
    step: Mapping[str, Any], verb: Verb, before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[PropertyChange, ...]:
    if verb not in {Verb.UPDATE, Verb.REPLACE}:
        return ()
    detailed = step.get("detailedDiff") or {}
    forces: dict[str, bool] = {}
    for text, one in detailed.items():
        subject = _subject(text, before, after)
        forces[subject] = forces.get(subject, False) or _kind(one).endswith("-replace")
    for key in step.get("replaceReasons") or step.get("keys") or ():
        if not any(text == key or text.startswith((f"{key}.", f"{key}[")) for text in forces):
            forces[key] = True
    for key in step.get("diffReasons") or step.get("diffs") or ():
        if not any(text == key or text.startswith((f"{key}.", f"{key}[")) for text in forces):
            forces[key] = False
    return tuple(
        PropertyChange(
            path=text, before=shown(at(before, diff.parse(text))), after=shown(at(after, diff.parse(text))), forces=new
        )
        for text, new in sorted(forces.items())
    )


def _subject(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The path of a changed property: of an item in a list of plain values, the list. The engine compares lists by
    position, so an address that comes first changes every item."""
    path = diff.parse(text)
    if not isinstance(path[-1], int):
        return text
    lists = [at(values, path[:-1]) for values in (before, after)]
    plain = all(not isinstance(item, dict | list) for values in lists if isinstance(values, list) for item in values)
    return text.rpartition("[")[0] if plain else text


def _kind(one: Mapping[str, Any]) -> str:
    """The kind of a detailed difference: `diffKind` in an event log, `kind` in the output of `preview --json`."""
    return str(one.get("diffKind") or one.get("kind") or "")
