"""Importing an object of every mapping: its live values become the inputs."""

import pytest

from sandbox.aws import drift
from sandbox.aws.kinds import Scalar
from sandbox.aws.types import MAPPINGS
from sandbox.rpc import diff
from tests.sandbox.aws.samples import SAMPLES, World

# Their ids don't identify them: on AWS they are imported by another id.
UNFINDABLE = {"aws:cloudwatch/eventTarget:EventTarget", "aws:ec2/route:Route"}


@pytest.mark.parametrize("type_token", sorted(set(MAPPINGS) - UNFINDABLE))
def test_an_import_returns_the_inputs_that_a_program_would_set(type_token: str, world: World) -> None:
    sample, lifecycle = SAMPLES[type_token], world.lifecycle(type_token)
    inputs = sample.inputs(world)
    id, _ = lifecycle.create(inputs)
    found = lifecycle.read(id, {}, {})
    assert found is not None
    compared = set(lifecycle.mapping.drift) & set(inputs)
    assert compared <= set(found.inputs)
    changes = {str(change.path[0]) for change in diff.compare(dict(found.inputs), inputs)}
    documents = {name for name in changes if drift.same(Scalar("str"), inputs.get(name), found.inputs.get(name))}
    assert not (changes - documents) & compared, "the program would change what it just imported"
    assert found.inputs[diff.DEFAULTS_KEY] == sorted(set(found.inputs) - {diff.DEFAULTS_KEY, "tags"})
