"""One case in the table of bad inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

LONG: Final = "a" * 64


@dataclass(frozen=True)
class Bad:
    """One mistake: changes to the base stack, and the one problem that they must cause.

    Attributes:
        number: Number in the project's list of 64 bad inputs; a number may have several cases.
        rule: Part of the reported rule.
        fix: Part of the reported fix.
    """

    number: int
    what: str
    changes: dict[str, Any] = field(hash=False)
    path: str
    rule: str
    fix: str

    def __str__(self) -> str:
        return f"{self.number} {self.what}"
