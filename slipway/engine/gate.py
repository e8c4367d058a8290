"""The gate: a plan that replaces or deletes a resource with state is refused, unless the user names the resource.

`--event-log FILE` writes one `apitype.EngineEvent` per line (pulumi v3.258.0, sdk/go/common/apitype/events.go). It is a
debugging flag, so `ENVIRONMENT` must be set; the Automation API of every language depends on it. It is used instead of
`--json`, because the user then still sees the engine's own display of the same run.

The gate reads the table of stateful types, with what is lost and what to do instead. A type that is not listed is
rebuilt from the program alone, so its replacement costs only time.

Policies evaluate the desired state, not the live state, so no rule can foresee a replacement; the engine's plan can.
The gate does not apply to `destroy`: the user asked for the removal, and protected resources block it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spec import strict_yaml
from spec.errors import fail, refuse
from spec.pools.keys import ROLE

# What a run of the engine would replace or delete, read from the engine's event log.


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
UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's text for a value that is not known yet (sdk/go/common/resource/plugin/rpc.go, UnknownStringValue)."""
_PART: Final = re.compile(r"\[\"(?P<quoted>[^\"]*)\"\]|\[(?P<index>\d+)\]|(?P<name>[^.\[]+)")
_LONGEST: Final = 100


@dataclass(frozen=True, kw_only=True)
class Forced:
    """A property that makes a change a replacement."""

    path: str  # property path: `vpcConfig.subnetIds[0]`
    old: str  # the current value, as text
    new: str  # the desired value, as text


@dataclass(frozen=True, kw_only=True)
class Removal:
    """One resource that would be replaced or deleted."""

    urn: str
    type: str  # its type token
    operation: str  # `replace` or `delete`
    forced: tuple[Forced, ...] = ()  # properties that force a replacement
    retained: bool = False  # whether the object itself stays when it leaves the state (`retainOnDelete`)
    inputs: Mapping[str, Any] = field(default_factory=dict)  # its current inputs
    outputs: Mapping[str, Any] = field(default_factory=dict)  # its current outputs


def removals(log: Iterable[str]) -> tuple[Removal, ...]:
    """Resources that the run of an event log would replace or delete, each once, sorted by URN."""
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
            fail(
                f"the engine's event log has a line that is not an event ({error}): the plan can't be evaluated", error
            )


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
    if value == UNKNOWN:
        return "known only after the update"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


# Resource types that keep state: their replacement or deletion loses something that no later update restores.


@dataclass(frozen=True, kw_only=True)
class Stateful:
    """A type that keeps state."""

    loses: str  # what its replacement or deletion loses
    fix: str = (
        "restore the previous value; to migrate, copy the data elsewhere, for example to a second stack, before you "
        "allow it"
    )
    """What to do instead."""
    holds: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = None
    """Whether a resource with these inputs and outputs holds anything at present; None means always."""


def _nodes(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """A node group with nodes, of a pool that runs jobs; controllers on a system pool are rescheduled without loss."""
    if (inputs.get("labels") or {}).get(ROLE) == "system":
        return False
    scaling = outputs.get("scalingConfig") or inputs.get("scalingConfig") or {}
    return bool(scaling.get("desiredSize", 1))


def _machines(_: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """A NodePool with nodes according to its status; without a status it counts as empty."""
    resources = (outputs.get("status") or {}).get("resources") or {}
    return str(resources.get("nodes", "0")) != "0"


_HOLDS: Final = {"nodes": _nodes, "machines": _machines}
TABLE: Final[Mapping[str, Stateful]] = {
    type: Stateful(**{**row, "holds": _HOLDS.get(row.get("holds"))})
    for type, row in strict_yaml.beside(__file__).items()
}
"""By type token."""


def among(types: Iterable[str]) -> bool:
    """Whether any of these types keeps state."""
    return any(kind in TABLE for kind in types)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The gate's decision on a plan."""

    refused: tuple[Removal, ...]
    """Resources that keep state, would be replaced or deleted, and are not named in `--allow-replace`."""
    allowed: tuple[Removal, ...]  # those that are named
    unused: tuple[str, ...]  # names that match no such resource of the plan


def check_names(allowed: Sequence[str]) -> None:
    """Refuse values of `--allow-replace` that can't be URNs, before the engine starts.

    Raises:
        SlipwayError: With code 2, naming the first invalid value.
    """
    for name in allowed:
        if not name.startswith("urn:pulumi:") or name.count("::") < 3:
            refuse(
                f"--allow-replace takes the full URN of one resource, as the refusal prints it; got {name!r}. "
                "Wildcards aren't supported: name each resource."
            )


def evaluate(plan: Iterable[Removal], allowed: Sequence[str] = ()) -> Verdict:
    """The gate's verdict on a plan."""
    losses = [removal for removal in plan if _loses_state(removal)]
    return Verdict(
        refused=tuple(loss for loss in losses if loss.urn not in allowed),
        allowed=tuple(loss for loss in losses if loss.urn in allowed),
        unused=tuple(name for name in allowed if name not in {loss.urn for loss in losses}),
    )


def _loses_state(removal: Removal) -> bool:
    stateful = TABLE.get(removal.type)
    if stateful is None or (removal.operation == "delete" and removal.retained):
        return False
    return stateful.holds is None or stateful.holds(removal.inputs, removal.outputs)


def refusal(stack: str, refused: Sequence[Removal], *, done: bool = False) -> str:
    """Why a plan is refused, resource by resource.

    Args:
        done: Whether the plan was carried out nevertheless, because it was a rehearsal.
    """
    many = f"{len(refused)} resource{'s' if len(refused) != 1 else ''}"
    keep = "keep" if len(refused) != 1 else "keeps"
    head = (
        f"stack {stack}: on AWS this would have been refused: {many} that {keep} state would be replaced or deleted:"
        if done
        else f"stack {stack}: {many} that {keep} state would be replaced or deleted; nothing was changed:"
    )
    lines = [head]
    for removal in refused:
        stateful = TABLE[removal.type]
        lines += [f"  - {removal.operation} {removal.urn}", f"      loses: {stateful.loses}"]
        lines += [f"      because: {reason}" for reason in _because(removal)]
        lines += [f"      fix: {stateful.fix}"]
    lines.append("If you accept the loss, name each resource and run the command again:")
    lines += [f"  --allow-replace '{removal.urn}'" for removal in refused]
    return "\n".join(lines)


def _because(removal: Removal) -> list[str]:
    if removal.operation == "delete":
        return ["the program no longer declares it (it was removed, renamed or switched off)"]
    if not removal.forced:
        return ["the engine names no property: the resource's provider changed, or --replace named it"]
    return [f"{forced.path} can't be changed in place: {forced.old} -> {forced.new}" for forced in removal.forced]
