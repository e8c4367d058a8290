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
REDRAWN: Final = 0.25  # seconds between two lines on a terminal
_LINE: Final = "\r\x1b[K"  # back to the first column, and erases the line (ECMA-48, CR and EL)
_ROW: Final = re.compile(r"^\W*\w[\w.-]*:[^\s:]+:(?P<what>\w+ +[^\s:]+)(?P<rest>.*)$", re.MULTILINE)
"""A resource of the engine's display: `kubernetes:core/v1:Namespace it created (0.04s)`."""
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


def is_live() -> bool:
    """Whether standard error is a terminal on which a line can be redrawn."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def erase() -> None:
    """Erase the line that is redrawn, with what the terminal wrote into it, such as `^C`."""
    if is_live():
        print(_LINE, end="", file=obeyed(sys.stderr), flush=True)


@contextlib.contextmanager
def heartbeat(output: Path, total: int = 0, seconds: float = 60.0) -> Iterator[None]:
    """While the engine's rows go to a file, its latest one is shown on standard error; `total` is how many resources
    there will be, 0 if that is not known.

    A terminal has one line, which is redrawn and disappears at the end. Elsewhere a line is printed at once and every
    minute: a CI job without output is taken for a dead one.
    """
    live = is_live()
    ended, started = threading.Event(), time.monotonic()

    def beat() -> None:
        while not ended.wait(REDRAWN if live else seconds):
            line = f"[{time.monotonic() - started:5.0f} s] {latest(output, total)}"
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
        erase()


def resources(output: Path) -> dict[str, str]:
    """The resources of the engine's output by kind and name, the latest last, with what became of each."""
    found: dict[str, str] = {}
    for row in _ROW.finditer(read(output)) if output.exists() else ():
        what = " ".join(row["what"].split())
        found.pop(what, None)
        found[what] = row["rest"].strip()
    return found


def latest(output: Path, total: int = 0) -> str:
    """The number of resources so far, and the latest: `245 of 439: Namespace kueue created (0.04s)`."""
    found = resources(output)
    if not found:
        return "no output yet"
    what, state = next(reversed(found.items()))
    return f"{len(found)}{f' of {total}' if total >= len(found) else ''}: {what} {state}".rstrip()
