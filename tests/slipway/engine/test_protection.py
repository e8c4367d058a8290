"""Refusing to destroy protected resources, and to change a stack after a killed run."""

from collections.abc import Callable

import pytest

from slipway.engine.invocation import Operation, Request
from slipway.engine.protection import refuse_interrupted, refuse_protected
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


INTERRUPTED = parse(
    exported(pending=[{"type": "creating", "resource": resource("aws:ec2/vpc:Vpc", "network-vpc")}]),
)


@pytest.mark.parametrize("operation", [Operation.UP, Operation.DESTROY])
def test_after_a_killed_run_a_change_is_refused_with_the_command_that_recovers(operation: Operation) -> None:
    with pytest.raises(SlipwayError, match=r"(?s)left 1 operations open.*network-vpc.*slipway recover prod") as caught:
        refuse_interrupted(Request(operation=operation, stack="prod"), lambda: INTERRUPTED)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("operation", [Operation.PREVIEW, Operation.REFRESH])
def test_after_a_killed_run_looking_is_allowed(operation: Operation) -> None:
    refuse_interrupted(Request(operation=operation, stack="prod"), unread)


def test_a_stack_without_a_readable_state_is_left_to_the_engine() -> None:
    def missing() -> StackState:
        message = "no stack named 'prod' found"
        raise SlipwayError(message)

    refuse_interrupted(Request(operation=Operation.UP, stack="prod"), missing)
