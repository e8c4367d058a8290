"""A sandbox of the benchmarks' own: started, asked for processor time and memory, stopped."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from sandbox import lifecycle
from sandbox.environment import environment
from slipway.cli.offline import Sandbox
from slipway.engine.stacks import SandboxEngine
from tests.bench.machine import BenchError

SAMPLING_SECONDS = 0.5
"""Between two looks at memory; one look takes about 30 ms of processor for three processes (2026-11)."""


@dataclass(frozen=True)
class Memory:
    """Bytes of all processes of a sandbox.

    Attributes:
        pss: Proportional set size: pages that processes share are counted once. 0 where the system does not report it.
        rss: Resident set size: shared pages are counted for each process.
        parts: PSS, else RSS, by process.
    """

    pss: int
    rss: int
    parts: Mapping[str, int]

    @property
    def counted(self) -> int:
        """PSS; RSS, which is larger, where there is none."""
        return self.pss or self.rss


class BenchSandbox:
    """The sandbox at a home."""

    def __init__(self, home: Path, user: Mapping[str, str]) -> None:
        self.home, self._user = home, user
        self.peak = 0

    def stop(self) -> None:
        """End it, and forget its peak; nothing where none runs."""
        lifecycle.stop(home=self.home)
        self.peak = 0

    def engine(self) -> SandboxEngine:
        """The Pulumi CLI, set to use it.

        Raises:
            BenchError: It does not run.
        """
        state = lifecycle.status(home=self.home).state
        if state is None:
            msg = f"no sandbox runs in {self.home}"
            raise BenchError(msg)
        return Sandbox(state.home, environment(state), state.kubeconfig).engine(self._user)

    def cpu_seconds(self) -> float:
        """Processor time that its processes have taken so far."""
        total = 0.0
        for process in self._processes().values():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    def memory(self) -> Memory:
        """What it holds now."""
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
        """Remember in `peak` the most memory that it held during the block."""
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

    def _processes(self) -> dict[str, psutil.Process]:
        found = lifecycle.status(home=self.home)
        identities = (*((found.state.daemon,) if found.state else ()), *found.children)
        return {f"{one.name} {one.pid}": process for one in identities if (process := one.find()) is not None}
