"""Previews of stack prod and of a trivial program of the same size, by the plain Pulumi CLI in one sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.engine.stacks import SandboxEngine
from slipway.render.recording import Recording
from tests.bench import trivial
from tests.bench.context import ROOT, Bench
from tests.bench.machine import run, stopwatch
from tests.bench.timing import Sample, Series
from tests.support import stacks

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


def recorded() -> Recording:
    """What stack prod asks of the engine; the same recording that other tests of the process look at."""
    return stacks.recorded(STACK)


def size(recording: Recording) -> trivial.Size:
    """Components without the stack itself, and resources of each provider without the providers."""
    custom = [found.type.partition(":")[0] for found in recording if found.custom]
    components = sum(not found.custom for found in recording) - 1
    return trivial.Size(components, custom.count("aws"), custom.count("kubernetes"))


def modules(recording: Recording) -> list[str]:
    """What its program imports: our own code, and the modules of the AWS SDK in which its resources are."""
    services = {found.type.split(":")[1].partition("/")[0] for found in recording if found.type.startswith("aws:")}
    kubernetes = ("apiextensions", "helm.v3", "meta.v1")
    return [
        "infra.program",
        *(f"pulumi_aws.{service}" for service in sorted(services)),
        *(f"pulumi_kubernetes.{name}" for name in kubernetes),
    ]


def trivial_program(bench: Bench, *, alike: bool) -> Program:
    """The trivial program of prod's size, in a stack of its own.

    Args:
        bench: The bench, its sandbox running.
        alike: Whether it has the same number of resources of each provider as prod, and imports all that prod does;
            else it is of AWS alone, and imports only what it needs.
    """
    directory = bench.directory / ("trivial-alike" if alike else "trivial-least")
    engine = bench.sandbox.engine()
    program = Program(engine, directory, directory.name)
    if not directory.exists():
        whole = size(recorded())
        if alike:
            trivial.write(directory, whole, modules(recorded()))
        else:
            trivial.write(directory, whole.without_kubernetes)
        argv = [str(engine.pulumi), "stack", "init", program.stack, "--non-interactive"]
        run(argv, directory=directory, environment=engine.environment)
    return program


def in_turn(bench: Bench, actions: Sequence[Action], rounds: int) -> list[Series]:
    """Run things in turn, once without and then so many times with a watch on them and on the sandbox."""
    watch = stopwatch(bench.sandbox.cpu_seconds)
    taken: list[list[Sample]] = [[] for _ in actions]
    for action in actions:
        action()
    for _ in range(rounds):
        for action, samples in zip(actions, taken, strict=True):
            with watch.measuring(samples):
                action()
    return [Series(samples) for samples in taken]
