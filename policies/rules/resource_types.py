"""Types of resources: only those that somebody has reviewed."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.resource import Resource
from policies.reviewed import REVIEWED
from policies.rule import ANY, Check, Context, ResourceRule, Setting, Violation, everywhere


def _unreviewed(resource: Resource, context: Context) -> Iterator[Violation]:
    if resource.type not in REVIEWED and resource.type not in context.settings["types"]:
        yield Violation(path="", got=f"a {resource.type}")


TYPE_REVIEWED = ResourceRule(
    name="resource-type-reviewed",
    title="Resources have types that somebody has reviewed",
    types=ANY,
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="No rule evaluates a type that the pack does not know: a command runs with the credentials of the deployment, "
    "a patch or a list changes objects that rules don't see.",
    fix="Use a type that the program declares. Or review what the type can do, and add it to policies/reviewed.py, or "
    "to the rule's setting for one environment.",
    settings={
        "types": Setting(
            asks="further types that the environment's stacks may declare",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere([]),
        )
    },
    checks={
        "type": Check(
            asks="must have a reviewed type",
            find=_unreviewed,
        )
    },
    program_only=True,
)

RULES = (TYPE_REVIEWED,)
