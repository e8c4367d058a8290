"""A comparison lists exactly the resources that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi

from slipway.render.diff import Changes, changes
from slipway.render.recorder import record
from slipway.render.recording import Recording
from tests.slipway.render.programs import Thing, Toy

URN = "urn:pulumi:dev::slipway::toy:index:Thing::"


def recorded(**things: dict[str, Any]) -> Recording:
    def program() -> None:
        toy = Toy()
        for name, props in things.items():
            opts = props.pop("opts", pulumi.ResourceOptions())
            Thing(name, pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=toy)), **props)

    return record(program, stack="dev")


def test_a_recording_does_not_differ_from_itself() -> None:
    make: Callable[[], Recording] = lambda: recorded(a={"text": "1"})  # noqa: E731
    assert not changes(make(), make())


def test_added_removed_and_changed_resources_are_distinguished() -> None:
    before = recorded(a={"text": "1"}, b={"text": "1"}, c={"text": "1"})
    after = recorded(d={"text": "1"}, c={"text": "2"}, a={"text": "1"})
    result = changes(before, after)
    assert result == Changes(added=(f"{URN}d",), removed=(f"{URN}b",), changed=(f"{URN}c",))
    assert result
    assert result.urns == (f"{URN}b", f"{URN}c", f"{URN}d")


def test_an_option_alone_is_a_change() -> None:
    before = recorded(a={"text": "1"})
    after = recorded(a={"text": "1", "opts": pulumi.ResourceOptions(protect=True)})
    assert changes(before, after).changed == (f"{URN}a",)


def test_the_order_in_the_program_is_not_a_change() -> None:
    assert not changes(recorded(a={}, b={}), recorded(b={}, a={}))
