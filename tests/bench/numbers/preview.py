"""How much longer a warm preview of stack prod takes than one of as many trivial resources."""

from functools import partial
from typing import Final

from tests.bench.baselines import PLAIN_RECORDS, SAME_IMPORTS, Baseline
from tests.bench.context import Bench
from tests.bench.figure import Figure
from tests.bench.previews import in_turn, prod
from tests.bench.timing import Pairs

SAME_IMPORTS_BOUND: Final = 1.3
PLAIN_RECORDS_BOUND: Final = 2.0
ROUNDS: Final = 5


def measure(bench: Bench) -> list[Figure]:
    """Two ratios with a bound each, measured in turn in one run, and a third without.

    A preview from an empty stack is what a pull request shows: it checks and plans every resource. Prod is compared
    with both programs of `tests.bench.baselines`, which says what either ratio shows and hides.

    The preview of a stack that exists is taken as `slipway preview` does it, with a refresh. It has no bound, because a
    refresh reads every object of prod, and of the plain records there is nothing to read.
    """
    bench.stopped()
    bench.started()
    ours, same, plain = prod(bench), SAME_IMPORTS.program(bench), PLAIN_RECORDS.program(bench)
    bench.say(f"previews from an empty stack, {ROUNDS + 1} rounds")
    first, second, third = in_turn(bench, [ours.preview, same.preview, plain.preview], ROUNDS)
    bench.with_prod()
    plain.up()
    bench.say(f"previews of a stack that exists, {ROUNDS + 1} rounds")
    refreshed = [partial(program.preview, "--refresh") for program in (ours, plain)]
    return [
        figure("preview, same imports", Pairs(first, second), SAME_IMPORTS_BOUND, SAME_IMPORTS),
        figure("preview, plain records", Pairs(first, third), PLAIN_RECORDS_BOUND, PLAIN_RECORDS),
        figure("preview, existing stack", Pairs(*in_turn(bench, refreshed, ROUNDS)), None, PLAIN_RECORDS),
    ]


def figure(name: str, pairs: Pairs, bound: float | None, baseline: Baseline) -> Figure:
    """The figure of some pairs: prod first, the baseline second."""
    held = pairs.ratio
    note = (
        f"prod {pairs.first.wall:.2f} s by the clock and {pairs.first.cpu:.2f} s of processor, "
        f"baseline {pairs.second.wall:.2f} s and {pairs.second.cpu:.2f} s"
    )
    how = f"prod against {baseline.description}, in turn; {held.how}"
    return Figure(name=name, value=held.value, unit="x", bound=bound, how=how, notes=(note,))
