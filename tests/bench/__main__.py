"""`python -m tests.bench [NAME...]`: measure, print each number beside its bound, fail where a bound is missed.

Exit code 0: every bound is held. 1: a bound is missed, by however little. 2: no bound is missed, but something was not
measured. 130: interrupted.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.bench.context import Bench
from tests.bench.figure import Figure, Verdict, named, summary, table
from tests.bench.machine import BenchError, describe
from tests.bench.registry import NUMBERS

EXIT_MISSED = 1
EXIT_NOT_MEASURED = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the numbers that are named, all where none is; the exit code."""
    options = _options(arguments)
    figures: list[Figure] = []
    failed: list[str] = []
    try:
        with _bench() as bench:
            for name in NUMBERS if not options.names else options.names:
                try:
                    measured = NUMBERS[name](bench)
                except BenchError as error:
                    failed.append(name)
                    print(f"{name}: not measured: {error}", file=sys.stderr)
                    continue
                figures += measured
                _print(measured)
    except KeyboardInterrupt:
        print("interrupted; the sandbox of the benchmarks is stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    finally:
        if options.json and figures:
            options.json.write_text(_document(figures, failed), encoding="utf-8")
    print(f"\n{table(figures)}\n\n{summary(figures)}")
    failed += [figure.name for figure in named(figures, Verdict.NOT_MEASURED)]
    if failed:
        print(f"not measured: {', '.join(failed)}")
    if named(figures, Verdict.MISSED):
        return EXIT_MISSED
    return EXIT_NOT_MEASURED if failed else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measured numbers beside their bounds.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NUMBERS)}; all where none is given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures for programs")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in NUMBERS]
    if unknown:
        parser.error(f"there is no number {', '.join(unknown)}: choose from {', '.join(NUMBERS)}")
    return options


@contextmanager
def _bench() -> Iterator[Bench]:
    """A bench that is cleaned up whatever happens, also after SIGTERM and a second Ctrl-C."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    bench = Bench(Path(tempfile.mkdtemp(prefix="slipway-bench-")), _say)
    try:
        yield bench
    finally:
        ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
        bench.close()
        signal.signal(signal.SIGINT, ignored)
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)


def _print(figures: Sequence[Figure]) -> None:
    for figure in figures:
        print(figure.line, flush=True)
        for note in figure.notes:
            print(f"    {note}", flush=True)


def _document(figures: Sequence[Figure], failed: Sequence[str]) -> str:
    document = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe(),
        "figures": [figure.as_data() for figure in figures],
        "not measured": list(failed),
    }
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main())
