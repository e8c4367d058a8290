"""How long it takes to refuse a wrong stack file."""

import shutil
from pathlib import Path
from typing import Final

from spec.errors import EXIT_REFUSED
from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure
from tests.bench.machine import BenchError, stopwatch
from tests.bench.timing import Sample, Series

BOUND_SECONDS: Final = 1.0
RUNS: Final = 7
STACK: Final = "prod"
_EFA: Final = "efa: true"


def measure(bench: Bench) -> list[Figure]:
    """Whole processes of `slipway up prod --sandbox` on a file with a mistake: refused, and no sandbox started."""
    checkout = make_checkout(bench.directory / "wrong")
    watch, samples = stopwatch(), list[Sample]()
    for number in range(RUNS + 1):
        with watch.measuring(samples if number else []):
            printed = bench.command("up", STACK, "--sandbox", directory=checkout, expect=EXIT_REFUSED)
        if "pools.h100" not in printed:
            msg = f"the mistake is not named:\n{printed}"
            raise BenchError(msg)
    held = Series(samples).held
    how = f"`slipway up {STACK} --sandbox`, whole process, a wrong file; {held.how}"
    return [Figure(name="refusal", value=held.value, unit="s", bound=BOUND_SECONDS, how=how)]


def make_checkout(directory: Path) -> Path:
    """A checkout of settings alone, in which prod's EFA pool spans every zone, which only a check across parts sees."""
    (directory / "stacks").mkdir(parents=True)
    shutil.copy(ROOT / "Pulumi.yaml", directory)
    text = (ROOT / "stacks" / f"Pulumi.{STACK}.yaml").read_text(encoding="utf-8")
    wrong = without_zones_of_efa(text)
    (directory / "stacks" / f"Pulumi.{STACK}.yaml").write_text(wrong, encoding="utf-8")
    return directory


def without_zones_of_efa(text: str) -> str:
    """The stack file without the line that names the zone of the pool with EFA.

    Raises:
        BenchError: The file has no such pool, so the mistake can't be made.
    """
    lines = text.splitlines(keepends=True)
    wrong = "".join(line for line in lines if not line.strip().startswith("zones: [us-east-1b]"))
    if wrong == text or _EFA not in text:
        msg = "stack prod has no EFA pool in zone us-east-1b any more: make another mistake here"
        raise BenchError(msg)
    return wrong
