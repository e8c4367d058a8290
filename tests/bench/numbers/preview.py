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

    A preview from nothing is what a pull request shows: it checks and plans every resource. Held is the program that is
    alike: as many resources of each provider, with the same imports. It tells what prod's own settings, inputs and
    needs cost above what any program of two such SDKs does. Beside it stands the least that as many resources can be.

    The preview of a stack that stands is taken as `slipway preview` does it, with a refresh. It is shown only, because
    a refresh reads every object of prod, and the trivial resources are records, of which there is nothing to read.
    """
    bench.stopped()
    bench.started()
    ours, alike, minimum = prod(bench), trivial_program(bench, alike=True), trivial_program(bench, alike=False)
    bench.say(f"previews from an empty stack, {ROUNDS + 1} rounds")
    first, second, third = in_turn(bench, [ours.preview, alike.preview, minimum.preview], ROUNDS)
    bench.with_prod()
    minimum.up()
    bench.say(f"previews of a stack that stands, {ROUNDS + 1} rounds")
    refreshed = [partial(program.preview, "--refresh") for program in (ours, minimum)]
    return [
        figure("preview", Pairs(first, second), BOUND, "as many trivial resources of the same providers and imports"),
        figure("preview, least", Pairs(first, third), None, "as many trivial resources of AWS alone"),
        figure("preview, standing", Pairs(*in_turn(bench, refreshed, ROUNDS)), None, "the same, with a refresh"),
    ]


def figure(name: str, pairs: Pairs, bound: float | None, against: str) -> Figure:
    """The figure of some pairs: prod first, trivial second."""
    held = pairs.ratio
    note = (
        f"prod {pairs.first.wall:.2f} s by the clock and {pairs.first.cpu:.2f} s of processor, "
        f"trivial {pairs.second.wall:.2f} s and {pairs.second.cpu:.2f} s"
    )
    how = f"prod against {against}, in turn; {held.how}"
    return Figure(name=name, value=held.value, unit="x", bound=bound, how=how, notes=(note,))
