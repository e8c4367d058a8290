"""How a workload is refused: all that is wrong with it in one error, before anything is made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import pulumi

from spec.settings.problems import ConfigurationError, Problem

NAME_LENGTH: Final = 45
"""Letters of a workload's name. The host name of a pod ends with what controllers add (`-predictor-`, `-node-0-15`, a
hash) and has 63 at most (RFC 1123)."""
_NAME: Final = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


class WorkloadRefused(ConfigurationError, pulumi.RunError):  # noqa: N818 - it reads as what happened
    """A workload that would fail later. As a `RunError` it ends a Pulumi program with its text and no traceback."""


def refuse_if_any(kind: str, name: str, problems: Iterable[Problem]) -> None:
    """Raise for problems.

    Raises:
        WorkloadRefused: Where there is one, with all of them.
    """
    everything = [*name_problems(name), *problems]
    if everything:
        raise WorkloadRefused(everything, f"{kind} {name}")


def name_problems(name: str) -> Iterator[Problem]:
    """What is wrong with a workload's name."""
    if len(name) > NAME_LENGTH or not _NAME.fullmatch(name):
        rule = f"a name has at most {NAME_LENGTH} lower-case letters, digits and hyphens, a letter first"
        yield Problem("name", rule, name, "Shorten it; controllers add to it, and a host name has 63 letters.")
