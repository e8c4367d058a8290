"""A long-running child process and its progress: output to a log file, its process group ended with ours."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from sandbox.errors import AttemptError

# Progress of a long task: one self-updating line on a terminal, a line every 15 s elsewhere.

_INTERVAL_SECONDS = 15.0
"""Without a terminal: short enough that a CI system does not consider the job hung, long enough for a short log."""


class Progress:
    """Shows what is being done and for how long. `update` may be called as often as you like."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream: TextIO = stream or getattr(sys.stderr, "obeyed", None) or sys.stderr
        self._terminal = self._stream.isatty()
        self._started = time.monotonic()
        self._printed = self._started

    def note(self, text: str) -> None:
        """Print a permanent line."""
        self._clear()
        print(text, file=self._stream, flush=True)

    def update(self, detail: str) -> None:
        """Show the current state, such as `412 packages, k8s.io/api/core/v1`."""
        line = f"{self._title}: {_since(self._started)}, {detail}"
        if self._terminal:
            columns = shutil.get_terminal_size().columns
            self._stream.write("\r\x1b[K" + line[: columns - 1])
            self._stream.flush()
        elif time.monotonic() - self._printed >= _INTERVAL_SECONDS:
            self._printed = time.monotonic()
            print(line, file=self._stream, flush=True)

    def finish(self, outcome: str) -> None:
        """Print the outcome, with the time it took."""
        self.note(f"{self._title}: {outcome} after {_since(self._started)}")

    def _clear(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")


def _since(started: float) -> str:
    minutes, rest = divmod(int(time.monotonic() - started), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


_GRACE_SECONDS = 3.0
"""Time for a compiler to remove its temporary directory before it is killed."""


def run(
    command: Sequence[str | Path],
    *,
    directory: Path,
    environment: Mapping[str, str],
    log: Path,
    progress: Progress,
    inherits: Sequence[int] = (),
) -> None:
    """Runs a command to its end, in its own process group so that an interrupt ends its children too.

    It inherits open files by their descriptors.

    Raises:
        AttemptError: It can't be started, or ended with a non-zero code.
        KeyboardInterrupt: Ctrl-C, after the whole group has ended.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                command, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, process_group=0, pass_fds=inherits,
            )  # fmt: skip
        except OSError as error:
            msg = f"can't start {command[0]}: {error.strerror}"
            raise AttemptError(msg) from error
        # Nothing between the two: an interrupt there would leave the compiler.
        try:
            while process.poll() is None:
                progress.update(_state(_lines(log)))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.5)
        finally:
            _end_group(process)
    if process.returncode:
        tail = "".join(f"\n    | {line}" for line in _lines(log)[-8:])
        msg = f"`{Path(command[0]).name}` ended with code {process.returncode}; the full output is in {log}{tail}"
        raise AttemptError(msg)


def _lines(log: Path) -> list[str]:
    return [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]


def _state(lines: Sequence[str]) -> str:
    """`go build -v` prints each compiled package on its own line; all its other output has spaces."""
    packages = sum(" " not in line for line in lines)
    last = lines[-1] if lines else "starting"
    return last if " " in last or not lines else f"{packages} packages, {last}"


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the group if it still runs: SIGTERM first, then SIGKILL."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
