"""Previews of stack prod and of a trivial program of the same size, by the plain Pulumi CLI in one sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.config import load, read_stack
from slipway.engine.stacks import SandboxEngine
from slipway.render.program import record_platform
from tests.bench import trivial
from tests.bench.context import ROOT, Bench
from tests.bench.machine import run, stopwatch
from tests.bench.timing import Pairs, Sample, Series

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
    """Stack prod of the checkout; the stack is made in the sandbox's backend."""
    engine = bench.sandbox.engine()
    return Program(engine, ROOT, STACK, engine.prepare(ROOT / "stacks", STACK))


def size_of_prod() -> tuple[int, int]:
    """Components without the stack, and resources without providers; trivial has one provider, prod two."""
    recording = record_platform(load(read_stack(STACK, ROOT / "stacks"), stack=STACK).platform, stack=STACK)
    components = sum(not resource.custom for resource in recording) - 1
    return components, len(recording) - components - 2


def trivial_program(bench: Bench) -> Program:
    """The trivial program of prod's size, in a stack of its own."""
    directory = bench.directory / trivial.NAME
    engine = bench.sandbox.engine()
    program = Program(engine, directory, trivial.NAME)
    if not directory.exists():
        components, resources = size_of_prod()
        trivial.write(directory, components=components, resources=resources)
        argv = [str(engine.pulumi), "stack", "init", trivial.NAME, "--non-interactive"]
        run(argv, directory=directory, environment=engine.environment)
    return program


def in_turn(bench: Bench, first: Action, second: Action, pairs: int) -> Pairs:
    """Run two things in turn, once without and then so many times with a watch on them and on the sandbox."""
    watch = stopwatch(bench.sandbox.cpu_seconds)
    taken: Sequence[tuple[Action, list[Sample]]] = ((first, []), (second, []))
    for action, _ in taken:
        action()
    for _ in range(pairs):
        for action, samples in taken:
            with watch.measuring(samples):
                action()
    return Pairs(*(Series(samples) for _, samples in taken))
