"""Talking to a person: progress with the time it took, tables, questions that can be asked."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence


class Progress:
    """Lines on stderr, each with the seconds since the work began."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, text: str) -> None:
        """Say what is being done."""
        print(f"[{time.monotonic() - self._started:5.1f} s] {text}", file=sys.stderr, flush=True)


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset(), indent: str = "") -> str:
    """Rows in columns as wide as they need; the columns in `right` are aligned to the right (numbers)."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join(f"{indent}{line}" for line in lines)


def can_ask() -> bool:
    """Whether the engine would ask a question: the rule of its own `Interactive()`, as far as one can see from here."""
    if os.environ.get("TERM", "").lower() == "dumb" or os.environ.get("CI"):
        return False
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str) -> bool:
    """A yes or no from the terminal; no where nothing, or anything else, is said."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
