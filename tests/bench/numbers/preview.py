"""How much longer a warm preview of stack prod takes than one of as many trivial resources."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure
from tests.bench.previews import in_turn, prod, trivial_program
from tests.bench.timing import Pairs

BOUND: Final = 1.3
PAIRS: Final = 5


def measure(bench: Bench) -> list[Figure]:
    """From an empty stack, which is held, and from one that stands.

    A preview from nothing is what a pull request shows: it checks and plans every resource. That of a stack that stands
    is taken as `slipway preview` does it, with a refresh. It is shown only, because a refresh reads every object of
    prod, and the trivial resources are records, of which there is nothing to read.
    """
    bench.stopped()
    bench.started()
    ours, least = prod(bench), trivial_program(bench)
    bench.say(f"previews from an empty stack, {PAIRS + 1} pairs")
    empty = in_turn(bench, ours.preview, least.preview, PAIRS)
    bench.with_prod()
    least.up()
    bench.say(f"previews of a stack that stands, {PAIRS + 1} pairs")
    standing = in_turn(bench, partial(ours.preview, "--refresh"), partial(least.preview, "--refresh"), PAIRS)
    return [figure("preview", empty, BOUND), figure("preview, standing", standing, None)]


def figure(name: str, pairs: Pairs, bound: float | None) -> Figure:
    """The figure of some pairs: prod first, trivial second."""
    held = pairs.ratio
    note = (
        f"prod {pairs.first.wall:.2f} s by the clock and {pairs.first.cpu:.2f} s of processor, "
        f"trivial {pairs.second.wall:.2f} s and {pairs.second.cpu:.2f} s"
    )
    how = f"prod against as many trivial resources, in turn; {held.how}"
    return Figure(name=name, value=held.value, unit="x", bound=bound, how=how, notes=(note,))
