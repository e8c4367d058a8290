"""Builds from source: one at a time on this machine, whoever asks, and the minutes that are left of them."""

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Final

import psutil

from sandbox.identity import ProcessIdentity
from sandbox.toolchain import cache
from sandbox.toolchain.tools import Tool, get

_FILE: Final = "building"
"""In the cache: the identity of the process that builds, with the name of its tool, while it holds the file's lock."""
PROCESSORS: Final = 2
"""What the minutes of the table are of: Go keeps two processors busy nearly all the time."""


@contextmanager
def turn(tool: Tool, on_wait: Callable[[str], None]) -> Iterator[int]:
    """This machine's turn to build: two builds at once take as long as one after the other, and twice the memory.

    `on_wait` is called with what another process builds, if this one has to wait. Yields the descriptor of the lock: a
    compiler that inherits it keeps the turn if this process is killed.
    """
    with cache.holding(cache.root() / _FILE, lambda: on_wait(now.name if (now := present()) else "a tool")) as file:
        file.truncate(0)
        file.write(json.dumps(asdict(ProcessIdentity.of(tool.name, os.getpid()))))
        file.flush()
        try:
            yield file.fileno()
        finally:
            file.truncate(0)


def present() -> ProcessIdentity | None:
    """The process that builds now, by the name of its tool; None if none does."""
    try:
        found = ProcessIdentity(**json.loads((cache.root() / _FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.find() is not None else None


def minutes(names: Iterable[str], now: ProcessIdentity | None = None) -> float:
    """Minutes on two processors until tools are built: those of the table, less what the present build has used.

    One that was interrupted is counted whole, though Go has kept packages; macOS doesn't say what ended compilers used.
    """
    whole = {name: go.minutes for name in names if (go := get(name).go) is not None}
    if now is not None and now.name in whole:
        whole[now.name] = max(whole[now.name] / 10, whole[now.name] - _used(now) / 60 / PROCESSORS)
    return sum(whole.values())


def about(minutes_left: float) -> str:
    """`about 9 min on 2 cores`."""
    return f"about {max(1, math.ceil(minutes_left))} min on {PROCESSORS} cores"


def _used(builder: ProcessIdentity) -> float:
    """Seconds of processor time of the compilers of a build, those that have ended included."""
    with suppress(psutil.Error):
        return sum(sum(each.cpu_times()[:4]) for each in psutil.Process(builder.pid).children(recursive=True))
    return 0.0
