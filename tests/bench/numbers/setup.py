"""How long `make setup` takes when there is nothing to do."""

from typing import Final

from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure
from tests.bench.machine import run, stopwatch
from tests.bench.timing import Sample, Series

BOUND_SECONDS: Final = 2.0
RUNS: Final = 5


def measure(bench: Bench) -> list[Figure]:
    """`make setup` again: the first run, which may have work, does not count."""
    watch, samples = stopwatch(), list[Sample]()
    for number in range(RUNS + 1):
        with watch.measuring(samples if number else []):
            run(["make", "--silent", "setup"], directory=ROOT, environment=bench.environment)
    held = Series(samples).held
    return [Figure(name="setup", value=held.value, unit="s", bound=BOUND_SECONDS, how=f"`make setup`; {held.how}")]
