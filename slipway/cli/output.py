"""Terminal output and input: progress messages with timings, tables, yes/no questions."""

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final

from slipway.columns import aligned
from spec.errors import LINES, visible

_RED, _YELLOW, _DIM = 31, 33, 2
_COLORS: Final = (
    # Errors and losses.
    (_RED, r"^slipway[a-z ]*: (?:error: )?"),
    (_RED, r"^stack \S+: \d+ problems?, nothing was changed$"),
    (_RED, r"^(?:FAILED|failed|mandatory|CUT by) .*"),
    (_RED, r"^\S+/\S+ (?:is refused|is held|would (?!be accepted)|waits|exceeds|has (?!finished)|can't|fits no)[^:]*:"),
    (_RED, r"^(?:Replaced or deleted|Permanently lost|Left in AWS.*):$"),
    (_RED, r"^  (?:  loses|(?:(?:pool |team )?\S+ +)?(?:replace|delete)) .*"),
    (_RED, r"^  .*\b\d+ to (?:replace|delete)\b.*"),
    (_RED, r"^(?:Of the other: )?In no figure: .*"),
    # Advice.
    (_YELLOW, r"^(?:warning|note|advisory)\b:?"),
    (_YELLOW, r"(?:(?<=; )|^ +)next: .*"),
    (_YELLOW, r"^  (?:fix|left to its author): .*"),
    # Evidence.
    (_DIM, r"^  (?:not read:|condition|event|rule) .*"),
    (_DIM, r"^\[ *[\d.]+ s\]"),
)
"""Colors (ECMA-48, SGR) of what a line begins with, or all of it."""


def has_colors(stream: Any) -> bool:
    """Whether a stream shows colors: a terminal, unless NO_COLOR or FORCE_COLOR says otherwise (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM", "dumb") != "dumb")


def colored(text: str) -> str:
    """The text with errors and losses in red, advice in yellow, and evidence dim."""
    for color, pattern in _COLORS:
        text = re.sub(pattern, f"\x1b[{color}m\\g<0>\x1b[0m", text, flags=re.MULTILINE)
    return text


class _Visible:
    """A stream of text on which nothing that others wrote is obeyed by the terminal."""

    def __init__(self, stream: Any) -> None:
        self.obeyed = stream
        self._color = colored if has_colors(stream) else str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.obeyed, name)

    def write(self, text: str) -> int:
        """Write with control characters as escapes."""
        return int(self.obeyed.write(self._color(visible(text, LINES))))


@contextmanager
def made_visible() -> Iterator[None]:
    """All that is printed meanwhile, whoever wrote it."""
    with redirect_stdout(_Visible(sys.stdout)), redirect_stderr(_Visible(sys.stderr)):
        yield


def obeyed(stream: Any) -> Any:
    """The stream below, for what Slipway itself moves on a terminal, and for documents that are no terminal's."""
    return getattr(stream, "obeyed", stream)


class Progress:
    """Prints progress messages to stderr, each with the seconds since the start."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, text: str) -> None:
        """Print a message."""
        print(f"[{time.monotonic() - self._started:5.1f} s] {text}", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print a message to stderr."""
    print(text, file=sys.stderr, flush=True)


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset(), indent: str = "") -> str:
    """Rows as aligned columns; the columns in `right` (numbers) are right-aligned."""
    return "\n".join(f"{indent}{line}" for line in aligned(rows, right))


def can_ask() -> bool:
    """Whether the engine would ask for confirmation; approximates its own `Interactive()`."""
    if os.environ.get("TERM", "").lower() == "dumb" or os.environ.get("CI"):
        return False
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str) -> bool:
    """Ask a yes/no question on the terminal; any answer but yes counts as no."""
    try:
        return input(f"{visible(question)} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
