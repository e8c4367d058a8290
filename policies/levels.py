"""Enforcement levels of rules by environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pulumi_policy import EnforcementLevel

ENVIRONMENTS: Final = ("dev", "staging", "prod")
STRICTEST: Final = "prod"
"""Environment whose levels apply to stacks of any other name, so that a new environment starts strict."""

_LETTERS: Final = {
    "M": EnforcementLevel.MANDATORY,
    "A": EnforcementLevel.ADVISORY,
    "-": EnforcementLevel.DISABLED,
}


def environment(stack: str) -> str:
    """The environment whose levels apply to a stack; a stack has the name of its environment."""
    return stack if stack in ENVIRONMENTS else STRICTEST


@dataclass(frozen=True)
class Levels:
    """Levels of one rule for dev, staging and prod, written `A/M/M`: M mandatory, A advisory, `-` off."""

    text: str

    def __post_init__(self) -> None:
        letters = self.text.split("/")
        if len(letters) != len(ENVIRONMENTS) or not set(letters) <= set(_LETTERS):
            msg = f"levels are one of M, A, - for each of {', '.join(ENVIRONMENTS)}, as in 'A/M/M'; got {self.text!r}"
            raise ValueError(msg)

    def of(self, environment: str) -> EnforcementLevel:
        """Level in an environment."""
        return _LETTERS[self.text.split("/")[ENVIRONMENTS.index(environment)]]
