"""`slipway verify` says what it costs, and starts nothing without consent."""

from __future__ import annotations

import argparse

import pytest

from slipway.cli import cluster, verify
from spec.errors import SlipwayError
from tests.support.stacks import platform_of

DEV = platform_of("dev")


def options(*, yes: bool) -> argparse.Namespace:
    return argparse.Namespace(yes=yes, minutes=30)


def test_without_a_terminal_it_needs_yes_and_names_the_cost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    with pytest.raises(SlipwayError, match="--yes"):
        verify._confirmed(DEV, options(yes=False))
    assert "USD at list prices" in capsys.readouterr().err
    assert verify._confirmed(DEV, options(yes=True))


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_it_asks(answer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "can_ask", lambda: True)
    monkeypatch.setattr(verify, "ask", lambda _: answer)
    assert verify._confirmed(DEV, options(yes=False)) is answer


def test_a_stack_without_a_cluster_in_the_sandbox_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipway.cli.offline.find_running", lambda: None)
    with pytest.raises(SlipwayError, match="the sandbox has no cluster slipway-dev"):
        cluster.connect(DEV, simulated=True)
