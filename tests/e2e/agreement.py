"""Compares what two providers answer to the same program on the same state, resource by resource.

Compared are the operation, the reasons of a replacement, the kind of each change by path, and the checked inputs.

| What may differ | Why |
|---|---|
| `inputDiff` of a change | decides from where the CLI prints the old value: ours compares inputs, not live objects |
| releases with a null among their values | 4.34 and ours hand it to Helm; the one that can be built drops it |
| outputs | the official provider adds `__fieldManager` and `__initialApiVersion`, and Helm's record of a release |
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_ABSENT: Final = "(absent)"
Step = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """One difference between the official provider and ours."""

    type: str  # type of the resource
    name: str  # its logical name
    where: str  # what differs: `operation`, `replaced by`, `diff of PATH`, `input PATH`
    official: Any  # the official provider's answer
    ours: Any  # ours

    def __str__(self) -> str:
        return f"{self.name} ({self.type}): {self.where}: official {_short(self.official)}, ours {_short(self.ours)}"


def differences(official: str, ours: str) -> list[Difference]:
    """What differs between two answers of `pulumi preview --json --show-sames`."""
    first, second = _steps(official), _steps(ours)
    both = sorted(urn for urn in {*first, *second} if not _has_null(_inputs(second.get(urn, {})).get("values")))
    return [one for urn in both for one in _compare(urn, first.get(urn), second.get(urn))]


def errors(answer: str) -> list[str]:
    """The ends of a preview's errors, which begin with all values of a release."""
    return [one["message"][-300:] for one in json.loads(answer).get("diagnostics") or () if one["severity"] == "error"]


def types(answer: str, operation: str) -> set[str]:
    """The types of the Kubernetes resources on which a preview plans an operation."""
    return {_type(urn) for urn, step in _steps(answer).items() if step["op"] == operation}


def _steps(answer: str) -> dict[str, Step]:
    """The steps of Kubernetes resources; a replacement is one step and not the deletion and creation that it makes."""
    steps: dict[str, Step] = {}
    for step in json.loads(answer)["steps"]:
        if _type(step["urn"]).startswith("kubernetes:"):
            known = steps.get(step["urn"])
            if known is None or step["op"] == "replace":
                steps[step["urn"]] = step
    return steps


def _compare(urn: str, official: Step | None, ours: Step | None) -> Iterator[Difference]:
    kind, name = _type(urn), urn.rpartition("::")[2]
    if official is None or ours is None:
        yield Difference(kind, name, "operation", (official or {}).get("op"), (ours or {}).get("op"))
        return
    if official["op"] != ours["op"]:
        yield Difference(kind, name, "operation", official["op"], ours["op"])
    reasons = [sorted(step.get("replaceReasons") or ()) for step in (official, ours)]
    if reasons[0] != reasons[1]:
        yield Difference(kind, name, "replaced by", *reasons)
    for path, one, other in _changed(_diff(official), _diff(ours)):
        yield Difference(kind, name, f"diff of {path}", one, other)
    for path, one, other in _changed(_inputs(official), _inputs(ours)):
        yield Difference(kind, name, f"input {path}", one, other)


def _diff(step: Step) -> dict[str, str]:
    """The kind of each change by path."""
    return {path: change["kind"] for path, change in (step.get("detailedDiff") or {}).items()}


def _has_null(values: Any) -> bool:
    return isinstance(values, Mapping) and any(each is None or _has_null(each) for each in values.values())


def _inputs(step: Step) -> Mapping[str, Any]:
    return (step.get("newState") or {}).get("inputs") or {}


def _changed(first: Any, second: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in sorted({*first, *second}):
            below = f"{path}.{key}" if path else str(key)
            yield from _changed(first.get(key, _ABSENT), second.get(key, _ABSENT), below)
    elif first != second:
        yield path, first, second


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 200 else f"{text[:200]}..."
