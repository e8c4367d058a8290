"""Scenarios: workloads over time, events, and what is expected of them, in one file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import models_json_schema

from slipway.trial.clock import KEY, ReplayFile
from slipway.trial.events import BREAK_GPU, RECLAIM, REFUSE, RESTORE, UP
from slipway.trial.expectations import (
    CREATE,
    DELETE,
    LAYERS,
    WITHIN,
    Expectation,
    Step,
    Trial,
    name_of,
    parsed,
    refuse_unknown_layers,
)
from slipway.why.judge import without_nulls
from spec import strict_yaml
from spec.catalog import instances
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.quantities import seconds
from spec.settings.base import Duration, Model
from spec.settings.parts import overlay
from spec.settings.schema import write_or_check

FOLDER: Final = "scenarios"
SCHEMA: Final = Path(__file__).parents[2] / FOLDER / "schema.json"


class Capacity(Model):
    """What EC2 has no capacity for; a field that is left out stands for all."""

    instance_type: str = ""
    """Instance type."""
    zone: str = ""
    """Availability Zone."""
    market: Literal["", "spot", "on-demand", "reserved"] = ""
    """Purchase option, as Karpenter's label `karpenter.sh/capacity-type`."""

    @model_validator(mode="after")
    def _known(self) -> Capacity:
        if self.instance_type and instances.find(self.instance_type) is None:
            msg = f"the catalog has no instance type {self.instance_type!r}"
            raise ValueError(msg)
        return self


class After(Model):
    """A state of an object."""

    object: str
    """The object, as kubectl writes it."""
    layer: str
    """The layer at which `slipway why` finds it: `runs`, `queue`, `EC2 capacity`, ..."""

    @model_validator(mode="after")
    def _known(self) -> After:
        if self.layer not in LAYERS:
            msg = f"no layer is called {self.layer}: use one of {', '.join(LAYERS)}"
            raise ValueError(msg)
        return self


class Moment(Model):
    """One entry of the timeline: one of `create`, `delete`, `reclaim`, `breakGpu`, `refuse`, `restore` and `up`."""

    at: Duration = "0s"
    """Time after the start."""
    after: After | None = None
    """It happens when an object is in this state."""
    create: dict[str, Any] | None = None
    """A manifest. It is created with the rights of a member of its namespace's team."""
    delete: str | None = None
    """An object of the scenario is deleted."""
    reclaim: str | None = None
    """EC2 takes the Spot nodes of this object's pods back."""
    break_gpu: str | None = None
    """A GPU of a node of this object's pods breaks. The node monitoring agent has reported it ten minutes ago, so that
    Karpenter, or EKS for a managed group, repairs the node at once."""
    refuse: Capacity | None = None
    """EC2 has no capacity."""
    restore: Capacity | None = None
    """EC2 has capacity again."""
    up: dict[str, Any] | None = None
    """The stack is updated with settings that differ, by their place in the stack file; the next step waits for it."""

    @model_validator(mode="after")
    def _one(self) -> Moment:
        actions = (CREATE, DELETE, RECLAIM, BREAK_GPU, REFUSE, RESTORE, UP)
        given = [name for name in actions if name in self.model_dump(by_alias=True, exclude_none=True)]
        if len(given) != 1:
            msg = f"name one of {', '.join(actions)} (given: {', '.join(given) or 'none'})"
            raise ValueError(msg)
        return self


class Difference(Model):
    """What is different on one stack, whose teams and pools are others."""

    namespace: str | None = None
    """Namespace of objects whose manifests have none."""
    every: dict[str, Any] = Field(default_factory=dict)
    """What differs in each manifest; lists are replaced as a whole."""
    objects: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """What differs besides in the manifest of an object, by its name in the timeline."""
    expect: dict[str, Expectation] = Field(default_factory=dict)
    """Expectations in place of those of the scenario, by object."""


class ScenarioFile(Model):
    """The file."""

    description: str
    """What it shows, in one sentence."""
    stacks: list[str] = Field(min_length=1)
    """Stacks whose teams and pools it names."""
    namespace: str
    """Namespace of objects whose manifests have none."""
    within: Duration = WITHIN
    """Time for expectations without a duration of their own."""
    templates: dict[str, Any] = Field(default_factory=dict)
    """Parts of manifests to which YAML anchors refer; nothing else reads it."""
    timeline: list[Moment] = Field(min_length=1)
    """What happens, in this order."""
    expect: dict[str, Expectation] = Field(min_length=1)
    """By object, as kubectl writes it: `job/train`."""
    differs: dict[str, Difference] = Field(default_factory=dict)
    """By stack."""

    def on(self, stack: str, path: Path) -> ScenarioFile:
        """The scenario on a stack."""
        one = self.differs.get(stack)
        if one is None:
            return self

        def changed(moment: Moment) -> Moment:
            if moment.create is None:
                return moment
            patch = overlay(one.every, one.objects.get(name_of(moment.create, path), {}))
            return moment.model_copy(update={CREATE: overlay(moment.create, patch)})

        timeline = [changed(moment) for moment in self.timeline]
        namespace, expect = one.namespace or self.namespace, self.expect | one.expect
        return self.model_copy(update={"namespace": namespace, "timeline": timeline, "expect": expect})


