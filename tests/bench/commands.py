"""The numbers of one command or piece of work, run a few times."""

import json
import os
import time
from collections.abc import Callable
from typing import Final

from spec.errors import EXIT_REFUSED
from tests.bench.figure import Figure
from tests.bench.machine import ROOT, Bench, BenchError, run
from tests.bench.timing import Sample, Series, Stopwatch

MISTAKE: Final = "zones: [us-east-1b]"
"""The line of prod's stack file that its pool with EFA needs; only a check across parts sees that it is missing."""


def speed(bench: Bench) -> list[Figure]:
    """A fixed piece of work without any code of this project, so that it is the same for every commit: most bounds are
    in seconds, and a machine is not always as fast."""
    bench.say("the speed of the machine")
    how = "processor time of the interpreter for a fixed document of 20,000 objects, minimum of 5"
    return [Figure(name="speed", value=_speed(), unit="s", how=how)]


def _speed() -> float:
    document = [
        {"name": f"resource-{index}", "tags": {"team": index % 7, "pool": str(index)}, "ports": list(range(8))}
        for index in range(20_000)
    ]
    return min(_round(document) for _ in range(5))


def _round(document: object) -> float:
    started = time.thread_time()
    for _ in range(3):
        found = json.loads(json.dumps(document, sort_keys=True))
        assert {one["name"].upper(): sorted(one["tags"].items(), key=str) for one in found}
    return time.thread_time() - started


def setup(bench: Bench) -> list[Figure]:
    """`make setup` with nothing to do: the first run, which may have work, does not count."""

    def again() -> None:
        run(["make", "--silent", "setup"], directory=ROOT, environment=bench.environment)

    return _warm("setup", 2.0, "`make setup`", again, bench.stopwatch())


def refusal(bench: Bench) -> list[Figure]:
    """`slipway up prod --sandbox` on a file with a mistake: refused, and no sandbox started."""
    stacks = bench.directory / "wrong" / "stacks"
    stacks.mkdir(parents=True)
    (stacks.parent / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    right = (ROOT / "stacks" / "Pulumi.prod.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    wrong = [line for line in right if not line.strip().startswith(MISTAKE)]
    (stacks / "Pulumi.prod.yaml").write_text("".join(wrong), encoding="utf-8")

    def refused() -> None:
        printed = bench.command("up", "prod", "--sandbox", directory=stacks.parent, expect=EXIT_REFUSED)
        if "pools.h100" not in printed:
            msg = f"the mistake is not named:\n{printed}"
            raise BenchError(msg)

    how = "`slipway up prod --sandbox`, whole process, a wrong file"
    return _warm("refusal", 1.0, how, refused, bench.stopwatch(), runs=7)


def render(bench: Bench) -> list[Figure]:
    """`slipway report prod --files`: the whole program, no engine. The first run writes bytecode; it is not counted."""
    words = ("report", "prod", "--files", str(bench.directory / "rendering"))
    how = "`slipway report prod --files`, whole process"
    return _warm("render", 10.0, how, lambda: bench.command(*words), bench.stopwatch())


def up(bench: Bench) -> list[Figure]:
    """`slipway up dev --sandbox` from a stopped sandbox, its binaries installed: `make up` after its first run."""
    samples: list[Sample] = []
    watch = bench.stopwatch()
    for number in range(3):
        bench.stop()
        bench.say(f"up dev from a stopped sandbox, {number + 1} of 3")
        with watch.measuring(samples):
            bench.command("up", "dev", "--sandbox")
    bench.stop()
    return [_figure("up", 60.0, "`slipway up dev --sandbox` from a stopped sandbox", samples)]


def tests(bench: Bench) -> list[Figure]:
    """`make test` once, by the clock: style, types, and the tests of all that a change can break, which must pass.

    The clock counts however busy the machine is. The daemons that tests start are not child processes, so their
    processor time can't be separated from that of other programs.
    """
    bench.stop()
    bench.say("make test, once")
    before, started = _speed(), time.perf_counter()
    run(["make", "--silent", "test"], directory=ROOT, environment=os.environ, seconds=3600.0)
    seconds = time.perf_counter() - started
    note = f"`speed` was {before:.2f} s before and {_speed():.2f} s after it"
    how = "`make test`, once, by the clock"
    return [Figure(name="tests", value=seconds, unit="s", bound=600.0, how=how, notes=(note,))]


def _warm(
    name: str, bound: float, how: str, act: Callable[[], object], watch: Stopwatch, runs: int = 5
) -> list[Figure]:
    """Of so many runs after a first one."""
    samples: list[Sample] = []
    for number in range(runs + 1):
        with watch.measuring(samples if number else []):
            act()
    return [_figure(name, bound, how, samples)]


def _figure(name: str, bound: float, how: str, samples: list[Sample]) -> Figure:
    held = Series(samples).held
    return Figure(name=name, value=held.value, unit="s", bound=bound, how=f"{how}; {held.how}")
