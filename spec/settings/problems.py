"""Problems of a stack file, all in one form: path, rule, value, fix.

Every check of the configuration yields `Problem`s and none raises, so that a user sees all of them in one report
instead of fixing a file one error at a time. No report repeats a value that looks like a secret.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from spec.errors import EXIT_REFUSED, SlipwayError, visible

SHOWN_VALUE_LENGTH: Final = 80
"""Characters of a value that a message shows: a pasted file in a field must not fill the terminal."""


@dataclass(frozen=True)
class Problem:
    """One thing to fix in a stack file.

    Attributes:
        path: Where, as the file spells it: `pools.a100.max`.
        rule: What must hold, as a sentence without its full stop.
        value: Value in the file; `None` if there is none.
        fix: What to write instead.
    """

    path: str
    rule: str
    value: object
    fix: str

    def __str__(self) -> str:
        given = "nothing" if self.value is None else _shorten(repr(self.value))
        return visible(f"{self.path}: {self.rule} (given: {given}). {self.fix}")


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
_SECRETS: Final[Mapping[str, re.Pattern[str]]] = {
    "an AWS access key": re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{20,}\b"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an API key": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}"),
}


def secrets_in(text: str) -> Iterator[str]:
    """Kinds of secret that a text looks like."""
    return (what for what, pattern in _SECRETS.items() if pattern.search(text))


def without_secrets(problem: Problem) -> Problem:
    """The problem, with its value hidden if that looks like a secret."""
    return replace(problem, value=HIDDEN) if any(secrets_in(repr(problem.value))) else problem
