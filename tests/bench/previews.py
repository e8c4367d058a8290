"""Previews by the plain Pulumi CLI in one sandbox: what is run, and how several are timed against each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.engine.stacks import SandboxEngine
from tests.bench.context import ROOT, Bench
from tests.bench.machine import run, stopwatch
from tests.bench.timing import Sample, Series

STACK: Final = "prod"
QUIET: Final = ("--non-interactive", "--color", "never", "--suppress-outputs")
Action = Callable[[], object]


@dataclass(frozen=True)
class Program:
    """A project and a stack of it, run by the CLI of a sandbox."""

    engine: SandboxEngine
    directory: Path
    stack: str
    settings: Path | None = None

    def preview(self, *arguments: str) -> None:
        """`pulumi preview`, which must succeed."""
        self._run("preview", *QUIET, *arguments)

    def up(self) -> None:
        """`pulumi up`, which must succeed."""
        self._run("up", "--yes", "--skip-preview", *QUIET)

    def _run(self, operation: str, *arguments: str) -> None:
        file = ("--config-file", str(self.settings)) if self.settings else ()
        argv = [str(self.engine.pulumi), operation, "--stack", self.stack, *file, *arguments]
        run(argv, directory=self.directory, environment=self.engine.environment)


def prod(bench: Bench) -> Program:
    """Stack prod of the checkout; the stack is created in the sandbox's backend."""
    engine = bench.sandbox.engine()
    return Program(engine, ROOT, STACK, engine.prepare(ROOT / "stacks", STACK))


def in_turn(bench: Bench, actions: Sequence[Action], rounds: int) -> list[Series]:
    """Run things in turn, A B C A B C, so that whatever else the machine does affects all of them: one round to warm
    up, which does not count, and then `rounds` with a watch on them and on the sandbox."""
    watch = stopwatch(bench.sandbox.cpu_seconds)
    taken: list[list[Sample]] = [[] for _ in actions]
    for action in actions:
        action()
    for _ in range(rounds):
        for action, samples in zip(actions, taken, strict=True):
            with watch.measuring(samples):
                action()
    return [Series(samples) for samples in taken]
