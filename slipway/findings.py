"""What `slipway doctor` reports: one line of state, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """What a finding means."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; nothing fails because of it."""
    FAILED = "FAILED"
    """The command that follows fails until this is fixed: `slipway up STACK --sandbox`, or with `--aws` the `up` on
    AWS."""


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    level: Level
    what: str
    state: str
    fix: str = ""
