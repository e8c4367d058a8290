"""What holds data does not go by accident: the engine's `protect`, and no switch that empties it first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.fixtures import one
from policies.levels import Levels
from policies.questions import false
from policies.resource import Resource
from policies.rule import Check, Context, Problem, ResourceRule
from policies.tokens import BUCKET, DATABASE, EFS, KEY, LUSTRE, OPEN_ZFS, REPOSITORY

_HOLDERS: Final = (KEY, EFS, LUSTRE, OPEN_ZFS, BUCKET, DATABASE)


def _unguarded(resource: Resource, _: Context) -> Iterator[Problem]:
    if resource.type in _HOLDERS and not resource.protect:
        yield Problem(path="", got="one that the engine would delete")


_CLOSED: Final[dict[str, Any]] = {"forceDestroy": False}

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
            bad=(
                one({}, type=KEY),
                one({}, type=EFS),
                one({}, type=LUSTRE),
                one({}, type=OPEN_ZFS),
                one(_CLOSED, type=BUCKET),
                one({}, type=DATABASE),
            ),
        ),
        "emptied": Check(
            asks="must be false",
            find=false("forceDestroy", BUCKET),
            bad=(one({"forceDestroy": True}, type=BUCKET, protect=True),),
        ),
        "images": Check(
            asks="must be false",
            find=false("forceDelete", REPOSITORY),
            bad=(one({"forceDelete": True}, type=REPOSITORY),),
        ),
    },
    good=(
        one({}, type=EFS, protect=True),
        one(_CLOSED, type=BUCKET, protect=True),
        one({}, type=REPOSITORY),
        # Neither has such a switch.
        one({"forceDestroy": True, "forceDelete": True}, type=KEY, protect=True),
    ),
)

RULES = (STATEFUL_PROTECTED,)
