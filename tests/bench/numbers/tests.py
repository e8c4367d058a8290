"""How long `make test` takes."""

import os
import time
from typing import Final

from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure
from tests.bench.machine import run
from tests.bench.numbers import speed

BOUND_SECONDS: Final = 600.0
AT_MOST_SECONDS: Final = 3600.0
"""Timeout: a longer run is considered hung."""


def measure(bench: Bench) -> list[Figure]:
    """`make test` once, by the clock: style, types, and the tests of all that a change can break, which must pass.

    The clock counts however busy the machine is. The daemons that tests start are not child processes, so their
    processor time can't be separated from that of other programs.
    """
    bench.stopped()
    bench.say("make test, once")
    before = speed.seconds()
    started = time.perf_counter()
    run(["make", "--silent", "test"], directory=ROOT, environment=os.environ, seconds=AT_MOST_SECONDS)
    seconds = time.perf_counter() - started
    note = f"`speed` was {before:.2f} s before and {speed.seconds():.2f} s after it"
    how = "`make test`, once, by the clock"
    return [Figure(name="tests", value=seconds, unit="s", bound=BOUND_SECONDS, how=how, notes=(note,))]
