"""Progress of a long task: one self-updating line on a terminal, a line every 15 s elsewhere."""

import shutil
import sys
import time
from typing import TextIO

_INTERVAL_SECONDS = 15.0
"""Without a terminal: short enough that a CI system does not consider the job hung, long enough for a short log."""


class Progress:
    """Shows what is being done and for how long. `update` may be called as often as you like."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._started = time.monotonic()
        self._printed = self._started

    @property
    def elapsed(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self._started

    def note(self, text: str) -> None:
        """Print a permanent line."""
        self._clear()
        print(text, file=self._stream, flush=True)

    def update(self, detail: str) -> None:
        """Show the current state, such as `412 packages, k8s.io/api/core/v1`."""
        line = f"{self._title}: {_duration(self.elapsed)}, {detail}"
        if self._terminal:
            columns = shutil.get_terminal_size().columns
            self._stream.write("\r\x1b[K" + line[: columns - 1])
            self._stream.flush()
        elif time.monotonic() - self._printed >= _INTERVAL_SECONDS:
            self._printed = time.monotonic()
            print(line, file=self._stream, flush=True)

    def finish(self, outcome: str) -> None:
        """Print the outcome, with the time it took."""
        self.note(f"{self._title}: {outcome} after {_duration(self.elapsed)}")

    def _clear(self) -> None:
        if self._terminal:
            self._stream.write("\r\x1b[K")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
