"""`slipway up|preview|refresh|destroy` with a fake CLI that records its calls."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox import CHARTS, IN_SANDBOX_SHELL
from sandbox.identity import ProcessIdentity
from sandbox.official import EXECUTABLE, VARIABLE
from sandbox.state import SandboxState, save
from slipway.cli import main, offline
from spec.errors import EXIT_PROTECTED, EXIT_REFUSED
from tests.sandbox.test_shims import executable
from tests.slipway.engine import states
from tests.slipway.engine.fake import FakePulumi, exported, resource
from tests.slipway.engine.test_process import dead_pid, write_lock

pytestmark = pytest.mark.usefixtures("user")

VPC = resource("aws:ec2/vpc:Vpc", "network-vpc", protect=True)


def arguments(fake: FakePulumi) -> list[list[str]]:
    return [call["arguments"] for call in fake.calls]


def test_on_aws_the_users_cli_environment_and_backend_are_used(checkout: Path, fake: FakePulumi) -> None:
    assert main(["up", "dev", "--yes", "--", "--diff"]) == 0
    assert arguments(fake) == [
        ["stack", "export", "--stack", "dev", "--non-interactive"],
        ["up", "--stack", "dev", "--yes", "--refresh", "--diff"],
    ]
    environment = fake.calls[1]["environment"]
    assert environment["AWS_PROFILE"] == "production"
    assert environment["PULUMI_BACKEND_URL"] == "s3://real-state"
    assert fake.calls[0]["directory"] == str(checkout)


def test_in_the_sandbox_the_users_credentials_do_not_reach_the_engine(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox
) -> None:
    assert main(["up", "dev", "--sandbox"]) == 0
    for call in fake.calls:
        assert "AWS_PROFILE" not in call["environment"]
        assert call["environment"]["PULUMI_BACKEND_URL"] == f"file://{sandbox.home / 'pulumi'}?metadata=skip"
        assert call["environment"]["AWS_ENDPOINT_URL"] == "http://127.0.0.1:5000"


def test_in_the_sandbox_the_stack_is_created_and_the_committed_file_is_unchanged(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    committed = checkout / "stacks/Pulumi.dev.yaml"
    before = committed.read_bytes()
    assert main(["up", "dev", "--sandbox"]) == 0
    copy = sandbox.home / "project/stacks/Pulumi.dev.yaml"
    create, up = arguments(fake)[:2]
    assert create == ["stack", "select", "--create", "--stack", "dev", "--non-interactive"]
    assert up[:-2] == ["up", "--stack", "dev", "--config-file", str(copy), "--yes", "--refresh", "--skip-preview"]
    assert up[-2] == "--event-log"
    assert committed.read_bytes() == before
    assert fake.calls[1]["directory"] == str(checkout)


def test_a_sandbox_shell_needs_no_sandbox_flag(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IN_SANDBOX_SHELL, "1")
    assert main(["preview", "dev"]) == 0
    assert arguments(fake)[1][:4] == ["preview", "--stack", "dev", "--config-file"]


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
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    daemon = ProcessIdentity.of("daemon", os.getpid())
    sandbox.home.mkdir(exist_ok=True)
    save(SandboxState(sandbox.home, daemon, "http://127.0.0.1:5000", 1, 2))
    monkeypatch.setattr("sandbox.toolchain.ensure", lambda _: sandbox.home)
    monkeypatch.setenv(CHARTS, "stacks")
    assert main(["preview", "dev", "--sandbox"]) == 0
    assert f"charts: those of {checkout / 'stacks'} from now on, none before" in capsys.readouterr().err
    assert sandbox.charts == checkout / "stacks"
    monkeypatch.setenv(CHARTS, "nowhere")
    runs = len(fake.calls)
    assert main(["preview", "dev", "--sandbox"]) == EXIT_REFUSED
    assert len(fake.calls) == runs
    provider = executable(sandbox.home / "plugins" / EXECUTABLE)
    monkeypatch.setenv(CHARTS, "none")
    monkeypatch.setenv(VARIABLE, str(provider))
    assert main(["preview", "dev", "--sandbox"]) == 1
    assert "already runs with a Kubernetes provider of its own" in capsys.readouterr().err


@pytest.mark.parametrize("target", [[], ["--sandbox"]])
def test_the_engines_exit_code_is_passed_on(
    target: list[str], checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    fake.tell("exit", "255")
    assert main(["up", "dev", "--yes", *target]) == 255
    out = capfd.readouterr().out
    assert "done by the engine" in out
    assert "resources exist" not in out


@pytest.mark.parametrize("target", [[], ["--sandbox"]])
def test_a_destroy_with_protected_resources_is_refused_with_their_names(
    target: list[str], checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("export", exported(VPC, resource("aws:ec2/subnet:Subnet", "network-private-a")))
    assert main(["destroy", "prod", "--yes", *target]) == EXIT_PROTECTED
    error = capsys.readouterr().err
    assert "stack prod has 1 protected resource; nothing was destroyed:\n  - ec2 Vpc network-vpc\n" in error
    assert not [call for call in arguments(fake) if call[0] == "destroy"]


def test_except_protected_destroys_everything_else(checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox) -> None:
    fake.tell("export", exported(VPC))
    assert main(["destroy", "prod", "--sandbox", "--yes", "--except-protected"]) == 0
    (destroy,) = [call for call in arguments(fake) if call[0] == "destroy"]
    assert {"--yes", "--exclude-protected"} <= set(destroy)


def test_an_unknown_stack_is_reported_in_the_engines_words(
    checkout: Path, fake: FakePulumi, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.tell("stack-fails", "no stack named 'dev' found")
    assert main(["destroy", "dev", "--yes"]) == 1
    assert "no stack named 'dev' found" in capsys.readouterr().err


def test_a_missing_pulumi_cli_is_reported_with_a_fix(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["preview", "dev"]) == 1
    assert "install it (https://www.pulumi.com/docs/install/), or add --sandbox" in capsys.readouterr().err


def test_the_lock_of_a_killed_run_is_removed_in_the_sandbox(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lock(sandbox.home / "pulumi", dead_pid(), datetime.now(UTC))
    assert main(["preview", "dev", "--sandbox"]) == 0
    assert "cancel" not in [call[0] for call in arguments(fake)]
    assert main(["refresh", "dev", "--sandbox"]) == 0
    assert "cancel" in [call[0] for call in arguments(fake)]
    assert "was locked by a run that is gone" in capsys.readouterr().err


def test_the_lock_of_a_live_run_is_respected(
    checkout: Path, fake: FakePulumi, sandbox: offline.Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake.running() as pid:
        write_lock(sandbox.home / "pulumi", pid, datetime.now(UTC))
        assert main(["up", "dev", "--sandbox"]) == 1
    assert "is in use by another run" in capsys.readouterr().err
    assert len(fake.calls) == 1


def test_strict_treats_warnings_as_errors(
    checkout: Path, fake: FakePulumi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    from spec import settings  # noqa: PLC0415

    loaded = settings.load(settings.read_stack("dev", checkout / "stacks"), stack="dev")
    warning = settings.Problem("cluster.version", "the version is about to leave support", "1.30", "Plan an upgrade.")
    monkeypatch.setattr("slipway.cli.check.load", lambda *_, **__: settings.Loaded(loaded.platform, (warning,)))
    assert main(["preview", "dev"]) == 0
    assert "warning: cluster.version: the version is about to leave support" in capsys.readouterr().err
    assert main(["preview", "dev", "--strict"]) == EXIT_REFUSED
    assert len(fake.calls) == 1


def test_a_run_on_aws_with_a_backend_in_a_folder_keeps_copies_and_refuses_a_cut_state(
    checkout: Path, fake: FakePulumi, user: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    backend = tmp_path / "backend"
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{backend}")
    monkeypatch.setenv("SLIPWAY_SANDBOX_HOME", str(tmp_path / "own/sandbox"))
    state = states.file(backend)
    state.write_text(states.checkpoint(states.things(3)))
    assert main(["up", "dev", "--yes"]) == 0
    (copy,) = (tmp_path / "own/states").rglob("000001-*.json")
    assert copy.read_bytes() == state.read_bytes()
    state.write_bytes(state.read_bytes()[:900])
    called = len(fake.calls)
    for command in (
        ["up", "dev", "--yes"],
        ["preview", "dev"],
        ["refresh", "dev", "--yes"],
        ["destroy", "dev", "--yes"],
    ):
        assert main(command) == 1
        error = capsys.readouterr().err
        assert str(copy) in error
        assert "run `slipway recover dev`" in error
    assert len(fake.calls) == called