@dataclass(frozen=True)
class Scenario:
    """A scenario of a file."""

    name: str  # name of its file, without the suffix
    description: str  # what it shows
    stacks: tuple[str, ...]  # stacks on which it runs
    trial: Trial  # its objects, steps and expectations


def read(path: Path, stack: str = "") -> Scenario:
    """Read a file, as it is on a stack."""
    if not path.is_file():
        msg = f"there is no scenario {path}: name a file, such as scenarios/spot-reclaim.yaml"
        raise SlipwayError(msg, EXIT_REFUSED)
    found = strict_yaml.documents(path)
    if len(found) != 1:
        msg = f"{path} has {len(found)} documents: a scenario is one"
        raise SlipwayError(msg, EXIT_REFUSED)
    file = parsed(ScenarioFile, found[0], path).on(stack, path)
    refuse_unknown_layers(file.expect, path)
    manifests: dict[str, dict[str, Any]] = {}
    for moment in file.timeline:
        if moment.create is not None:
            name = name_of(moment.create, path)
            if name in manifests:
                msg = f"{path}: timeline: {name} is created twice: give each object a name of its own"
                raise SlipwayError(msg, EXIT_REFUSED)
            manifests[name] = without_nulls(moment.create)
    steps = [_step(moment, path) for moment in file.timeline]
    for place, name in _names(file, steps):
        if name not in manifests:
            msg = f"{path}: {place}: the timeline creates no {name} (it creates: {', '.join(manifests) or 'nothing'})"
            raise SlipwayError(msg, EXIT_REFUSED)
    expected = {name: file.expect.get(name, Expectation()) for name in manifests}
    trial = Trial(file.namespace, manifests, expected, float(seconds(file.within)), steps)
    return Scenario(path.stem, file.description, tuple(file.stacks), trial)


def _names(file: ScenarioFile, steps: list[Step]) -> Iterator[tuple[str, str]]:
    yield from (("expect", name) for name in file.expect)
    yield from (
        (f"expect.{name}.preemptedBy", one.preempted_by) for name, one in file.expect.items() if one.preempted_by
    )
    for differs in file.differs.values():
        yield from (("differs.objects", name) for name in differs.objects)
        yield from (("differs.expect", name) for name in differs.expect)
    yield from (("timeline", step.subject) for step in steps if step.subject)
    yield from (("timeline.after", step.after[0]) for step in steps if step.after)


def _step(moment: Moment, path: Path) -> Step:
    at, after = float(seconds(moment.at)), (moment.after.object, moment.after.layer) if moment.after else None
    if moment.create is not None:
        return Step(CREATE, name_of(moment.create, path), None, at, after)
    for action, subject in ((DELETE, moment.delete), (RECLAIM, moment.reclaim), (BREAK_GPU, moment.break_gpu)):
        if subject is not None:
            return Step(action, subject, None, at, after)
    if moment.up is not None:
        return Step(UP, "", moment.up, at, after)
    action, capacity = (REFUSE, moment.refuse) if moment.refuse is not None else (RESTORE, moment.restore)
    detail = capacity.model_dump(by_alias=True, exclude_defaults=True) if capacity else {}
    return Step(action, "", detail, at, after)


def schema() -> dict[str, Any]:
    """The JSON Schema of a file, from which editors complete: with the key `replay` the clock drives it."""
    models = (ScenarioFile, ReplayFile)
    _, found = models_json_schema([(one, "validation") for one in models], by_alias=True)
    events, replay = ({"$ref": f"#/$defs/{one.__name__}"} for one in models)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "if": {"required": [KEY]},
        "then": replay,
        "else": events,
        **found,
    }


def main(arguments: Sequence[str]) -> int:
    """`python -m slipway.trial.scenario`: write the schema, or with `--check` compare it; the exit code."""
    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    return write_or_check(arguments, file=SCHEMA, text=text, module="slipway.trial.scenario")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
