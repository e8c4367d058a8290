"""What measurements have: the checkout, a directory and an environment of their own, a sandbox, and watches."""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from sandbox import lifecycle
from sandbox.environment import environment
from slipway.cli.offline import Sandbox
from slipway.engine.stacks import SandboxEngine
from tests.bench.timing import Cpu, Stopwatch

ROOT: Final = Path(__file__).parents[2]
SAMPLING_SECONDS: Final = 0.5
"""Between two looks at memory; one look takes about 30 ms of processor for three processes (2026-11)."""


class BenchError(Exception):
    """Something could not be measured: a command failed, or a binary is missing."""


@dataclass(frozen=True)
class Memory:
    """Bytes of all processes of a sandbox."""

    pss: int
    """Proportional set size: pages that processes share are counted once. 0 where the system does not report it."""
    rss: int  # resident set size: shared pages are counted for each process
    parts: Mapping[str, int]  # PSS, else RSS, by process

    @property
    def counted(self) -> int:
        """PSS; RSS, which is larger, where there is none."""
        return self.pss or self.rss


class Bench:
    """One run of the benchmarks. `close` ends and removes everything that it made."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.home = directory, directory / "sandbox"
        self.environment = clean_environment(os.environ, directory)
        self.peak = 0
        self._has_prod = False

    def say(self, text: str) -> None:
        """Print what is done next."""
        print(f"... {text}", file=sys.stderr, flush=True)

    def command(self, *arguments: str, directory: Path = ROOT, expect: int = 0) -> str:
        """Run the installed `slipway` in the bench's environment; what it printed.

        Raises:
            BenchError: It ends with another exit code than `expect`.
        """
        slipway = str(Path(sys.executable).parent / "slipway")
        return run([slipway, *arguments], directory=directory, environment=self.environment, expect=expect)

    def start(self) -> None:
        """Start the sandbox."""
        self.command("sandbox", "start")

    def stop(self) -> None:
        """End the sandbox, and forget its peak; nothing where none runs."""
        lifecycle.stop(home=self.home)
        self.peak, self._has_prod = 0, False

    def restart(self) -> None:
        """A new sandbox."""
        self.stop()
        self.start()

    def with_prod(self) -> None:
        """The sandbox with stack prod up; its peak of memory is that of coming up."""
        if not self._has_prod:
            self.start()
            self.say("bringing up prod in the sandbox")
            with self.watching():
                self.command("up", "prod", "--sandbox")
            self._has_prod = True

    @contextlib.contextmanager
    def with_charts(self, directory: Path) -> Iterator[None]:
        """A new sandbox that has these charts, for the block; it is stopped afterwards."""
        without, self.environment = self.environment, {**self.environment, "SLIPWAY_CHARTS": str(directory)}
        try:
            self.restart()
            yield
        finally:
            self.stop()
            self.environment = without

    def close(self) -> None:
        """End the sandbox and remove the directory."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def engine(self) -> SandboxEngine:
        """The Pulumi CLI, set to use the sandbox.

        Raises:
            BenchError: It does not run.
        """
        state = lifecycle.status(home=self.home).state
        if state is None:
            msg = f"no sandbox runs in {self.home}"
            raise BenchError(msg)
        return Sandbox(state.home, environment(state), state.kubeconfig).engine(self.environment)

    def stopwatch(self) -> Stopwatch:
        """Counts the sandbox's processes, too."""
        return stopwatch(self._cpu_seconds)

    def memory(self) -> Memory:
        """What the sandbox holds now."""
        pss, rss, parts = 0, 0, {}
        for name, process in self._processes().items():
            with contextlib.suppress(psutil.Error):
                found = process.memory_full_info()
                own = int(getattr(found, "pss", 0))
                pss, rss = pss + own, rss + int(found.rss)
                parts[name] = own or int(found.rss)
        return Memory(pss, rss, parts)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Remember in `peak` the most memory that the sandbox held during the block."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(SAMPLING_SECONDS):
                self.peak = max(self.peak, self.memory().counted)

        thread = threading.Thread(target=watch, name="memory", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _cpu_seconds(self) -> float:
        total = 0.0
        for process in self._processes().values():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    def _processes(self) -> dict[str, psutil.Process]:
        found = lifecycle.status(home=self.home)
        identities = (*((found.state.daemon,) if found.state else ()), *found.children)
        return {f"{one.name} {one.pid}": process for one in identities if (process := one.find()) is not None}


def clean_environment(user: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The environment of every command that is measured.

    Nothing of the user's AWS, Pulumi or sandbox is in it, but where the binaries are. Charts are not: they make every
    preview and every `up` longer, and the numbers of two machines could not be compared. `Bench.with_charts` adds them.

    Bytecode goes to a directory of the bench, and is kept whatever the user's variables say: a second run of Python
    finds it, as on a machine where nothing was set, and the checkout stays as it is.
    """
    foreign = ("AWS_", "PULUMI_", "SLIPWAY_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in user.items() if name == "SLIPWAY_CACHE" or not name.startswith(foreign)}
    own = {"PYTHONPYCACHEPREFIX": str(directory / "bytecode"), "SLIPWAY_SANDBOX_HOME": str(directory / "sandbox")}
    return {**kept, **own}


def stopwatch(more: Cpu = lambda: 0.0) -> Stopwatch:
    """Counts this process, children that ended, and what `more` returns for processes that are still running."""
    return Stopwatch(lambda: _own_seconds() + more(), _busy_seconds, time.perf_counter, psutil.cpu_count() or 1)


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _busy_seconds() -> float:
    """Processor time that the machine has spent on anything."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # A guest's time is in `user` already (proc_stat(5)).
    return float(sum(times) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0))


def run(
    argv: Sequence[str], *, directory: Path, environment: Mapping[str, str], expect: int = 0, seconds: float = 600.0
) -> str:
    """Run a command to its end; what it printed, on both streams.

    Raises:
        BenchError: It can't be started, takes too long, or ends with another exit code than `expect`.
    """
    command = " ".join(argv)
    try:
        done = subprocess.run(
            argv, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"`{command}`: {error}"
        raise BenchError(msg) from error
    if done.returncode != expect:
        output = "\n".join(done.stdout.strip().splitlines()[-15:])
        msg = f"`{command}` ended with code {done.returncode}, not {expect}:\n{output}"
        raise BenchError(msg)
    return done.stdout
