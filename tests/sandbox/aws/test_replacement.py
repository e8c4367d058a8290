"""Which changes replace an object: the rows for plans without a sandbox, held against the provider's own plans."""

from typing import Any

import pytest

from sandbox.aws import replacement
from sandbox.aws.terraform import objects
from sandbox.aws.terraform.acting import Acting
from sandbox.aws.terraform.messages import Unknown, pack, unpack
from sandbox.aws.terraform.objects import State
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples import World
from tests.sandbox.aws.samples.world import PROCESSES
from tests.sandbox.aws.test_stacks import plain
from tests.support import stacks

VPC = "aws:ec2/vpc:Vpc"


def test_values_survive_the_wire() -> None:
    value = {"a": None, "b": [1, -5, 2**40, 1.5, True, False], "c": "é" * 300, "d": {"e": [], "f": "x"}}
    assert unpack(pack(value)) == value


def test_no_type_of_the_stacks_is_without_an_answer() -> None:
    used = {one.type for name in stacks.NAMES for one in stacks.recorded(name) if one.type.startswith("aws:")}
    assert sorted(token for token in used if not replacement.known(token)) == []


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [("dedicated", "default", False), ("dedicated", None, False), ("default", "dedicated", True)],
)
def test_a_vpc_becomes_default_in_place(old: str, new: str | None, replaces: bool) -> None:
    olds: dict[str, Any] = {"instanceTenancy": old}
    news = {} if new is None else {"instanceTenancy": new}
    assert replacement.forces_new(VPC, ("instanceTenancy",), olds, news) is replaces


def settled(value: Any) -> Any:
    """A planned state as one that was applied."""
    if isinstance(value, Unknown):
        return None
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items()}
    return [settled(item) for item in value] if isinstance(value, list) else value


def changed(value: Any) -> Any:
    """Another value of the same kind; None where there is none that is surely right."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value != UNKNOWN and not value.startswith(("{", "[")):
        return f"{value}0"
    return None


def test_the_same_changes_replace(world: World) -> None:
    found: dict[str, str] = {}
    compared = 0
    samples = {
        (one.type, *sorted(plain(one))): (one, plain(one))
        for stack in stacks.NAMES
        for one in stacks.recorded(stack)
        if one.type.startswith("aws:")
    }
    for one, inputs in samples.values():
        type = PROCESSES.types.resource(one.type)
        assert type is not None, one.type
        acting = Acting(PROCESSES, world.aws, type)
        try:
            made = settled(acting.creation(inputs).after.value)
        except ProviderError:
            continue
        before = State(made | ({"id": "sample"} if "id" in made else {}))
        for key, value in inputs.items():
            if (other := changed(value)) is None or key == "region" or key in type.form.lacks([key]):
                continue
            news = {**inputs, key: other}
            try:
                with acting.plugin() as plugin:
                    forced = objects.planned(plugin, type, before, acting.config(news)).replacing
            except ProviderError:
                continue
            compared += 1
            theirs = type.form.properties[key] in forced
            if theirs != replacement.forces_new(one.type, (key,), inputs, news):
                found[f"{one.type} {key}"] = "replaces" if theirs else "updates"
    assert compared > 200
    assert found == {}
