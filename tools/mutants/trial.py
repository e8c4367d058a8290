"""One run of pytest in a copy, which ends in time and leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Final

import psutil

from tools.mutants.copies import Copy

PYTEST: Final = ("-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not slow")
MARK: Final = "MUTANT_TRIAL"
"""Variable by which the processes of a run are known, those too that have left its process group."""
_SHOWN_LINES: Final = 15


@dataclass(frozen=True)
class Trial:
    """What came of a run."""

    code: int | None  # exit code of pytest; None where it ran out of time
    seconds: float  # how long it took
    output: str  # the end of what it printed


class StoppedError(Exception):
    """No run is wanted any more."""


class Runner:
    """Runs pytest, from any thread, and can stop all that runs."""

    def __init__(self) -> None:
        self._marks: set[str] = set()
        self._stopped = False
        self._lock = Lock()

    def run(self, copy: Copy, tests: Sequence[str], limit: float) -> Trial:
        """Run some tests of a copy for at most `limit` seconds; the first failure ends it.

        Raises:
            StoppedError: `stop` was called.
        """
        with self._marked() as mark, copy.environment() as environment:
            began = time.monotonic()
            # A file and no pipe: a daemon that outlives pytest would hold a pipe open.
            log = Path(environment["TMPDIR"]) / "pytest.log"
            with log.open("wb") as output:
                code = _run([*PYTEST, *tests], copy.root, {**environment, MARK: mark}, output, limit)
            _kill(_processes(mark))
            lines = log.read_text(errors="replace").splitlines() if code is not None else [f"no end in {limit:.0f} s"]
            return Trial(code, time.monotonic() - began, "\n".join(lines[-_SHOWN_LINES:]))

    def stop(self) -> None:
        """End all processes of all runs, and start none any more."""
        with self._lock:
            self._stopped = True
            marks = set(self._marks)
        for mark in marks:
            _kill(_processes(mark))

    @contextmanager
    def _marked(self) -> Iterator[str]:
        mark = uuid.uuid4().hex
        with self._lock:
            if self._stopped:
                raise StoppedError
            self._marks.add(mark)
        try:
            yield mark
        finally:
            with self._lock:
                self._marks.discard(mark)


def _run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], output: IO[bytes], limit: float
) -> int | None:
    """Exit code of Python with these arguments; None where it was ended after `limit` seconds."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        # Nobody has waited for it yet, so its group's number is still its own.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _processes(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                found.append(process)
    return found


def _kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
