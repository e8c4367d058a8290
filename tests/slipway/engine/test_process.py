"""Running the CLI: output, exit codes, interrupts. The runner is a separate process, as in a user's shell."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.kubernetes.waiting import until
from slipway.engine.invocation import Invocation
from slipway.engine.process import capture
from spec.errors import SlipwayError
from tests.slipway.engine.fake import FakePulumi
from tests.support.patience import SECONDS

RUNNER = """
import os, sys
from pathlib import Path
from slipway.engine.invocation import Invocation
from slipway.engine.process import run
sys.exit(run(Invocation((sys.argv[1], "up"), os.environ, Path(sys.argv[2])), grace_seconds=3))
"""


@pytest.fixture
def fake(tmp_path: Path) -> FakePulumi:
    return FakePulumi.make(tmp_path / "bin")


def command(fake: FakePulumi) -> list[str]:
    return [sys.executable, "-c", RUNNER, str(fake.path), str(fake.directory)]


def start(fake: FakePulumi) -> subprocess.Popen[str]:
    return subprocess.Popen(command(fake), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def test_output_and_exit_code_are_passed_on(fake: FakePulumi) -> None:
    fake.tell("exit", "7")
    done = subprocess.run(command(fake), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done by the engine\n", "a warning of the engine\n")


def test_an_interrupt_without_a_terminal_reaches_the_engine_once_and_lets_it_cancel(fake: FakePulumi) -> None:
    fake.tell("hang", "until interrupted")
    with start(fake) as runner:
        assert runner.stdout
        assert runner.stdout.readline() == "working\n"
        runner.send_signal(signal.SIGINT)
        assert runner.stdout.read() == "cancelled\n"
        assert runner.wait(SECONDS) == 255
    assert fake.received == [signal.SIGINT]


def test_an_interrupt_of_the_whole_group_reaches_the_engine_once(fake: FakePulumi) -> None:
    fake.tell("hang", "until interrupted")
    with subprocess.Popen(
        command(fake), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, process_group=0
    ) as runner:
        assert runner.stdout
        assert runner.stdout.readline() == "working\n"
        os.killpg(runner.pid, signal.SIGINT)
        assert runner.wait(SECONDS) == 255
    assert fake.received == [signal.SIGINT]


def test_a_second_interrupt_kills_an_engine_that_does_not_end(fake: FakePulumi) -> None:
    fake.tell("hang", "for good")
    with start(fake) as runner:
        assert runner.stdout
        assert runner.stdout.readline() == "working\n"
        runner.send_signal(signal.SIGINT)
        until(lambda: fake.received == [signal.SIGINT] or None, SECONDS, "the engine received no interrupt")
        assert runner.poll() is None
        runner.send_signal(signal.SIGINT)
        assert runner.wait(SECONDS) == 128 + signal.SIGKILL
    assert fake.received == [signal.SIGINT, signal.SIGINT]


def test_a_hangup_cancels_like_a_termination(fake: FakePulumi) -> None:
    fake.tell("hang", "until interrupted")
    with start(fake) as runner:
        assert runner.stdout
        assert runner.stdout.readline() == "working\n"
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
