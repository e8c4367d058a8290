"""Keeps a run of the engine from costing a state: free space for it, and a word when nothing answers.

A full disk leaves a cut state (see `stored`), and the engine writes its state after each operation. So a run begins
only with enough free space, keeps a part of it reserved, and is interrupted when the rest becomes scarce. When nothing
is left, the reserve is given back: the program that filled the disk has met its error by then, and the engine repeats a
failed write for half a minute, so it still saves (pulumi v3.258.0, pkg/backend/diy/state.go, `saveCheckpoint`; 34 s
measured, 2026-11).
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from sandbox.identity import ProcessIdentity
from slipway.engine import process
from slipway.engine.invocation import PREVIEW_ONLY, Invocation, Operation
from slipway.engine.stored import StoredState
from spec.errors import SlipwayError

LOW_BYTES: Final = 128 << 20
"""Free space below which a run is interrupted. etcd takes 64 MiB at once when a segment of its log is full."""
RESERVED_BYTES: Final = 32 << 20
EXHAUSTED_BYTES: Final = 1 << 20
"""Free space below which, beside two states, the reserve is given back: at the second look, or a program that is still
filling the disk would take the reserve, too."""
STATES_RESERVED: Final = 8
"""Beyond that, how many times the state's size is reserved. A save takes two, its backup and history one each."""
STOPPED_SECONDS: Final = 10.0  # after that time the user hears of a stopped process, once
_MIB: Final = 20


@dataclass(frozen=True, kw_only=True)
class Guard:
    """Runs the engine on a stack."""

    stored: StoredState | None  # the stack's state; None for a backend that is not in a folder
    say: Callable[[str], None]  # reports to the user
    homes: Sequence[Path] = ()  # folders whose free space is watched, beside the backend's
    processes: Callable[[], Sequence[ProcessIdentity]] = tuple
    """What the engine waits for, beside itself: the sandbox's processes."""

    @property
    def resources(self) -> int:
        """Number of resources in the state; 0 if its backend is not in a folder."""
        return 0 if self.stored is None else self.stored.resources

    def run(
        self, invocation: Invocation, *, output: Path | None = None, interrupted: Callable[[], None] = lambda: None
    ) -> int:
        """Run it to the end, as `process.run` does.

        Raises:
            SlipwayError: The state can't be read, or there is too little space; nothing was started.
        """
        if self.stored is None:
            return process.run(invocation, output=output, interrupted=interrupted)
        self.require_readable()
        if Operation.PREVIEW in invocation.argv[1:2] or PREVIEW_ONLY in invocation.argv:
            return process.run(invocation, output=output, interrupted=interrupted)
        watch = _Watch(self, self.stored)
        watch.begin()
        try:
            return process.run(invocation, output=output, interrupted=interrupted, watch=watch)
        finally:
            watch.end()

    def require_readable(self) -> None:
        """Raises SlipwayError, with what is left of it, if the state can't be read."""
        if self.stored is not None:
            self.stored.require_readable()


class _Watch:
    """Looks after one run that changes the state."""

    def __init__(self, guard: Guard, stored: StoredState) -> None:
        self._guard = guard
        self._stored = stored
        self._places = _filesystems([stored.backend, *guard.homes])
        self._reserve: list[IO[bytes]] = []
        self._low = ""
        self._exhausted = False
        self._stopped: dict[int, float] = {}
        self._said: set[int] = set()

    def begin(self) -> None:
        """Reserve space for the next states. Raises SlipwayError if there is too little."""
        size = self._size()
        reserved = RESERVED_BYTES + STATES_RESERVED * size
        for place in self._places:
            free = shutil.disk_usage(place).free
            needed = LOW_BYTES + reserved + size
            if free < needed:
                raise SlipwayError(self._too_little(place, free, needed, size))
        self._reserve = [held for place in self._places if (held := _reserved(place, reserved)) is not None]

    def look(self, pid: int) -> bool:
        """Whether the engine has to end because space is scarce."""
        self._look_for_stopped(pid)
        place, free = min(((place, shutil.disk_usage(place).free) for place in self._places), key=lambda each: each[1])
        exhausted = free < EXHAUSTED_BYTES + 2 * self._size()
        if exhausted and self._exhausted:
            self._release()
        self._exhausted = exhausted
        if free < LOW_BYTES and not self._low:
            self._low = (
                f"only {free >> _MIB} MiB were free at {place}, and a run needs {LOW_BYTES >> _MIB} beside what it had "
                "reserved"
            )
            self._guard.say(f"{self._low}: the engine is interrupted, so that it saves the state while it can")
        return bool(self._low)

    def end(self) -> None:
        """Say what is wrong with the state if it can't be read."""
        self._release()
        if self._low:
            self._guard.say(f"the run was interrupted: {self._low}. Free some space there, then run the command again")
        try:
            self._stored.require_readable()
        except SlipwayError as error:
            self._guard.say(f"error: {error}")

    def _size(self) -> int:
        """Bytes of the state."""
        try:
            file = self._stored.file
            return file.stat().st_size if file is not None else 0
        except FileNotFoundError:
            return 0  # it was renamed between the two calls

    def _look_for_stopped(self, pid: int) -> None:
        now = time.monotonic()
        for one in (ProcessIdentity.of("the engine", pid), *self._guard.processes()):
            if not one.stopped:
                self._stopped.pop(one.pid, None)
            elif now - self._stopped.setdefault(one.pid, now) >= STOPPED_SECONDS and one.pid not in self._said:
                self._said.add(one.pid)
                self._guard.say(
                    f"{one.name} (pid {one.pid}) is stopped (SIGSTOP), and the run waits for it: "
                    f"`kill -CONT {one.pid}` lets it go on; to give up, interrupt this command twice"
                )

    def _release(self) -> None:
        for held in self._reserve:
            held.close()
        self._reserve = []

    def _too_little(self, place: Path, free: int, needed: int, size: int) -> str:
        return (
            f"only {free >> _MIB} MiB are free at {place}, and a run needs {needed >> _MIB}: {LOW_BYTES >> _MIB} MiB, "
            f"and more for the state of stack {self._stored.stack} ({size >> 10} KiB); nothing was changed. "
            f"Free {(needed - free >> _MIB) + 1} MiB there, or move the folder to another disk"
        )


def _filesystems(folders: Sequence[Path]) -> list[Path]:
    """One folder of each filesystem; of a folder that does not exist yet, the nearest one above it."""
    found: dict[int, Path] = {}
    for folder in folders:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        found.setdefault(existing.stat().st_dev, existing)
    return list(found.values())


def _reserved(place: Path, size: int) -> IO[bytes] | None:
    """An unnamed file that takes so much space until it is closed, or its process has ended; None where it can't be
    made: no such call on macOS, a read-only folder."""
    allocate = getattr(os, "posix_fallocate", None)
    if allocate is None:
        return None
    file: IO[bytes] | None = None
    try:
        file = tempfile.TemporaryFile(dir=place)  # noqa: SIM115 - kept open for the run
        allocate(file.fileno(), 0, size)
    except OSError:
        if file is not None:
            file.close()
        return None
    return file
