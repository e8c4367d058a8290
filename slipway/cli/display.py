"""Whether the engine's rows are shown, and what of its output is shown without them.

The engine prints two rows for each resource, changed or not: 1,366 lines for an unchanged stack dev. On a terminal it
redraws them, and 470 rows stay (2026-11).
"""

import contextlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from slipway.cli.output import obeyed
from spec.errors import visible

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
REDRAWN: Final = 0.25
"""Seconds between two lines on a terminal."""
_LINE: Final = "\r\x1b[K"
"""Back to the first column, and erases the line (ECMA-48, CR and EL)."""
_TAIL: Final = 8192
"""Bytes that are searched for the latest row; the engine's dots are a line that grows."""
_SECTION: Final = re.compile(r"^(Diagnostics|Policies|Policy Violations):")
_END: Final = re.compile(r"^(Outputs|Resources|Duration):?")


def quiet(extra: Sequence[str], *, verbose: bool) -> bool:
    """Whether the engine's rows are left out: without `--verbose` and arguments about the display."""
    return not (verbose or any(one.startswith(_DISPLAY) for one in extra))


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
    """While the engine's rows go to a file, its latest one is shown on standard error.

    A terminal has one line, which is redrawn and disappears at the end. Elsewhere a line is printed at once and every
    minute: a CI job without output is taken for a dead one.
    """
    live = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    ended, started = threading.Event(), time.monotonic()

    def beat() -> None:
        while not ended.wait(REDRAWN if live else seconds):
            line = f"[{time.monotonic() - started:5.0f} s] {latest(output)}"
            # One column less than there are: a full line would wrap.
            shown = _LINE + visible(line)[: shutil.get_terminal_size().columns - 1] if live else f"{line}\n"
            print(shown, end="", file=obeyed(sys.stderr) if live else sys.stderr, flush=True)

    if not live:
        print(f"[    0 s] the engine runs; its latest row follows every {seconds:.0f} s", file=sys.stderr, flush=True)
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if live:
            print(_LINE, end="", file=obeyed(sys.stderr), flush=True)


def latest(output: Path) -> str:
    """The latest row of the engine's output."""
    try:
        with output.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    except FileNotFoundError:
        lines = []
    # `@ updating....` says nothing but that the engine runs.
    return next((line for line in reversed(lines) if line and not line.startswith("@")), "no output yet")
