"""A preview and an update show a summary instead of the engine's rows, and never hide an error."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.waiting import until
from slipway.cli import display
from slipway.cli.gate import Gate, Review
from slipway.engine.invocation import Invocation, Operation, Request
from slipway.engine.state import StackResource, StackState
from spec.errors import EXIT_CANCELLED
from tests.slipway.cli.test_rows import BUCKET, DIAGNOSTICS, TOTALS
from tests.slipway.cli.test_rows import OUTPUT as ROWS
from tests.slipway.conftest import Slipway
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_gate import event
from tests.support.patience import SECONDS

POLICIES = "Policies:\n    slipway@v0.1.0 (local: policies)\n        - [advisory]  bucket-lifecycle\n\n"


def test_diagnostics_and_policies_are_kept_and_rows_and_totals_are_not() -> None:
    output = f"Previewing update (dev):\n{ROWS}{POLICIES}{DIAGNOSTICS}{TOTALS}"
    assert display.without_rows(output, failed=True) == f"{POLICIES}{DIAGNOSTICS}".strip()
    assert display.without_rows(f"{ROWS}{TOTALS}", failed=False) == ""


def test_of_a_failure_without_diagnostics_everything_is_shown() -> None:
    assert display.without_rows(f"{ROWS}it broke\n", failed=True) == f"{ROWS}it broke".strip("\n")


@pytest.mark.parametrize("argument", ["--diff", "--json", "-j", "--show-config", "--suppress-outputs", "--debug", "-d"])
def test_an_argument_about_the_engines_display_keeps_it(argument: str) -> None:
    assert not display.quiet((argument,), verbose=False)
    assert display.quiet(("--target=urn", "--parallel", "4"), verbose=False)
    assert not display.quiet((), verbose=True)


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True


def shows(terminal: io.StringIO, text: str) -> None:
    """Waits for a text; under faketime, where timers of threads hang, it never comes."""
    until(
        lambda: text in terminal.getvalue() or None, SECONDS, lambda: f"{terminal.getvalue()!r} does not have {text!r}"
    )


def test_on_a_terminal_one_line_follows_the_latest_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("shutil.get_terminal_size", lambda **_: os.terminal_size((40, 24)))
    output = tmp_path / "output"
    with display.heartbeat(output):
        shows(terminal, "no output yet")
        output.write_text(
            f" +  kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding a-very-long-name creating (0s)\n{ROWS}"
        )
        shows(terminal, "2: Bucket it created (0.04s)")
    assert "\n" not in terminal.getvalue()
    lines = terminal.getvalue().split("\r\x1b[K")
    assert max(map(len, lines)) < 40
    assert lines[-1] == ""


@pytest.mark.parametrize("terminal", ["dumb", ""])
def test_a_terminal_that_moves_no_cursor_gets_a_row_each_minute(
    terminal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", shown := Terminal())
    monkeypatch.setenv("TERM", terminal)
    with display.heartbeat(tmp_path / "output", seconds=0.02):
        shows(shown, "s] ")
    assert "\x1b" not in shown.getvalue()


@pytest.mark.parametrize("waiting", ["", "@ updating......\n"])
def test_a_long_run_shows_its_latest_row(waiting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", shown := io.StringIO())
    output = tmp_path / "output"
    output.write_text(f"{ROWS}\n{waiting}")
    with display.heartbeat(output, 3, seconds=0.02):
        shows(shown, "s] 1 of 3: Bucket it created (0.04s)")
    assert shown.getvalue().startswith("[    0 s] the engine runs; its latest row follows every")


def test_an_update_on_aws_shows_the_changes_before_and_the_diagnostics_after(
    checkout: Path, user: None, fake: FakePulumi, slipway: Slipway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Review, "text", lambda _, request, log: f"summary of {request.operation}")
    fake.tell("events", event("create"))
    fake.tell("export", exported(resource(BUCKET, "it")))
    fake.tell("says", f"{ROWS}{DIAGNOSTICS}{TOTALS}")
    shown = slipway("up dev --yes").out
    assert shown.count("summary of preview") == 1
    assert shown.count("AccessDenied") == 2
    assert "creating" not in shown


def test_an_interrupt_is_answered_at_once_and_says_how_to_go_on(fake: FakePulumi, checkout: Path, user: None) -> None:
    fake.tell("hang", "until interrupted")
    command = [sys.executable, "-m", "slipway", "preview", "dev"]
    path = f"{fake.directory}:{os.environ['PATH']}"
    process = subprocess.Popen(
        command,
        cwd=checkout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": path},
        start_new_session=True,
    )
    until(lambda: fake.calls or None, SECONDS, "the engine is not called")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=SECONDS)
    assert process.returncode == EXIT_CANCELLED
    assert "interrupted: running operations end, and the state is written" in error
    assert error.rstrip().endswith("interrupted: nothing was changed")


@pytest.mark.parametrize("quiet", [True, False])
def test_an_interrupted_destroy_is_no_success_and_its_state_is_completed_first(
    quiet: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The engine ends with 0 if it is interrupted while it deletes."""
    done: list[str] = []

    def engine(
        invocation: Invocation, *, output: Path | None = None, interrupted: Callable[[], None] = lambda: None
    ) -> int:
        interrupted()
        if output is not None:
            output.write_text("", encoding="utf-8")
        return 0

    def left() -> StackState:
        done.append("left")
        return StackState((StackResource("urn:pulumi:dev::slipway::aws:s3/bucket:Bucket::it", BUCKET),))

    review: Any = None  # nothing is reviewed after a run that did not end
    gated = Gate(
        call=lambda request: Invocation(("pulumi",), {}, Path()),
        state=StackState, allowed=(), ask=lambda _: True, review=review, left=left, quiet=quiet, engine=engine,
        failed=lambda: done.append("failed"), flags=" --sandbox",
    )  # fmt: skip
    assert gated.run(Request(operation=Operation.DESTROY, stack="dev", yes=True)) == EXIT_CANCELLED
    assert done == ["failed", "left"]
    said = capsys.readouterr().err
    assert said.rstrip().endswith(
        "interrupted: 1 resource of stack dev exists, and the state has all of it; "
        "`slipway destroy dev --sandbox` goes on from there"
    )
