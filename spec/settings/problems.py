"""Problems of a stack file, all in one form: path, rule, value, fix.

Every check of the configuration yields `Problem`s and none raises, so that a user sees all of them in one report
instead of fixing a file one error at a time. No report repeats a value that looks like a secret.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from spec.catalog.credentials import credentials
from spec.errors import EXIT_REFUSED, SlipwayError, visible

SHOWN_VALUE_LENGTH: Final = 80
"""Characters of a value that a message shows: a pasted file in a field must not fill the terminal."""


@dataclass(frozen=True)
class Problem:
    """One thing to fix in a stack file."""

    path: str  # where, as the file spells it: `pools.a100.max`
    rule: str  # what must hold, as a sentence without its full stop
    value: object  # value in the file; `None` if there is none
    fix: str  # what to write instead
    at: str = ""  # place in the file, as editors read it: `stacks/Pulumi.dev.yaml:25:7`; empty if it is not known

    def __str__(self) -> str:
        given = "nothing" if self.value is None else _shorten(repr(self.value))
        at = f"{self.at}: " if self.at else ""
        return visible(f"{at}{self.path}: {self.rule} (given: {given}). {self.fix}")


class ConfigurationError(SlipwayError):
    """A stack file that is refused, with all of its problems."""

    complete: ClassVar[bool] = True

    def __init__(self, problems: Iterable[Problem], source: str = "configuration") -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.path, problem.rule)))
        self.source = source
        super().__init__(str(self), EXIT_REFUSED)

    def __str__(self) -> str:
        count = len(self.problems)
        head = f"{self.source}: {count} problem{'s' if count != 1 else ''}, nothing was changed"
        return "\n".join([head, *(f"  - {problem}" for problem in self.problems)])


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN_VALUE_LENGTH else f"{text[: SHOWN_VALUE_LENGTH - 1]}…"


HIDDEN: Final = "(not shown)"


def without_secrets(problem: Problem) -> Problem:
    """The problem, with its value hidden if that looks like a secret."""
    return replace(problem, value=HIDDEN) if any(credentials(repr(problem.value))) else problem
