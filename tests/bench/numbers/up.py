"""How long it takes to bring up stack dev in a sandbox that is not running yet."""

from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure
from tests.bench.machine import stopwatch
from tests.bench.timing import Sample, Series

BOUND_SECONDS: Final = 60.0
RUNS: Final = 3


def measure(bench: Bench) -> list[Figure]:
    """`slipway up dev --sandbox` from a stopped sandbox, its binaries installed: `make up` after its first run."""
    samples: list[Sample] = []
    watch = stopwatch(bench.sandbox.cpu_seconds)
    for number in range(RUNS):
        bench.stopped()
        bench.say(f"up dev from a stopped sandbox, {number + 1} of {RUNS}")
        with watch.measuring(samples):
            bench.command("up", "dev", "--sandbox")
    bench.stopped()
    held = Series(samples).held
    how = f"`slipway up dev --sandbox` from a stopped sandbox; {held.how}"
    return [Figure(name="up", value=held.value, unit="s", bound=BOUND_SECONDS, how=how)]
