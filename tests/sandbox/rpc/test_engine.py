"""The provider's base class with a real engine."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi import automation as auto

from sandbox.rpc.provider import serve
from tests.sandbox.rpc.engine import Engine, changes, resources
from tests.sandbox.rpc.toy import Thing, ToyInstance, ToyProvider

pytestmark = pytest.mark.sandbox

CANARY = "canary-7f3a"


@pytest.fixture
def toy() -> ToyProvider:
    return ToyProvider()


@pytest.fixture
def engine(toy: ToyProvider, tmp_path: Path) -> Iterator[Engine]:
    served = serve(toy)
    try:
        yield Engine(tmp_path, {"toy": served.port})
    finally:
        served.stop()


@dataclass(frozen=True)
class Secret:
    """Becomes an Output inside the program: one created outside belongs to another event loop."""

    value: str


def revealed(value: Any) -> Any:
    if isinstance(value, Secret):
        return pulumi.Output.secret(value.value)
    return {key: revealed(item) for key, item in value.items()} if isinstance(value, dict) else value


def one_thing(ignore: list[str] | None = None, **props: object) -> Callable[[], None]:
    def program() -> None:
        Thing("thing", pulumi.ResourceOptions(ignore_changes=ignore), **revealed(props))

    return program


def test_a_secret_copied_to_another_output_stays_out_of_the_state(engine: Engine, toy: ToyProvider) -> None:
    stack = engine.stack(one_thing(text=Secret(CANARY), nested={"a": Secret("s"), "b": 1}))
    stack.up()
    assert toy.things["thing-1"]["copy"] == CANARY
    stack.refresh()
    assert CANARY not in engine.state_text()
    assert resources(stack)["thing"]["outputs"]["nested"]["b"] == 1


def test_nulls_in_values_of_charts_reach_the_provider_and_stay(engine: Engine, toy: ToyProvider) -> None:
    """A null removes a chart's default; without it in the state, each run would add it again."""
    values = {"limits": {"cpu": None, "memory": "1Gi"}, "whole": None, "list": [{"a": None}, None]}
    stack = engine.stack(one_thing(values=values))
    stack.up()
    assert toy.things["thing-1"]["values"] == values
    assert changes(stack.up()) == {}
    without = {**values, "limits": {"memory": "1Gi"}}
    assert changes(engine.stack(one_thing(values=without)).up()) == {"updated": 1}
    assert toy.things["thing-1"]["values"] == without
    assert changes(engine.stack(one_thing(values=values)).up()) == {"updated": 1}
    assert toy.things["thing-1"]["values"] == values


def test_a_partial_create_keeps_the_object_and_the_next_run_completes_it(engine: Engine, toy: ToyProvider) -> None:
    stack = engine.stack(one_thing(size=1, text=Secret(CANARY)))
    toy.failing = {"init"}
    with pytest.raises(auto.CommandError, match="never became ready"):
        stack.up()
    kept = resources(stack)["thing"]
    assert kept["id"] == "thing-1"
    assert kept["initErrors"] == ["made, but never became ready"]
    assert CANARY not in engine.state_text()
    toy.failing = set()
    stack.up()
    assert toy.calls == [("create", "thing"), ("update", "thing")]
    assert "initErrors" not in resources(stack)["thing"]
    toy.failing = {"init"}
    stack = engine.stack(one_thing(size=2))
    with pytest.raises(auto.CommandError, match="changed in part"):
        stack.up()
    assert resources(stack)["thing"]["outputs"]["size"] == 2


def test_two_provider_instances_in_one_program_keep_their_own_configuration(engine: Engine, toy: ToyProvider) -> None:
    def program() -> None:
        for zone in ("east", "west"):
            instance = ToyInstance(f"toy-{zone}", zone=zone)
            for index in range(3):
                Thing(f"{zone}-{index}", pulumi.ResourceOptions(provider=instance))

    stack = engine.stack(program)
    stack.up()
    zones = {
        name: item["outputs"]["zone"] for name, item in resources(stack).items() if item["type"] == Thing.PULUMI_TYPE
    }
    assert zones == {f"{zone}-{index}": zone for zone in ("east", "west") for index in range(3)}
    assert len(toy.peers) >= 2


def test_an_ignored_nested_path_is_not_a_change_and_a_forced_one_replaces(engine: Engine, toy: ToyProvider) -> None:
    engine.stack(one_thing(kind="a", scaling={"desired": 1, "max": 3})).up()
    toy.things["thing-1"]["scaling"]["desired"] = 2
    stack = engine.stack(one_thing(kind="a", scaling={"desired": 1, "max": 3}, ignore=["scaling.desired"]))
    assert changes(stack.up(refresh=True)) == {}
    stack = engine.stack(one_thing(kind="b", scaling={"desired": 1, "max": 4}, ignore=["scaling.desired"]))
    stack.up()
    assert [call for call, _ in toy.calls] == ["create", "delete", "create"]


def test_a_refused_input_and_a_failed_create_are_shown_without_the_secret(engine: Engine, toy: ToyProvider) -> None:
    with pytest.raises(auto.CommandError, match="must be a number, got 'huge'"):
        engine.stack(one_thing(size="huge")).preview()
    toy.failing = {"create"}
    with pytest.raises(auto.CommandError, match=r"no room for .*\[secret\]") as raised:
        engine.stack(one_thing(text=Secret(CANARY))).up()
    assert CANARY not in str(raised.value)
    assert "thing" not in resources(engine.stack(one_thing()))
