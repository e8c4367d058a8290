"""What holds data does not go by accident: the engine's `protect`, and no switch that empties it first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.questions import false
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Violation
from policies.tokens import BUCKET, DATABASE, EFS, KEY, LUSTRE, OPEN_ZFS, REPOSITORY

_HOLDERS: Final = (KEY, EFS, LUSTRE, OPEN_ZFS, BUCKET, DATABASE)


def _unguarded(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in _HOLDERS and not resource.protect:
        yield Violation(path="", got="one that the engine would delete")


STATEFUL_PROTECTED = ResourceRule(
    name="stateful-protected",
    title="The engine refuses to delete what holds data, and nothing empties it first",
    types=(*_HOLDERS, REPOSITORY),
    severity=Severity.HIGH,
    levels=Levels("-/A/M"),
    why="A line removed from a program is a deletion at the next update; forceDestroy makes it one that asks nobody.",
    fix="Set environment.protect: true of the stack, and leave forceDestroy and forceDelete out.",
    checks={
        "protect": Check(
            asks="must be protected",
            find=_unguarded,
        ),
        "emptied": Check(
            asks="must be false",
            find=false("forceDestroy", BUCKET),
        ),
        "images": Check(
            asks="must be false",
            find=false("forceDelete", REPOSITORY),
        ),
    },
)

RULES = (STATEFUL_PROTECTED,)
