"""`python -m tests.bench [NAME...]`: measure, print each number beside its bound, fail where a bound is missed.

Exit code 0: every bound is held. 1: a bound is missed, by however little. 2: no bound is missed, but something was not
measured. 130: interrupted.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from tests.bench import commands, growth, memory, needs, previews
from tests.bench.figure import Figure, Verdict, summary, table
from tests.bench.machine import Bench, BenchError

NUMBERS: Final[Mapping[str, Callable[[Bench], list[Figure]]]] = {
    "speed": commands.speed,
    "setup": commands.setup,
    "refusal": commands.refusal,
    "render": commands.render,
    "growth": growth.growth,
    "waits": needs.of_prod,
    "up": commands.up,
    "preview": previews.preview,
    # After `preview`, because it needs the stack that this leaves up.
    "memory": memory.memory,
    "tests": commands.tests,
}
"""In an order in which they do not disturb each other."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the numbers that are named, all where none is; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measured numbers beside their bounds.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NUMBERS)}; all where none is given")
    names = parser.parse_args(arguments).names
    if unknown := [name for name in names if name not in NUMBERS]:
        parser.error(f"there is no number {', '.join(unknown)}: choose from {', '.join(NUMBERS)}")
    figures: list[Figure] = []
    failed: list[str] = []
    try:
        with _bench() as bench:
            for name in names or NUMBERS:
                try:
                    measured = NUMBERS[name](bench)
                except BenchError as error:
                    failed.append(name)
                    print(f"{name}: not measured: {error}", file=sys.stderr)
                    continue
                figures += measured
                for figure in measured:
                    print("\n    ".join((figure.line, *figure.notes)), flush=True)
    except KeyboardInterrupt:
        print("interrupted; the sandbox of the benchmarks is stopped", file=sys.stderr)
        return 130
    print(f"\n{table(figures)}\n\n{summary(figures)}")
    failed += [figure.name for figure in figures if figure.verdict is Verdict.NOT_MEASURED]
    if failed:
        print(f"not measured: {', '.join(failed)}")
    missed = any(figure.verdict is Verdict.MISSED for figure in figures)
    return 1 if missed else 2 if failed else 0


@contextmanager
def _bench() -> Iterator[Bench]:
    """A bench that is cleaned up whatever happens, also after SIGTERM and a second Ctrl-C."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    bench = Bench(Path(tempfile.mkdtemp(prefix="slipway-bench-")))
    try:
        yield bench
    finally:
        ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
        bench.close()
        signal.signal(signal.SIGINT, ignored)
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
