"""Reports all problems of a workload in one error, before a resource is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import pulumi

from spec.settings.problems import ConfigurationError, Problem

NAME_LENGTH: Final = 45
"""Maximum length of a workload's name. Controllers add suffixes (`-predictor-`, `-node-0-15`, a hash) to the host name
of a pod, which has at most 63 characters (RFC 1123)."""
_NAME: Final = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


class WorkloadRefused(ConfigurationError, pulumi.RunError):  # noqa: N818 - the name says what happened
    """A workload with problems. As a `RunError` it ends a Pulumi program with its message and without a traceback."""


def refuse_if_any(kind: str, name: str, problems: Iterable[Problem]) -> None:
    """Raise if there are problems.

    Raises:
        WorkloadRefused: With all problems.
    """
    everything = [*name_problems(name), *problems]
    if everything:
        raise WorkloadRefused(everything, f"{kind} {name}")


def name_problems(name: str) -> Iterator[Problem]:
    """What is wrong with a workload's name."""
    if len(name) > NAME_LENGTH or not _NAME.fullmatch(name):
        rule = f"a name has at most {NAME_LENGTH} lowercase letters, digits and hyphens, and begins with a letter"
        yield Problem("name", rule, name, "Shorten it; controllers add suffixes, and a host name has 63 characters.")
