"""Every row against moto: made, read without drift, updated, drifted, deleted."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.aws import parameters
from slipway.sandbox.aws.rows import ROWS
from slipway.sandbox.aws.schema import schema
from slipway.sandbox.rpc.hooks import ReadResult
from tests.sandbox.aws.samples import SAMPLES, World

EACH = pytest.mark.parametrize("type_token", sorted(ROWS))


def read(world: World, type_token: str, id: str, outputs: dict[str, Any], inputs: dict[str, Any]) -> ReadResult:
    found = world.lifecycle(type_token).read(id, outputs, inputs)
    assert found is not None
    return found


def test_every_row_has_a_sample() -> None:
    assert set(SAMPLES) == set(ROWS)


@EACH
def test_a_row_names_only_inputs_and_outputs_of_its_type(type_token: str) -> None:
    row, known = ROWS[type_token], schema(type_token)
    assert known is not None
    inputs = {
        *(path.split(".")[0] for path in row.force_new), *row.drift, *row.defaults,
        *(name for group in row.exactly_one for name in group),
        *(key for setting in row.settings for key in setting.keys if key != "*"),
    }  # fmt: skip
    assert inputs <= set(known.inputs)
    assert {*row.computed, *row.from_item, *row.volatile} <= set(known.outputs)


@EACH
def test_an_object_lives_its_life(type_token: str, world: World) -> None:
    sample, lifecycle = SAMPLES[type_token], world.lifecycle(type_token)
    inputs = sample.inputs(world)
    assert lifecycle.schema.check(inputs) == []
    assert parameters.check(world.aws, lifecycle.schema, lifecycle.row, inputs) == []
    id, outputs = lifecycle.create(inputs)
    assert id
    assert read(world, type_token, id, outputs, inputs) == ReadResult(id, outputs, inputs), "false drift"
    if sample.update:
        updated = {**inputs, **sample.update}
        outputs = lifecycle.update(id, outputs, updated, set(sample.update))
        assert read(world, type_token, id, outputs, updated) == ReadResult(id, outputs, updated), "the update was lost"
        assert {key: outputs[key] for key in sample.update if key in outputs} == sample.update
        inputs = updated
    if sample.behind:
        sample.behind(world.aws, id, outputs)
        found = read(world, type_token, id, outputs, inputs)
        assert {key for key in found.inputs if found.inputs[key] != inputs.get(key)} == set(sample.shows)
        outputs = lifecycle.update(id, dict(found.outputs), inputs, set(sample.shows))
        assert read(world, type_token, id, outputs, inputs).inputs == inputs, "the repair was lost"
    lifecycle.delete(id, outputs)
    if not sample.stays:
        assert lifecycle.read(id, outputs, inputs) is None
        lifecycle.delete(id, outputs)
