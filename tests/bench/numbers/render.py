"""How long the whole program takes without an engine."""

from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure
from tests.bench.machine import stopwatch
from tests.bench.timing import Sample, Series

BOUND_SECONDS: Final = 10.0
RUNS: Final = 5


def measure(bench: Bench) -> list[Figure]:
    """Whole processes of `slipway render prod`; the first, which writes bytecode, does not count."""
    watch, samples = stopwatch(), list[Sample]()
    for number in range(RUNS + 1):
        with watch.measuring(samples if number else []):
            bench.command("render", "prod", "--out", str(bench.directory / "rendering"))
    held = Series(samples).held
    how = f"`slipway render prod`, whole process; {held.how}"
    return [Figure(name="render", value=held.value, unit="s", bound=BOUND_SECONDS, how=how)]
