"""The status of the sandbox, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from slipway.cli.output import table
from slipway.sandbox.controllers.report import Entry

_MIB: Final = 2**20


class Condition(StrEnum):
    """The condition of the sandbox."""

    STOPPED = "stopped"
    RUNNING = "running"
    DAMAGED = "damaged"
    """One of its processes has died; the data of that process is lost."""
    STALE = "stale"
    """Its state file exists but its processes don't: the machine was restarted, or the sandbox was killed."""


@dataclass(frozen=True)
class ProcessStatus:
    """One process of the sandbox; `memory` in bytes, None if the process has ended."""

    name: str
    pid: int
    memory: int | None

    @property
    def alive(self) -> bool:
        """Whether it is running."""
        return self.memory is not None


@dataclass(frozen=True)
class Status:
    """The current status of the sandbox."""

    condition: Condition
    home: Path
    processes: Sequence[ProcessStatus] = ()
    addresses: Mapping[str, str] | None = None
    """Listening addresses by name."""
    controllers: Sequence[Entry] = ()
    """Controllers of add-ons, of all clusters."""

    @property
    def healthy(self) -> bool:
        """Whether it can be used."""
        return self.condition is Condition.RUNNING

    @property
    def memory(self) -> int:
        """Bytes of all processes together (resident, so shared pages count twice)."""
        return sum(process.memory or 0 for process in self.processes)

    @property
    def dead(self) -> list[str]:
        """Names of the processes that have ended."""
        return [process.name for process in self.processes if not process.alive]

    @property
    def fix(self) -> str:
        """How to fix it; empty if there is nothing to fix."""
        if self.condition is Condition.DAMAGED:
            dead, logs = ", ".join(self.dead), self.home / "logs"
            return f"{dead} died (logs in {logs}): run `slipway sandbox stop`, then start it again"
        if self.condition is Condition.STALE:
            return "it was not stopped cleanly: `slipway sandbox start` cleans up and starts a new one"
        return ""

    def text(self) -> str:
        """The status as text."""
        head = f"sandbox: {self.condition}, in {self.home}"
        if self.condition is Condition.STOPPED:
            return "sandbox: stopped"
        rows = [
            (
                process.name,
                str(process.pid),
                f"{process.memory / _MIB:.0f} MiB" if process.memory is not None else "ended",
            )
            for process in self.processes
        ]
        total = f"memory: {self.memory / _MIB:.0f} MiB in total"
        addresses = [f"{name}: {address}" for name, address in (self.addresses or {}).items()]
        processes = table(rows, right=frozenset({1, 2}), indent="  ")
        parts = [head, processes, total, *addresses, self._controllers(), self.fix]
        return "\n".join(part for part in parts if part)

    def _controllers(self) -> str:
        if not self.controllers:
            return ""
        lines = [f"  {each.text}" + (f" (log {each.log})" if each.log else "") for each in self.controllers]
        return "\n".join(["controllers of add-ons:", *lines])

    def as_data(self) -> dict[str, Any]:
        """The status as plain values, for JSON."""
        return {
            "condition": self.condition.value,
            "home": str(self.home),
            "processes": [asdict(process) for process in self.processes],
            "memory": self.memory,
            "addresses": dict(self.addresses or {}),
            "controllers": [asdict(each) for each in self.controllers],
        }
