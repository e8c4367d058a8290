"""How much longer a warm preview of stack prod takes than one of as many trivial resources."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure
from tests.bench.previews import in_turn, prod, trivial_program
from tests.bench.timing import Pairs

BOUND: Final = 1.3
ROUNDS: Final = 5


def measure(bench: Bench) -> list[Figure]:
    """From an empty stack, which is held, and from one that stands.

    A preview from nothing is what a pull request shows: it checks and plans every resource. The trivial program imports
    only what it needs; beside it stands one that imports all that prod does, which tells what of the difference is
    imports, and what is the work on prod's own resources.

    The preview of a stack that stands is taken as `slipway preview` does it, with a refresh. It is shown only, because
    a refresh reads every object of prod, and the trivial resources are records, of which there is nothing to read.
    """
    bench.stopped()
    bench.started()
    ours, least, alike = prod(bench), trivial_program(bench), trivial_program(bench, same_imports=True)
    bench.say(f"previews from an empty stack, {ROUNDS + 1} rounds")
    first, second, third = in_turn(bench, [ours.preview, least.preview, alike.preview], ROUNDS)
    bench.with_prod()
    least.up()
    bench.say(f"previews of a stack that stands, {ROUNDS + 1} rounds")
    refreshed = [partial(program.preview, "--refresh") for program in (ours, least)]
    return [
        figure("preview", Pairs(first, second), BOUND),
        figure("preview, imports", Pairs(first, third), None, "imports and all"),
        figure("preview, standing", Pairs(*in_turn(bench, refreshed, ROUNDS)), None, "with a refresh"),
    ]


def figure(name: str, pairs: Pairs, bound: float | None, more: str = "") -> Figure:
    """The figure of some pairs: prod first, trivial second."""
    held = pairs.ratio
    note = (
        f"prod {pairs.first.wall:.2f} s by the clock and {pairs.first.cpu:.2f} s of processor, "
        f"trivial {pairs.second.wall:.2f} s and {pairs.second.cpu:.2f} s"
    )
    how = f"prod against as many trivial resources{f', {more}' if more else ''}, in turn; {held.how}"
    return Figure(name=name, value=held.value, unit="x", bound=bound, how=how, notes=(note,))
