"""One row of the table of bad inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

LONG: Final = "a" * 64


@dataclass(frozen=True)
class Bad:
    """One mistake: changes to the base stack, and the one problem that they must yield.

    Attributes:
        number: Of the project's list of 64 bad inputs; one number may have several rows.
        rule: Part of what the report must say of the rule.
        fix: Part of what it must say to do.
    """

    number: int
    what: str
    changes: dict[str, Any] = field(hash=False)
    path: str
    rule: str
    fix: str

    def __str__(self) -> str:
        return f"{self.number} {self.what}"
