"""Options of resources: what an update leaves as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.resource import Resource
from policies.resources.tokens import (
    CLUSTER,
    DATABASE,
    JOB,
    JOB_SET,
    MPI_JOB,
    NODE_GROUP,
    PYTORCH_JOB,
    RAY_CLUSTER,
    RAY_JOB,
    RAY_SERVICE,
    TRAIN_JOB,
)
from policies.rule import ANY, Check, Context, ResourceRule, Setting, Violation, everywhere

_CONTROLLED: Final = {
    CLUSTER: ["vpcConfig.subnetIds"],
    NODE_GROUP: ["scalingConfig", "scalingConfig.desiredSize"],
    DATABASE: ["allocatedStorage"],
    JOB: ["spec.suspend"],
    JOB_SET: ["spec.suspend"],
    TRAIN_JOB: ["spec.suspend"],
    PYTORCH_JOB: ["spec.runPolicy.suspend"],
    MPI_JOB: ["spec.runPolicy.suspend"],
    RAY_CLUSTER: ["spec.suspend"],
    RAY_JOB: ["spec.suspend"],
    RAY_SERVICE: ["spec.rayClusterConfig.suspend"],
}
"""Properties that AWS or a controller changes: subnets that EKS can't drop, sizes, and the admission of jobs."""


def _ignored(resource: Resource, context: Context) -> Iterator[Violation]:
    for path in resource.ignore_changes:
        if path not in context.settings["properties"].get(resource.type, ()):
            yield Violation(path="ignoreChanges", got=f"{path!r}")


IGNORED_LISTED = ResourceRule(
    name="ignore-changes-listed",
    title="An update ignores only properties that controllers change",
    types=ANY,
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="The engine keeps the old value of an ignored property, whatever the program says, so a weakness outlasts its "
    "fix; `*` keeps all of them.",
    fix="Remove the property from ignore_changes, or add it to the rule's setting with the controller that changes it.",
    settings={
        "properties": Setting(
            asks="properties that may be ignored, by type",
            schema={"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
            values=everywhere(_CONTROLLED),
        )
    },
    checks={
        "property": Check(
            asks="must be properties of the rule's setting",
            find=_ignored,
        )
    },
    program_only=True,
)

RULES = (IGNORED_LISTED,)
