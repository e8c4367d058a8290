"""The table of upstream's messages, `messages.yaml`: what each says of a workload, and what follows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from slipway.why.answer import Layer, Part

_FILE: Final = Path(__file__).with_name("messages.yaml")


@dataclass(frozen=True, kw_only=True)
class Says:
    """One row.

    Attributes:
        says: Expression that a message matches.
        layer: What holds the workload then.
        never: Whether waiting does not help.
        cause: What is wrong; `{0}` is what matched, `{1}` a group, `{message}` the message.
        fix: The next step, with the same fields.
    """

    says: re.Pattern[str]
    layer: Layer
    never: bool = False
    cause: str = "{message}"
    fix: str


@cache
def rows(component: str) -> Sequence[Says]:
    """The rows of a component, in the order in which they are tried."""
    every = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Says(**{**row, "says": re.compile(row["says"], re.DOTALL), "layer": Layer(row.get("layer", Layer.ACCEPTED))})
        for row in every[component]
    )


def place(component: str, message: str) -> int:
    """Number of the first row that a message matches; that of no row if none does."""
    return next((at for at, row in enumerate(rows(component)) if row.says.search(message)), len(rows(component)))


def said(component: str, message: str, fields: Mapping[str, str] | None = None) -> Part | None:
    """What a message of a component means; None if the table does not have it.

    Args:
        component: Its key in the table.
        message: The message.
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
