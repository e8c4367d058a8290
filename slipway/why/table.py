"""The table of texts, `messages.yaml`: what each message of upstream says of a workload and what follows, and what is
found without one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from slipway.why.answer import Layer, Part
from spec import strict_yaml
from spec.settings.problems import Problem

_FILE: Final = Path(__file__).with_name("messages.yaml")


@dataclass(frozen=True, kw_only=True)
class Says:
    """One row."""

    says: re.Pattern[str] = re.compile("")  # expression that a message matches
    layer: Layer  # what holds the workload then
    never: bool = False  # whether waiting does not help
    decoding: bool = False  # of a finding: whether the API server refuses it before it asks any rule
    cause: str = "{message}"  # what is wrong; `{0}` is what matched, `{1}` a group, `{message}` the message
    fix: str = ""  # the next step, with the same fields


@dataclass(frozen=True)
class Finding:
    """One thing that would hold a manifest."""

    layer: Layer
    problem: Problem
    decoding: bool = False  # whether the API server refuses it before it asks any rule

    @property
    def part(self) -> Part:
        """The same as a part of an answer."""
        one = self.problem
        # The tolerations that Kueue adds are among those of the problem.
        given = "" if one.value is None or one.path.endswith(".tolerations") else f" (given: {one.value})"
        return Part(
            layer=self.layer,
            cause=f"{one.path}: {one.rule}{given}",
            fix=one.fix[:1].lower() + one.fix[1:].rstrip("."),
            numbers={} if one.value is None else {"given": str(one.value)},
        )


@cache
def _every() -> Mapping[str, Any]:
    found: Mapping[str, Any] = strict_yaml.one(_FILE.read_text(encoding="utf-8"))
    return found


@cache
def rows(component: str) -> Sequence[Says]:
    """The rows of a component, in the order in which they are tried."""
    return tuple(
        Says(**{**row, "says": re.compile(row["says"], re.DOTALL), "layer": Layer(row.get("layer", Layer.ACCEPTED))})
        for row in _every()[component]
    )


@cache
def _row(section: str, key: str) -> Says:
    return Says(**{**_every()[section][key], "layer": Layer(_every()[section][key]["layer"])})


def part_of(key: str, numbers: Mapping[str, str] | None = None, /, **fields: object) -> Part:
    """What is found in the objects of a cluster: the row `key` of `parts`, with these fields and numbers."""
    row, known = _row("parts", key), {**(numbers or {}), **fields}
    cause, fix = row.cause.format(**known), row.fix.format(**known)
    return Part(layer=row.layer, never=row.never, cause=cause, fix=fix, numbers=numbers or {})


def finding(key: str, path: str, value: object, /, **fields: object) -> Finding:
    """What is found in a manifest: the row `key` of `findings`, with these fields, for the value at a path."""
    row = _row("findings", key)
    cause, fix = row.cause.format(value=value, **fields), row.fix.format(value=value, **fields)
    return Finding(row.layer, Problem(path, cause, value, fix), row.decoding)


def place(component: str, message: str) -> int:
    """Number of the first row that a message matches; that of no row if none does."""
    return next((at for at, row in enumerate(rows(component)) if row.says.search(message)), len(rows(component)))


def said(component: str, message: str, fields: Mapping[str, str] | None = None) -> Part | None:
    """What a message of a component means; None if the table does not have it.

    Args:
        fields: More fields of causes and fixes.
    """
    text = " ".join(message.split())
    at = place(component, text)
    if at == len(rows(component)):
        return None
    row = rows(component)[at]
    match = row.says.search(text)
    groups = [found or "" for found in (match[0], *match.groups())] if match else []
    known = {"message": text, **(fields or {})}
    return Part(
        layer=row.layer,
        never=row.never,
        cause=row.cause.format(*groups, **known),
        fix=" ".join(row.fix.format(*groups, **known).split()),
    )
