"""Refusing to destroy protected resources."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slipway.engine.invocation import Operation, Request
from slipway.engine.protection import refuse_protected
from slipway.engine.state import StackState, parse
from spec.errors import EXIT_PROTECTED, SlipwayError
from tests.slipway.engine.fake import exported, resource

PROTECTED = parse(
    exported(
        resource("aws:ec2/vpc:Vpc", "network-vpc", protect=True),
        resource("aws:eks/cluster:Cluster", "cluster", protect=True),
        resource("aws:ec2/subnet:Subnet", "network-private-a"),
    )
)


def unread() -> StackState:
    raise AssertionError


def test_a_destroy_names_exactly_the_protected_resources() -> None:
    with pytest.raises(SlipwayError) as caught:
        refuse_protected(Request(operation=Operation.DESTROY, stack="prod"), lambda: PROTECTED)
    assert caught.value.exit_code == EXIT_PROTECTED
    lines = str(caught.value).splitlines()
    assert lines[0] == "stack prod has 2 protected resources; nothing was destroyed:"
    assert [line for line in lines if line.startswith("  - ")] == ["  - ec2 Vpc network-vpc", "  - eks Cluster cluster"]
    assert "environment.protect: false" in lines[-2]


@pytest.mark.parametrize(
    ("request_", "state"),
    [
        (Request(operation=Operation.UP, stack="prod"), unread),
        (Request(operation=Operation.DESTROY, stack="prod", except_protected=True), unread),
        (Request(operation=Operation.DESTROY, stack="prod", extra=("--target=urn:x",)), unread),
        (Request(operation=Operation.DESTROY, stack="prod", extra=("--ignore-protect",)), unread),
        (Request(operation=Operation.DESTROY, stack="prod"), StackState),
    ],
)
def test_a_chosen_part_or_an_unprotected_stack_is_not_refused(
    request_: Request, state: Callable[[], StackState]
) -> None:
    refuse_protected(request_, state)
