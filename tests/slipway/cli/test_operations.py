"""`slipway up|preview|refresh|destroy` with a fake CLI that records its calls."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox import CHARTS
from sandbox.identity import ProcessIdentity
from sandbox.official import EXECUTABLE, VARIABLE
from sandbox.state import SandboxState, save
from slipway.cli import display, main, offline
from slipway.cli.gate import without_up
from spec.errors import EXIT_REFUSED
from tests.sandbox.test_shims import executable
from tests.slipway.conftest import Slipway
from tests.slipway.engine import states
from tests.slipway.engine.fake import FakePulumi, resource
from tests.slipway.engine.test_process import dead_pid, write_lock

pytestmark = pytest.mark.usefixtures("user")

VPC = resource("aws:ec2/vpc:Vpc", "network-vpc", protect=True)


def arguments(fake: FakePulumi) -> list[list[str]]:
    return [call["arguments"] for call in fake.calls]


def test_a_stopped_sandbox_is_started(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(offline, "find_running", lambda: None)

    def start(say: offline.Say, **_: object) -> offline.Sandbox:
        started.append(say)
        return sandbox

    monkeypatch.setattr(offline, "start", start)
    assert main(["preview", "dev", "--sandbox"]) == 0
    assert len(started) == 1


def test_a_running_sandbox_is_asked_for_the_charts_of_this_run(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, monkeypatch: pytest.MonkeyPatch,
    slipway: Slipway,
) -> None:  # fmt: skip
    daemon = ProcessIdentity.of("daemon", os.getpid())
    sandbox.home.mkdir(exist_ok=True)
    save(SandboxState(sandbox.home, daemon, "http://127.0.0.1:5000", 1, 2))
    monkeypatch.setattr("sandbox.toolchain.ensure", lambda _: sandbox.home)
    monkeypatch.setenv(CHARTS, "stacks")
    assert f"charts: those of {checkout / 'stacks'} from now on, none before" in slipway("preview dev --sandbox").err
    assert sandbox.charts == checkout / "stacks"
    monkeypatch.setenv(CHARTS, "nowhere")
    runs = len(fake.calls)
    assert main(["preview", "dev", "--sandbox"]) == EXIT_REFUSED
    assert len(fake.calls) == runs
    provider = executable(sandbox.home / "plugins" / EXECUTABLE)
    monkeypatch.setenv(CHARTS, "none")
    monkeypatch.setenv(VARIABLE, str(provider))
    assert "already runs with a Kubernetes provider of its own" in slipway("preview dev --sandbox", code=1).err


def test_the_lock_of_a_killed_run_is_removed_in_the_sandbox(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lock(sandbox.home / "pulumi", dead_pid(), datetime.now(UTC))
    assert main(["preview", "dev", "--sandbox"]) == 0
    assert "cancel" not in [call[0] for call in arguments(fake)]
    assert main(["refresh", "dev", "--sandbox"]) == 0
    assert "cancel" in [call[0] for call in arguments(fake)]
    assert "was locked by a run that is gone" in capsys.readouterr().err


def test_a_run_on_aws_with_a_backend_in_a_folder_refuses_a_cut_state(
    checkout: Path, fake: FakePulumi, user: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    backend = tmp_path / "backend"
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{backend}")
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "own/sandbox"))
    state = states.file(backend)
    state.write_text(states.checkpoint(states.things(3)))
    assert main(["up", "dev", "--yes"]) == 0
    state.write_bytes(state.read_bytes()[:900])
    called = len(fake.calls)
    for command in (
        ["up", "dev", "--yes"],
        ["preview", "dev"],
        ["refresh", "dev", "--yes"],
        ["destroy", "dev", "--yes"],
    ):
        assert main(command) == 1
        assert f"can't be read: {state}: it is cut" in capsys.readouterr().err
    assert len(fake.calls) == called


# The gate, where rows can't say it.


def test_a_first_update_on_a_terminal_is_left_to_the_engine(
    checkout: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "quiet", lambda *_, **__: False)
    assert main(["up", "dev", "--yes"]) == 0
    assert [call[0] for call in arguments(fake)] == ["stack", "up"]
    assert "--skip-preview" not in arguments(fake)[1]


def test_a_failed_update_on_aws_whose_state_can_not_be_read_says_so(
    checkout: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    monkeypatch.setattr(display, "quiet", lambda *_, **__: False)
    monkeypatch.setattr("slipway.cli.gate.Gate._may_lose", lambda _: False)
    fake.tell("stack-fails", "no such stack")
    fake.tell("exit", "1")
    error = slipway("up dev --yes", code=1).err
    assert "up failed: what exists could not be read (" in error
    assert error.rstrip().endswith("then `slipway up dev` goes on from there")


def test_arguments_of_up_only_are_not_passed_to_the_preview() -> None:
    given = ["--diff", "-f", "--secrets-provider", "awskms://x", "--target=urn", "--secrets-provider=y", "-y"]
    assert without_up(given) == ("--diff", "--target=urn")


def test_the_event_log_is_deleted_afterwards(checkout: Path, fake: FakePulumi) -> None:
    assert main(["preview", "dev"]) == 0
    (call,) = arguments(fake)
    assert not Path(call[call.index("--event-log") + 1]).parent.exists()
