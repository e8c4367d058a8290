"""Whether the engine's rows are shown, and what of its output is shown without them.

A terminal shows the engine's display, which redraws its rows. Elsewhere the engine prints two rows for each resource,
changed or not: 1,366 lines for an unchanged stack dev (2026-11).
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_DISPLAY: Final = (
    "--diff",
    "--json",
    "-j",
    "--show-",
    "--suppress-",
    "--debug",
    "-d",
    "--logtostderr",
    "--verbose",
    "-v",
)
"""Arguments that ask for a display of the engine's (`pulumi preview --help`, v3.258.0)."""
_SECTION: Final = re.compile(r"^(Diagnostics|Policies|Policy Violations):")
_END: Final = re.compile(r"^(Outputs|Resources|Duration):?")


def quiet(extra: Sequence[str], *, verbose: bool) -> bool:
    """Whether the engine's rows are left out: without a terminal, `--verbose` and arguments about the display."""
    return not (verbose or sys.stdout.isatty() or any(one.startswith(_DISPLAY) for one in extra))


def read(output: Path) -> str:
    """The engine's output in a file."""
    return output.read_text(encoding="utf-8", errors="replace")


def without_rows(output: str, *, failed: bool) -> str:
    """The sections of an output that report errors, warnings and policy violations.

    Of a failed run without such a section, all of it: nothing that explains the failure may be left out.
    """
    kept: list[str] = []
    inside = False
    for line in output.splitlines():
        if _SECTION.match(line):
            inside = True
        elif inside and _END.match(line):
            inside = False
        if inside:
            kept.append(line)
    if failed and not kept:
        kept = output.splitlines()
    return "\n".join(kept).strip("\n")


@contextlib.contextmanager
def heartbeat(output: Path, seconds: float = 60.0) -> Iterator[None]:
    """While the engine's rows go to a file, its latest one is printed to stderr every minute: a CI job without output
    is taken for a dead one."""
    ended, started = threading.Event(), time.monotonic()

    def beat() -> None:
        while not ended.wait(seconds):
            lines = [line.strip() for line in read(output).splitlines()] if output.exists() else []
            # `@ updating....` says nothing but that the engine runs.
            rows = [line for line in lines if line and not line.startswith("@")]
            latest = rows[-1] if rows else "no output yet"
            print(f"[{time.monotonic() - started:5.0f} s] {latest}", file=sys.stderr, flush=True)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
