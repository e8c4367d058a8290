"""`python -m tools.figures`: the published figures of `slipway replay`, beside two baselines.

`--trace FILE` measures, and keeps each run in measured.json as soon as it ends; a later run of the same stack, load and
seed replaces it. Without a trace only the tables of docs/guides/replay-figures.md are written anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from slipway.cli.output import Progress
from slipway.replay import readers
from spec.catalog.document import laid_out
from spec.clock import today
from tests.support.generated import FIGURES, ROOT, write_part
from tools.figures.filling import rows
from tools.figures.measure import Case, key, measure, stack
from tools.figures.table import tables, text, windows

MEASURED: Final = Path(__file__).with_name("measured.json")
PAGE: Final = ROOT / "docs" / "guides" / "replay-figures.md"
PARTS: Final = {"figures": text, "windows": windows, "filling": rows}
CHECK_SEEDS: Final = (1, 3, 5, 7, 9)  # seeds for the check alone (ADR 0133)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for, and write the tables; the exit code."""
    options = _options(arguments)
    document: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    for run in _runs(options) if options.trace is not None else ():
        print(tables({"runs": [run]}), flush=True)
        if options.keep:
            others = [one for one in document["runs"] if key(one) != key(run)]
            document["runs"] = sorted((*others, run), key=key)
            write(document)
    write(document)
    return 0


def write(document: Mapping[str, Any]) -> None:
    """Keep the document, and write the tables of the page anew."""
    MEASURED.write_text(f"{laid_out(document)}\n", encoding="utf-8")
    for name, part in PARTS.items():
        write_part(PAGE, name, part(document), FIGURES)


def _runs(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    progress = Progress()
    source = readers.read(options.trace, None)
    for name in options.stack:
        of = stack(name)
        for load, seed in product(options.load, options.seed):
            progress(f"stack {name}, load {load:g}, seed {seed}")
            case = Case(stack=name, load=load, seed=seed, jobs=options.jobs)
            run = measure(case, of, source, options.max_minutes * 60, lambda _: None)
            yield {**run, "measured": today().isoformat()}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=FIGURES, description="Figures of `slipway replay`, beside two baselines.")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="the trace that is resampled: openb's")
    parser.add_argument("--stack", nargs="+", default=["dev", "staging"], help="shipped stacks")
    parser.add_argument("--load", nargs="+", type=float, default=[0.7, 1.0])
    parser.add_argument("--seed", nargs="+", type=int, default=list(CHECK_SEEDS), help="default: those for the check")
    parser.add_argument("--jobs", type=int, default=10_000, help="jobs of a week (default: %(default)s)")
    parser.add_argument("--max-minutes", type=int, default=10, help="real time of one replay until it is cut")
    parser.add_argument("--no-keep", dest="keep", action="store_false", help="only print: for even seeds")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
