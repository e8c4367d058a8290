"""The processes in which the language host runs programs and policy packs."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, TypeAlias

from sandbox.language import program

FORKING = sys.platform == "linux"
"""Not on macOS, whose system libraries start threads of their own (Python's documentation of os.fork)."""


class Forked:
    """A fork of this process that runs `program`. In the fork itself the constructor does not return.

    Args:
        captured: Whether its output is read here; otherwise it goes where the output of this process goes.
        others: Earlier forks, whose pipes the new one must not keep open.
    """

    def __init__(self, others: list[Forked], *, captured: bool) -> None:
        self._lock = threading.Lock()
        self._code: int | None = None
        pipes = _pipes(captured=captured)
        ours = self.descriptors = [ours for ours, _ in pipes]
        theirs = [theirs for _, theirs in pipes]
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        if not self._pid:
            for descriptor in (*ours, *(descriptor for other in others for descriptor in other.descriptors)):
                os.close(descriptor)
            _become(theirs)
        for descriptor in theirs:
            os.close(descriptor)
        self.stdin: IO[bytes] | None = os.fdopen(ours[0], "wb")
        self.stdout: IO[bytes] | None = os.fdopen(ours[1], "rb") if captured else None
        self.stderr: IO[bytes] | None = os.fdopen(ours[2], "rb") if captured else None

    def terminate(self) -> None:
        """Send SIGTERM, unless it has ended."""
        with self._lock:
            if self._code is None:
                os.kill(self._pid, signal.SIGTERM)

    def wait(self) -> int:
        """Wait for its end; returns the exit code, or the negative number of the signal that ended it."""
        # Reap it only with the lock held: `terminate` must not signal a pid that the kernel has reused.
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            if self._code is None:
                self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            return self._code

    def __enter__(self) -> Forked:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its streams and wait for its end."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream:
                stream.close()
        self.wait()


Child: TypeAlias = "Forked | subprocess.Popen[bytes]"
"""A process that reads its task from standard input."""


class Children:
    """The waiting processes, by whether their output is captured."""

    def __init__(self) -> None:
        self._ready: dict[bool, Child] = {}
        self._lock = threading.Lock()

    @classmethod
    def prepared(cls) -> Children:
        """One process of each kind, if fork is safe. Call it before this process has threads."""
        children = cls()
        if FORKING:
            # Exclude existing objects from garbage collection, which would only copy their memory pages.
            gc.freeze()
            plain = Forked([], captured=False)
            children._ready = {False: plain, True: Forked([plain], captured=True)}
        return children

    def take(self, python: str = sys.executable, *, captured: bool) -> Child:
        """A waiting process, else a new interpreter, as of another environment."""
        with self._lock:
            ready = self._ready.pop(captured, None) if python == sys.executable else None
        return ready or spawn(python, captured=captured)

    def dismiss(self) -> None:
        """End the processes that were not taken."""
        with self._lock:
            left, self._ready = list(self._ready.values()), {}
        for child in left:
            with child:
                child.terminate()


def spawn(python: str = sys.executable, *, captured: bool) -> Child:
    """A new interpreter that runs `program`: as a file, because another environment has the SDK and not this one."""
    output = subprocess.PIPE if captured else None
    command = [python, "-u", program.__file__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output)


def _pipes(*, captured: bool) -> list[tuple[int, int]]:
    """Our end and the child's end of its standard input and, if captured, its two outputs."""
    reads, writes = os.pipe()
    pipes = [(writes, reads)]
    if captured:
        pipes += [os.pipe(), os.pipe()]
    return pipes


def _become(theirs: list[int]) -> None:
    """Run `program` with these descriptors as standard streams."""
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, signal.SIG_DFL)
    for standard, descriptor in enumerate(theirs):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    # Like `python -u`: output is passed on at once.
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.FileIO(stream.fileno(), "w", closefd=False),
            encoding=stream.encoding, errors=stream.errors, write_through=True,
        )
        for stream in (sys.stdout, sys.stderr)
    )  # fmt: skip
    sys.exit(program.main())
