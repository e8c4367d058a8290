"""Detection of values that look like secrets: a stack file must hold none, and no report repeats one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from spec.settings.problems import Problem

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
