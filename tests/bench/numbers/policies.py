"""What the policy pack adds to a preview of stack prod."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure
from tests.bench.previews import in_turn, prod
from tests.bench.timing import Pairs

BOUND_SECONDS: Final = 2.0
PAIRS: Final = 5
PACK: Final = ROOT / "policies"


def measure(bench: Bench) -> list[Figure]:
    """Previews from an empty stack with and without `--policy-pack policies`, in turn."""
    bench.stopped()
    bench.started()
    program = prod(bench)
    bench.say(f"previews with and without the policy pack, {PAIRS + 1} pairs")
    pairs = Pairs(*in_turn(bench, [partial(program.preview, "--policy-pack", str(PACK)), program.preview], PAIRS))
    held = pairs.difference
    note = f"with {pairs.first.wall:.2f} s by the clock, without {pairs.second.wall:.2f} s"
    how = f"a preview of prod with the pack, less one without; {held.how}"
    return [Figure(name="policies", value=held.value, unit="s", bound=BOUND_SECONDS, how=how, notes=(note,))]
