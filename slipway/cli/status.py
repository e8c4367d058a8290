"""The state of the sandbox, for a person and for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from slipway.cli.output import table

_MIB: Final = 2**20


class Condition(StrEnum):
    """How the sandbox is."""

    STOPPED = "stopped"
    RUNNING = "running"
    DAMAGED = "damaged"
    """A process of it has died; what it kept is lost."""
    STALE = "stale"
    """Its state file is there and its processes are not: the machine was restarted, or it was killed."""


@dataclass(frozen=True)
class ProcessStatus:
    """One process of the sandbox; `memory` in bytes, None where it is gone."""

    name: str
    pid: int
    memory: int | None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.memory is not None


@dataclass(frozen=True)
class Status:
    """The sandbox as it is now."""

    condition: Condition
    home: Path
    processes: Sequence[ProcessStatus] = ()
    addresses: Mapping[str, str] | None = None
    """Where its parts listen, by name."""

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
        """Names of the processes that are gone."""
        return [process.name for process in self.processes if not process.alive]

    @property
    def fix(self) -> str:
        """What to do; nothing where nothing is to be done."""
        if self.condition is Condition.DAMAGED:
            dead, logs = ", ".join(self.dead), self.home / "logs"
            return f"{dead} died (logs in {logs}): `slipway sandbox stop`, then start it again"
        if self.condition is Condition.STALE:
            return "it did not end by itself: `slipway sandbox start` clears up and starts a fresh one"
        return ""

    def text(self) -> str:
        """For a person."""
        head = f"sandbox: {self.condition}, in {self.home}"
        if self.condition is Condition.STOPPED:
            return "sandbox: stopped"
        rows = [
            (
                process.name,
                str(process.pid),
                f"{process.memory / _MIB:.0f} MiB" if process.memory is not None else "gone",
            )
            for process in self.processes
        ]
        total = f"memory: {self.memory / _MIB:.0f} MiB together"
        places = [f"{name}: {address}" for name, address in (self.addresses or {}).items()]
        parts = [head, table(rows, right=frozenset({1, 2}), indent="  "), total, *places, self.fix]
        return "\n".join(part for part in parts if part)

    def as_data(self) -> dict[str, Any]:
        """For a program."""
        return {
            "condition": self.condition.value,
            "home": str(self.home),
            "processes": [asdict(process) for process in self.processes],
            "memory": self.memory,
            "addresses": dict(self.addresses or {}),
        }
