"""A preview and an update show a summary instead of the engine's rows, and never hide an error."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import pytest

from slipway.cli import display, main, offline
from slipway.cli.review import Review
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_plan import event
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports the parts of the SDK that emit warnings

BUCKET = "aws:s3/bucket:Bucket"
ROWS = " +  aws:s3:Bucket it creating (0s)\n@ previewing....\n +  aws:s3:Bucket it created (0.04s)\n"
TOTALS = "Outputs:\n    a: 1\n\nResources:\n    + 1 to create\n\nDuration: 2s\n"
DIAGNOSTICS = "Diagnostics:\n  aws:s3:Bucket (it):\n    error: AccessDenied:\n\n    Resources: not allowed\n\n"
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


def test_on_a_terminal_one_line_follows_the_latest_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((40, 24)))
    output = tmp_path / "output"
    with display.heartbeat(output):
        while "no output yet" not in terminal.getvalue():
            time.sleep(0.01)
        output.write_text(f" +  aws:s3:Bucket a-very-long-name-of-a-bucket creating (0s)\n{'x' * 9000}\n{ROWS}")
        while "aws:s3:Bucket it created" not in terminal.getvalue():
            time.sleep(0.01)
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
        while not shown.getvalue():
            time.sleep(0.01)
    assert "\x1b" not in shown.getvalue()


@pytest.mark.parametrize("waiting", ["", "@ updating......\n"])
def test_a_long_run_shows_its_latest_row(waiting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "output"
    output.write_text(f"{ROWS}\n{waiting}")
    with display.heartbeat(output, seconds=0.02):
        time.sleep(0.3)
    assert "s] +  aws:s3:Bucket it created (0.04s)" in capsys.readouterr().err


@pytest.mark.usefixtures("user", "checkout")
class TestCommand:
    def test_the_rows_of_a_preview_are_replaced_by_the_changes(
        self, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", event("create") + event("same", name="other"))
        fake.tell("says", f"{ROWS}{DIAGNOSTICS}{TOTALS}")
        assert main(["preview", "dev", "--sandbox"]) == 0
        shown = capsys.readouterr().out
        assert "creating" not in shown
        assert "AccessDenied" in shown
        assert "Stack dev: 1 to create; 1 unchanged." in shown
        assert "create   S3 Bucket it" in shown
        assert "Policies" in shown

    def test_verbose_keeps_the_rows_and_adds_the_changes(
        self, fake: FakePulumi, sandbox: offline.Sandbox, capfd: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", event("create"))
        fake.tell("says", ROWS)
        assert main(["preview", "dev", "--sandbox", "--verbose"]) == 0
        shown = capfd.readouterr().out
        assert ROWS in shown
        assert "Stack dev: 1 to create" in shown

    def test_a_failed_update_shows_its_diagnostics_and_keeps_its_code(
        self, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", event("create"))
        fake.tell("says", f"{ROWS}{DIAGNOSTICS}{TOTALS}")
        fake.tell("exit", "255")
        assert main(["up", "dev", "--sandbox"]) == 255
        shown = capsys.readouterr().out
        assert DIAGNOSTICS.strip() in shown
        assert "Stack dev" not in shown

    def test_an_update_in_the_sandbox_reports_what_it_did(
        self, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", event("create"))
        assert main(["up", "dev", "--sandbox"]) == 0
        assert "Stack dev: 1 created; 0 unchanged." in capsys.readouterr().out

    def test_an_update_on_aws_shows_the_changes_before_and_the_diagnostics_after(
        self, fake: FakePulumi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Review, "text", lambda *_, done: f"summary, done: {done}")
        fake.tell("events", event("create"))
        fake.tell("export", exported(resource(BUCKET, "it")))
        fake.tell("says", f"{ROWS}{DIAGNOSTICS}{TOTALS}")
        assert main(["up", "dev", "--yes"]) == 0
        shown = capsys.readouterr().out
        assert shown.count("summary, done: False") == 1
        assert shown.count("AccessDenied") == 2
        assert "creating" not in shown
