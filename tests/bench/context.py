"""What a measurement has: the checkout, a directory of its own, a clean environment, and a sandbox."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bench import charts
from tests.bench.machine import run
from tests.bench.sandbox import BenchSandbox

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = frozenset({"SLIPWAY_CACHE"})
_FOREIGN: Final = ("AWS_", "PULUMI_", "SLIPWAY_")


def clean_environment(user: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The environment of every command that is measured.

    Nothing of the user's AWS, Pulumi or sandbox is in it, but where the binaries are. Charts are not: they make every
    preview and every `up` longer, and the numbers of two machines could not be compared. `Bench.with_charts` adds them.

    Bytecode goes to a directory of the bench, and is kept whatever the user's variables say: a second run of Python
    finds it, as on a machine where nothing was set, and the checkout stays as it is.
    """
    kept = {name: value for name, value in user.items() if name in KEPT or not name.startswith(_FOREIGN)}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {
        **kept,
        "PYTHONPYCACHEPREFIX": str(directory / "bytecode"),
        "SLIPWAY_SANDBOX_HOME": str(directory / "sandbox"),
    }


class Bench:
    """One run of the benchmarks. `close` ends and removes everything that it made."""

    def __init__(self, directory: Path, say: Callable[[str], None]) -> None:
        self.directory, self.say = directory, say
        self.environment = clean_environment(os.environ, directory)
        self.sandbox = BenchSandbox(Path(self.environment["SLIPWAY_SANDBOX_HOME"]), self.environment)
        self._has_prod = False

    @property
    def slipway(self) -> tuple[str, ...]:
        """The installed command, as a user calls it."""
        return (str(Path(sys.executable).parent / "slipway"),)

    def command(self, *arguments: str, directory: Path = ROOT, expect: int = 0) -> str:
        """Run `slipway` in the bench's environment; what it printed.

        Raises:
            BenchError: It ends with another exit code than `expect`.
        """
        return run([*self.slipway, *arguments], directory=directory, environment=self.environment, expect=expect)

    def started(self) -> BenchSandbox:
        """The sandbox, running."""
        self.command("sandbox", "start")
        return self.sandbox

    def stopped(self) -> BenchSandbox:
        """The sandbox, ended."""
        self._has_prod = False
        self.sandbox.stop()
        return self.sandbox

    def with_prod(self) -> BenchSandbox:
        """The sandbox with stack prod up; its peak of memory is that of coming up."""
        if not self._has_prod:
            sandbox = self.started()
            self.say("bringing up prod in the sandbox")
            with sandbox.watching():
                self.command("up", "prod", "--sandbox")
            self._has_prod = True
        return self.sandbox

    @contextmanager
    def with_charts(self, directory: Path) -> Iterator[BenchSandbox]:
        """A new sandbox that has these charts, for the block; it is stopped afterwards."""
        self.stopped()
        without, self.environment = self.environment, {**self.environment, charts.VARIABLE: str(directory)}
        try:
            yield self.started()
        finally:
            self.stopped()
            self.environment = without

    def close(self) -> None:
        """End the sandbox and remove the directory."""
        self.sandbox.stop()
        shutil.rmtree(self.directory, ignore_errors=True)
