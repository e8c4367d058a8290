"""Running the CLI: output, exit codes, interrupts. The runner is a separate process, as in a user's shell."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox.kubernetes.waiting import until
from slipway.engine.invocation import Invocation, Operation, Request, operation, sandbox_environment
from slipway.engine.process import capture
from slipway.engine.protection import refuse_network_only
from slipway.engine.stacks import Lock, locks
from slipway.engine.state import StackResource, StackState
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.naming import NETWORK_ONLY
from tests.slipway.engine.fake import FakePulumi
from tests.support.patience import SECONDS

RUNNER = """
import os, sys
from pathlib import Path
from slipway.engine.invocation import Invocation
from slipway.engine.process import run
sys.exit(run(Invocation((sys.argv[1], "up"), os.environ, Path(sys.argv[2])), grace_seconds=3))
"""


def command(fake: FakePulumi) -> list[str]:
    return [sys.executable, "-c", RUNNER, str(fake.path), str(fake.directory)]


@contextmanager
def started(fake: FakePulumi, hang: str = "until interrupted", group: int | None = None) -> Iterator[Any]:
    """The runner once its engine works."""
    fake.tell("hang", hang)
    with subprocess.Popen(
        command(fake), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, process_group=group
    ) as runner:
        assert runner.stdout
        assert runner.stdout.readline() == "working\n"
        yield runner


def test_output_and_exit_code_are_passed_on(fake: FakePulumi) -> None:
    fake.tell("exit", "7")
    done = subprocess.run(command(fake), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done by the engine\n", "a warning of the engine\n")


def test_an_interrupt_without_a_terminal_reaches_the_engine_once_and_lets_it_cancel(fake: FakePulumi) -> None:
    with started(fake) as runner:
        runner.send_signal(signal.SIGINT)
        assert runner.stdout.read() == "cancelled\n"
        assert runner.wait(SECONDS) == 255
    assert fake.received == [signal.SIGINT]


def test_an_interrupt_of_the_whole_group_reaches_the_engine_once(fake: FakePulumi) -> None:
    with started(fake, group=0) as runner:
        os.killpg(runner.pid, signal.SIGINT)
        assert runner.wait(SECONDS) == 255
    assert fake.received == [signal.SIGINT]


def test_a_second_interrupt_kills_an_engine_that_does_not_end(fake: FakePulumi) -> None:
    with started(fake, "for good") as runner:
        runner.send_signal(signal.SIGINT)
        until(lambda: fake.received == [signal.SIGINT] or None, SECONDS, "the engine received no interrupt")
        assert runner.poll() is None
        runner.send_signal(signal.SIGINT)
        assert runner.wait(SECONDS) == 128 + signal.SIGKILL
    assert fake.received == [signal.SIGINT, signal.SIGINT]


def test_a_hangup_cancels_like_a_termination(fake: FakePulumi) -> None:
    with started(fake) as runner:
        runner.send_signal(signal.SIGHUP)
        assert runner.wait(SECONDS) == 255
    assert fake.received == [signal.SIGTERM]


def test_ctrl_c_on_a_terminal_reaches_the_engine_once(fake: FakePulumi) -> None:
    fake.tell("hang", "until interrupted")
    terminal, theirs = pty.openpty()
    own_terminal = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    line = [sys.executable, "-c", own_terminal + RUNNER, str(fake.path), str(fake.directory)]
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as runner:
        try:
            assert b"working" in os.read(terminal, 1000)
            os.write(terminal, b"\x03")
            assert runner.wait(SECONDS) == 255
        finally:
            os.close(terminal)
            os.close(theirs)
    assert fake.received == [signal.SIGINT]


def test_a_failed_short_run_is_reported_with_its_last_lines(fake: FakePulumi) -> None:
    fake.tell("stack-fails", "no stack named 'dev' found")
    call = Invocation((str(fake.path), "stack", "export"), os.environ, fake.directory)
    with pytest.raises(SlipwayError, match="`pulumi stack export` ended with code 255: error: no stack named 'dev'"):
        capture(call)


def test_a_missing_program_is_reported_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match=r"cannot start .*nothing in .*: No such file"):
        capture(Invocation((str(tmp_path / "nothing"),), {}, tmp_path))


# Whether the owner of a lock is still running.


def write_lock(backend: Path, pid: int, taken: datetime, host: str | None = None, name: str = "a") -> None:
    directory = backend / ".pulumi/locks/organization/slipway/dev"
    directory.mkdir(parents=True, exist_ok=True)
    # Go writes nine decimal places of the second.
    stamp = taken.strftime("%Y-%m-%dT%H:%M:%S.%f") + "123Z"
    content = {"pid": pid, "username": "me", "hostname": host or socket.gethostname(), "timestamp": stamp}
    (directory / f"{name}.json").write_text(json.dumps(content))
    (directory / f"{name}.json.attrs").write_text("{}")


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def only(backend: Path) -> Lock:
    (lock,) = locks(backend, "slipway", "dev")
    return lock


def test_a_running_cli_is_a_live_owner(tmp_path: Path) -> None:
    with FakePulumi.make(tmp_path / "bin").running() as pid:
        write_lock(tmp_path, pid, datetime.now(UTC))
        assert only(tmp_path).owner_lives
        assert f"process {pid} on {socket.gethostname()}" in str(only(tmp_path))


@pytest.mark.parametrize("step", [timedelta(minutes=1), timedelta(days=-1), timedelta(days=400)])
def test_a_step_of_the_clock_does_not_end_an_owner(tmp_path: Path, step: timedelta) -> None:
    with FakePulumi.make(tmp_path / "bin").running() as pid:
        write_lock(tmp_path, pid, datetime.now(UTC) - step)
        assert only(tmp_path).owner_lives


def test_a_stopped_cli_is_a_live_owner(tmp_path: Path) -> None:
    with FakePulumi.make(tmp_path / "bin").running() as pid:
        write_lock(tmp_path, pid, datetime.now(UTC))
        assert not only(tmp_path).stopped
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)  # a signal is delivered when the process is scheduled next
        assert only(tmp_path).stopped
        assert only(tmp_path).owner_lives


def test_a_process_of_which_nothing_may_be_seen_counts_as_the_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_process: psutil.Process) -> list[str]:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "cmdline", denied)
    write_lock(tmp_path, os.getpid(), datetime.now(UTC))
    assert only(tmp_path).owner_lives


@pytest.mark.parametrize(
    ("pid", "host", "lives"),
    [
        (dead_pid, None, False),
        (os.getpid, None, False),  # no CLI
        (dead_pid, "elsewhere", True),
    ],
    ids=["an ended process", "another program", "another host"],
)
def test_whether_the_owner_of_a_lock_lives(
    tmp_path: Path, pid: Callable[[], int], host: str | None, lives: bool
) -> None:
    write_lock(tmp_path, pid(), datetime.now(UTC), host=host)
    assert only(tmp_path).owner_lives is lives


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"pid": "x", "hostname": "h", "timestamp": "now"}'])
def test_a_file_that_is_not_a_lock_is_ignored(tmp_path: Path, content: str) -> None:
    write_lock(tmp_path, 1, datetime.now(UTC))
    (tmp_path / ".pulumi/locks/organization/slipway/dev/a.json").write_text(content)
    assert locks(tmp_path, "slipway", "dev") == ()
    assert locks(tmp_path, "slipway", "other") == ()


# How the CLI is called: arguments and environment.


PULUMI = Path("/opt/pulumi")
SANDBOX = {"PULUMI_BACKEND_URL": "file:///home/state", "AWS_ENDPOINT_URL": "http://127.0.0.1:5000", "PATH": "/sandbox"}


def argv(**settings: object) -> str:
    request = Request(**{"operation": Operation.UP, "stack": "dev", **settings})  # type: ignore[arg-type]
    return " ".join(operation(PULUMI, request, directory=Path("/checkout"), environment={}).argv[1:])


NETWORK = "urn:pulumi:dev::slipway::slipway:network:Network"
PREVIEW, REFRESH, DESTROY = ({"operation": one} for one in (Operation.PREVIEW, Operation.REFRESH, Operation.DESTROY))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "up --stack dev --refresh"),
        ({"yes": True}, "up --stack dev --yes --refresh"),
        ({**PREVIEW, "yes": True}, "preview --stack dev --refresh"),
        ({**PREVIEW, "extra": ("--refresh=false",)}, "preview --stack dev --refresh=false"),
        ({"skip_preview": True}, "up --stack dev --refresh --skip-preview"),
        ({**DESTROY, "skip_preview": True}, "destroy --stack dev --skip-preview"),
        ({**REFRESH, "skip_preview": True, "extra": ("--preview-only",)}, "refresh --stack dev --preview-only"),
        ({**REFRESH, "yes": True}, "refresh --stack dev --yes"),
        ({**REFRESH, "yes": True, "extra": ("--preview-only",)}, "refresh --stack dev --preview-only"),
        ({**DESTROY, "except_protected": True}, "destroy --stack dev --exclude-protected"),
        (
            {"network_only": True},
            f"up --stack dev --refresh --target {NETWORK}::network --target {NETWORK}$**",
        ),
        ({"config_file": Path("/h/c.yaml")}, "up --stack dev --config-file /h/c.yaml --refresh"),
        ({"extra": ("--diff", "--parallel", "4")}, "up --stack dev --refresh --diff --parallel 4"),
    ],
)
def test_arguments_follow_the_request(settings: dict[str, object], expected: str) -> None:
    assert argv(**settings) == expected


def test_the_program_is_asked_for_the_network_only() -> None:
    for asked in (True, False):
        request = Request(operation=Operation.UP, stack="dev", network_only=asked)
        call = operation(PULUMI, request, directory=Path("/checkout"), environment={"HOME": "/h"})
        assert (NETWORK_ONLY in call.environment) is asked
        assert call.environment["HOME"] == "/h"


def test_the_network_alone_is_refused_once_there_is_a_cluster() -> None:
    request = Request(operation=Operation.UP, stack="dev", network_only=True)
    without = StackState((StackResource("urn:pulumi:dev::slipway::aws:ec2/vpc:Vpc::v", "aws:ec2/vpc:Vpc"),))
    refuse_network_only(request, lambda: without)
    with_cluster = StackState((StackResource("urn:pulumi:dev::slipway::c::c", "aws:eks/cluster:Cluster"),))
    with pytest.raises(SlipwayError, match="run `slipway up dev`"):
        refuse_network_only(request, lambda: with_cluster)
    refuse_network_only(replace(request, network_only=False), lambda: with_cluster)


@pytest.mark.parametrize("extra", ["-s", "--stack", "--stack=prod", "-C", "--cwd=/x", "--config-file=/x"])
def test_an_extra_argument_that_selects_another_stack_is_refused(extra: str) -> None:
    with pytest.raises(SlipwayError, match="that was checked") as caught:
        argv(extra=("--diff", extra))
    assert caught.value.exit_code == EXIT_REFUSED


def test_the_users_aws_and_pulumi_variables_are_removed_in_the_sandbox() -> None:
    user = {
        "AWS_PROFILE": "production",
        "AWS_ACCESS_KEY_ID": "AKIAREAL",
        "AWS_ENDPOINT_URL": "https://real",
        "PULUMI_ACCESS_TOKEN": "pul-1",
        "PULUMI_STACK": "prod",
        "HOME": "/home/me",
        "PATH": "/usr/bin",
    }
    assert sandbox_environment(user, SANDBOX) == {**SANDBOX, "HOME": "/home/me"}


def test_variables_for_the_engines_speed_are_kept_in_the_sandbox() -> None:
    user = {"PULUMI_SKIP_CHECKPOINTS": "true", "PULUMI_PARALLEL": "4"}
    assert sandbox_environment(user, {}) == user


def test_loopback_bypasses_a_proxy() -> None:
    environment = sandbox_environment({"https_proxy": "http://proxy:3128", "NO_PROXY": "intern, localhost"}, {})
    assert environment["no_proxy"] == environment["NO_PROXY"] == "intern,localhost,127.0.0.1"
    assert "no_proxy" not in sandbox_environment({"https_proxy": ""}, {})
