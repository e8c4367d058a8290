"""What a preview of stack prod is compared with: two trivial programs of as many resources.

`SAME_IMPORTS` has as many resources of each provider as prod, and imports all that prod does. A comparison with it
shows what prod's own settings, components, inputs and dependencies cost. It hides what imports cost, prod's own too.

`PLAIN_RECORDS` has as many resources, all of them records of AWS, and imports what it needs and nothing else. A
comparison with it shows what a user waits for beyond the engine's work on so many resources: prod's own imports, the
SDK of Kubernetes, and the dry runs by which an API server checks its objects.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slipway.render.recording import Recording
from tests.bench import trivial
from tests.bench.context import Bench
from tests.bench.machine import run
from tests.bench.previews import Program
from tests.bench.samples import recorded


@dataclass(frozen=True)
class Baseline:
    """A trivial program, made after the recording of another.

    Attributes:
        name: Name of its folder and stack.
        description: What it is, after "prod against".
        size: How many resources it has.
        modules: What it imports beyond what it needs.
    """

    name: str
    description: str
    size: Callable[[Recording], trivial.Size]
    modules: Callable[[Recording], Sequence[str]]

    def write(self, directory: Path, recording: Recording) -> Path:
        """Write its project."""
        return trivial.write(directory, self.size(recording), self.modules(recording))

    def program(self, bench: Bench) -> Program:
        """The program of prod's size in a stack of its own; the sandbox must be running."""
        directory = bench.directory / self.name
        engine = bench.sandbox.engine()
        program = Program(engine, directory, self.name)
        if not directory.exists():
            self.write(directory, recorded())
            argv = [str(engine.pulumi), "stack", "init", program.stack, "--non-interactive"]
            run(argv, directory=directory, environment=engine.environment)
        return program


def size(recording: Recording) -> trivial.Size:
    """Components without the stack itself, and resources of each provider without the providers."""
    custom = [found.type.partition(":")[0] for found in recording if found.custom]
    components = sum(not found.custom for found in recording) - 1
    return trivial.Size(components, custom.count("aws"), custom.count("kubernetes"))


def modules(recording: Recording) -> list[str]:
    """What its program imports: our own code, and the modules of the SDKs in which its resources are."""
    services = {found.type.split(":")[1].partition("/")[0] for found in recording if found.type.startswith("aws:")}
    kubernetes = ("apiextensions", "helm.v3", "meta.v1")
    return [
        "infra.program",
        *(f"pulumi_aws.{service}" for service in sorted(services)),
        *(f"pulumi_kubernetes.{name}" for name in kubernetes),
    ]


SAME_IMPORTS: Final = Baseline(
    "trivial-same-imports", "as many trivial resources of the same providers, with the same imports", size, modules
)
PLAIN_RECORDS: Final = Baseline(
    "trivial-plain-records",
    "as many plain records of AWS, without prod's own imports and without Kubernetes",
    lambda recording: size(recording).without_kubernetes,
    lambda _: (),
)
