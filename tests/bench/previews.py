"""Previews of stack prod, with and without the policy pack.

A preview from an empty stack is what a pull request shows: it checks and plans every resource. That of a stack that
exists is taken as `slipway preview` does it, with a refresh, which reads every object.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from tests.bench.figure import Figure
from tests.bench.machine import ROOT, Bench, run
from tests.bench.timing import Pairs, Sample, Series

STACK: Final = "prod"
QUIET: Final = ("--non-interactive", "--color", "never", "--suppress-outputs")
ROUNDS: Final = 5


def _previewing(bench: Bench) -> Callable[..., None]:
    """`pulumi preview` of the checkout's stack in the sandbox that runs, with more arguments; it must succeed."""
    engine = bench.engine()
    settings = engine.prepare(ROOT / "stacks", STACK)
    argv = [str(engine.pulumi), "preview", "--stack", STACK, "--config-file", str(settings), *QUIET]

    def preview(*arguments: str) -> None:
        run([*argv, *arguments], directory=ROOT, environment=engine.environment)

    return preview


def _in_turn(bench: Bench, *actions: Callable[[], None]) -> list[Series]:
    """Run things in turn, A B A B, so that whatever else the machine does affects all of them: one round to warm up,
    which does not count, and then `ROUNDS` with a watch on them and on the sandbox."""
    watch = bench.stopwatch()
    taken: list[list[Sample]] = [[] for _ in actions]
    for number in range(ROUNDS + 1):
        for action, samples in zip(actions, taken, strict=True):
            with watch.measuring(samples if number else []):
                action()
    return [Series(samples) for samples in taken]


def preview(bench: Bench) -> list[Figure]:
    """Seconds of a preview from an empty stack, what the policy pack adds to it, and of one of a stack that exists."""
    bench.restart()
    act = _previewing(bench)
    bench.say(f"previews from an empty stack, with the policy pack and without, {ROUNDS + 1} rounds")
    policed, alone = _in_turn(bench, partial(act, "--policy-pack", str(ROOT / "policies")), act)
    bench.with_prod()
    bench.say(f"previews of a stack that exists, {ROUNDS + 1} rounds")
    (existing,) = _in_turn(bench, partial(_previewing(bench), "--refresh"))
    added = Pairs(policed, alone).difference
    how = f"a preview of prod with the pack, less one without; {added.how}"
    return [
        Figure(name="preview", value=alone.held.value, unit="s", how=f"prod from an empty stack; {alone.held.how}"),
        Figure(name="policies", value=added.value, unit="s", bound=2.0, how=how),
        Figure(name="preview, existing stack", value=existing.held.value, unit="s", how=existing.held.how),
    ]
