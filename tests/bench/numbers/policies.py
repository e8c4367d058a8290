"""What the policy pack adds to a preview of stack prod."""

from functools import partial
from pathlib import Path
from typing import Final

from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure
from tests.bench.previews import in_turn, prod
from tests.bench.timing import Pairs

BOUND_SECONDS: Final = 2.0
ROUNDS: Final = 5
PACK: Final = ROOT / "policies"
EMPTY: Final = """\
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

nothing = ResourceValidationPolicy("nothing", "checks nothing", lambda args, report: None, EnforcementLevel.MANDATORY)
PolicyPack("empty", policies=[nothing])
"""
"""The smallest pack in Python: the engine sends it every resource twice, to remediate and to validate."""


def measure(bench: Bench) -> list[Figure]:
    """Previews from an empty stack with the pack, with one of a rule that checks nothing, and with none, in turn.

    The bound is on the first less the last. The second less the last is what any pack takes.
    """
    bench.stopped()
    bench.started()
    program = prod(bench)
    bench.say(f"previews with the policy pack, an empty one and none, {ROUNDS + 1} rounds")
    packs = [PACK, write_empty(bench.directory / "empty-pack")]
    with_pack = [partial(program.preview, "--policy-pack", str(pack)) for pack in packs]
    ours, empty, none = in_turn(bench, [*with_pack, program.preview], ROUNDS)
    return [
        figure("policies", Pairs(ours, none), BOUND_SECONDS, "a preview of prod with the pack, less one without"),
        figure("policies, empty pack", Pairs(empty, none), None, "the same, the pack being a rule that checks nothing"),
    ]


def figure(name: str, pairs: Pairs, bound: float | None, what: str) -> Figure:
    """The figure of some pairs: those with a pack first."""
    held = pairs.difference
    note = f"with {pairs.first.wall:.2f} s by the clock, without {pairs.second.wall:.2f} s"
    return Figure(name=name, value=held.value, unit="s", bound=bound, how=f"{what}; {held.how}", notes=(note,))


def write_empty(directory: Path) -> Path:
    """Write the empty pack."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.1.0\n", encoding="utf-8")
    (directory / "__main__.py").write_text(EMPTY, encoding="utf-8")
    return directory
