"""A preview and an update show a summary instead of the engine's rows, and never hide an error."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.kubernetes.waiting import until
from slipway.cli import display, main, offline, operations
from slipway.cli.gate import Review
from spec.errors import EXIT_REFUSED
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_gate import event, urn
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports the parts of the SDK that emit warnings
from tests.support.patience import SECONDS

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


def shows(terminal: io.StringIO, text: str) -> None:
    """Waits for a text; under faketime, where timers of threads hang, it never comes."""
    until(
        lambda: text in terminal.getvalue() or None, SECONDS, lambda: f"{terminal.getvalue()!r} does not have {text!r}"
    )


def test_on_a_terminal_one_line_follows_the_latest_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((40, 24)))
    output = tmp_path / "output"
    with display.heartbeat(output):
        shows(terminal, "no output yet")
        output.write_text(f" +  aws:s3:Bucket a-very-long-name-of-a-bucket creating (0s)\n{'x' * 9000}\n{ROWS}")
        shows(terminal, "aws:s3:Bucket it created")
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
    with display.heartbeat(output, seconds=0.02):
        shows(shown, "s] +  aws:s3:Bucket it created (0.04s)")
    assert shown.getvalue().startswith("[    0 s] the engine runs; its latest row follows every")


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
        monkeypatch.setattr(Review, "text", lambda _, request, log: f"summary of {request.operation}")
        fake.tell("events", event("create"))
        fake.tell("export", exported(resource(BUCKET, "it")))
        fake.tell("says", f"{ROWS}{DIAGNOSTICS}{TOTALS}")
        assert main(["up", "dev", "--yes"]) == 0
        shown = capsys.readouterr().out
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
    assert process.returncode == 255
    assert "interrupted: running operations end, and the state is written" in error
    assert error.rstrip().endswith("interrupted: nothing was changed")


def refreshed(op: str, name: str = "it") -> str:
    """What the engine logs once it has read a resource: `refresh` first, then what it found."""
    before, after = {"inputs": {"bucket": "a"}}, {"inputs": {"bucket": "b"}} if op == "update" else None
    step = {"urn": urn(BUCKET, name), "type": BUCKET, "old": before, "new": after, "diffs": ["bucket"]}
    found = {"sequence": 2, "resOutputsEvent": {"metadata": {**step, "op": op}}}
    return event("refresh", name=name) + json.dumps(found) + "\n"


@pytest.mark.usefixtures("user", "checkout")
class TestRefreshAndDestroy:
    def test_a_refresh_in_the_sandbox_shows_drift_instead_of_rows(
        self, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", refreshed("update") + refreshed("delete", "gone") + refreshed("same", "other"))
        fake.tell("says", f"{ROWS}{DIAGNOSTICS}{TOTALS}")
        assert main(["refresh", "dev", "--sandbox"]) == 0
        shown = capsys.readouterr().out
        assert "creating" not in shown
        assert "AccessDenied" in shown
        assert "Stack dev: drift of 2 resources: 1 updated, 1 deleted in the state; 1 unchanged." in shown
        assert "update   S3 Bucket it: bucket: a -> b" in shown
        assert "--skip-preview" in fake.calls[-2]["arguments"]

    def test_a_destroy_in_the_sandbox_shows_what_it_deleted(
        self, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", event("delete"))
        fake.tell("says", ROWS)
        assert main(["destroy", "dev", "--sandbox", "--yes"]) == 0
        shown = capsys.readouterr().out
        assert "Stack dev: 1 deleted" in shown
        assert "creating" not in shown

    @pytest.mark.parametrize(("operation", "events"), [("refresh", refreshed("update")), ("destroy", event("delete"))])
    @pytest.mark.parametrize("answer", [True, False])
    def test_on_a_terminal_the_user_is_asked_after_a_preview(
        self, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
        operation: str, events: str, answer: bool,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(operations, "tear_down", lambda request, platform, run, ask, **_: run(request))
        monkeypatch.setattr(operations, "can_ask", lambda: True)
        monkeypatch.setattr(operations, "ask", lambda question: answer)
        fake.tell("events", events)
        assert main([operation, "dev"]) == (0 if answer else EXIT_REFUSED)
        first, *others = [call["arguments"] for call in fake.calls if call["arguments"][0] == operation]
        assert "--preview-only" in first
        assert [("--yes" in one, "--skip-preview" in one) for one in others] == ([(True, True)] if answer else [])
        assert f"Stack dev: {'drift of 1 resource: ' if operation == 'refresh' else ''}1 to " in capsys.readouterr().out

    def test_without_drift_nobody_is_asked(self, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(operations, "can_ask", lambda: True)
        fake.tell("events", refreshed("same"))
        assert main(["refresh", "dev"]) == 0
        (call,) = [call["arguments"] for call in fake.calls if call["arguments"][0] == "refresh"]
        assert "--preview-only" in call

    @pytest.mark.parametrize("operation", ["refresh", "destroy"])
    def test_a_preview_alone_changes_nothing(
        self, fake: FakePulumi, sandbox: offline.Sandbox, operation: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fake.tell("events", refreshed("update") if operation == "refresh" else event("delete"))
        assert main([operation, "dev", "--sandbox", "--", "--preview-only"]) == 0
        (call,) = [call["arguments"] for call in fake.calls if call["arguments"][0] == operation]
        assert not {"--yes", "--skip-preview"} & set(call)
        shown = capsys.readouterr().out
        assert "1 to " in shown
        assert "This was a preview: nothing was changed." in shown

    def test_verbose_keeps_the_engines_display_and_question(self, fake: FakePulumi) -> None:
        assert main(["refresh", "dev", "--yes", "--verbose"]) == 0
        assert fake.calls[-1]["arguments"] == ["refresh", "--stack", "dev", "--yes"]
