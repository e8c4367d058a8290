"""Running the Pulumi CLI as a child process: its output is passed straight through, or to a file, and each interrupt
reaches it once.

On the first Ctrl-C the engine cancels: running steps end, the state is written, the lock is released. On the second it
terminates at once (Pulumi's own behaviour). A CLI that still runs `GRACE_SECONDS` after that is killed.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final, Protocol

from slipway.engine.invocation import Invocation
from spec.errors import SlipwayError, fail

GRACE_SECONDS: Final = 10.0  # a terminating engine needs about 1 s to write the state of 400 resources; ten times that
WATCH_SECONDS: Final = 0.25  # Between two looks of a watch. One look at the free space takes some microseconds.
_SIGNAL_EXIT: Final = 128
_FORWARDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Watch(Protocol):
    """Looks after a running program."""

    def look(self, pid: int) -> bool:
        """Called again and again while the program runs; the first True interrupts it, as Ctrl-C does."""


class EngineRun(Protocol):
    """Runs a program to its end, as `run` does."""

    def __call__(
        self, invocation: Invocation, *, output: Path | None = None, interrupted: Callable[[], None] = lambda: None
    ) -> int:
        """Its exit code."""


def run(
    invocation: Invocation,
    *,
    output: Path | None = None,
    grace_seconds: float = GRACE_SECONDS,
    interrupted: Callable[[], None] = lambda: None,
    watch: Watch | None = None,
) -> int:
    """Run to the end with this process's own input and output; returns the exit code, 128 + n after signal n.

    Args:
        output: File that gets the standard output instead; standard error is always this process's own.
        grace_seconds: Seconds after a second interrupt until the program is killed.
    """
    # With a terminal, the child stays in the foreground process group, the only one that may read the keyboard, and
    # Ctrl-C reaches it from the terminal. Without one, the child gets its own group; otherwise a signal for our whole
    # group (from `timeout` or a CI runner) would reach it twice.
    foreground = sys.stdin is not None and sys.stdin.isatty()
    relay = _Relay(foreground, grace_seconds, interrupted)
    with relay.listening():
        with contextlib.nullcontext() if output is None else output.open("wb") as file:
            process = _start(invocation, None if foreground else 0, file)
        relay.attach(process)
        code = process.wait() if watch is None else _watched(process, watch)
    return code if code >= 0 else _SIGNAL_EXIT - code


def _watched(process: subprocess.Popen[bytes], watch: Watch) -> int:
    interrupted = False
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(WATCH_SECONDS)
        if watch.look(process.pid) and not interrupted:
            interrupted = True
            # Not SIGINT: with a terminal, our handler leaves that to the terminal.
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)


def capture(invocation: Invocation, *, timeout_seconds: float = 120.0) -> str:
    """The output of a short run."""
    command = " ".join(["pulumi", *invocation.argv[1:]])
    try:
        done = subprocess.run(
            invocation.argv, cwd=invocation.directory, env=dict(invocation.environment), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=timeout_seconds, check=False,
        )  # fmt: skip
    except OSError as error:
        raise _not_started(invocation, error) from error
    except subprocess.TimeoutExpired as error:
        fail(f"`{command}` did not end within {timeout_seconds:.0f} s", error)
    if done.returncode:
        last_lines = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        fail(f"`{command}` ended with code {done.returncode}: {last_lines}")
    return done.stdout


class _Relay:
    """Forwards signals to the child, and kills it if it outlives a second one."""

    def __init__(self, foreground: bool, grace_seconds: float, interrupted: Callable[[], None]) -> None:
        self._foreground = foreground
        self._interrupted = interrupted
        self._grace = grace_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._received = 0
        self._killer: threading.Timer | None = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        before: dict[int, Any] = {number: signal.signal(number, self._receive) for number in _FORWARDED}
        try:
            yield
        finally:
            if self._killer is not None:
                self._killer.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._early:
            self._forward(process, number)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self._received += 1
        if self._received == 1:
            self._interrupted()
        if self._process is None:
            self._early.append(number)
            return
        self._forward(self._process, number)
        if self._received > 1 and self._killer is None:
            self._killer = threading.Timer(self._grace, _kill, [self._process])
            self._killer.daemon = True
            self._killer.start()

    def _forward(self, process: subprocess.Popen[bytes], number: int) -> None:
        if number == signal.SIGINT and self._foreground:
            return
        with contextlib.suppress(ProcessLookupError):
            # SIGHUP would end the CLI without cancelling the engine; SIGINT and SIGTERM both cancel.
            os.kill(process.pid, signal.SIGTERM if number == signal.SIGHUP else number)


def _start(invocation: Invocation, process_group: int | None, output: IO[bytes] | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            invocation.argv,
            cwd=invocation.directory,
            env=dict(invocation.environment),
            process_group=process_group,
            stdout=output,
        )
    except OSError as error:
        raise _not_started(invocation, error) from error


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def _not_started(invocation: Invocation, error: OSError) -> SlipwayError:
    return SlipwayError(f"cannot start {invocation.argv[0]} in {invocation.directory}: {error.strerror}")
