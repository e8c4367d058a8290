"""Patterns of text settings, each with the rule and the fix that a report gives for a value that does not match."""

from __future__ import annotations

from typing import Final

from pydantic import StringConstraints

EXPLANATIONS: Final[dict[str, tuple[str, str]]] = {}
"""Rule and fix by pattern: pydantic's error names the pattern alone."""


def pattern(
    regex: str, rule: str, fix: str, *, min_length: int | None = None, max_length: int | None = None
) -> StringConstraints:
    """Constraint of a text setting, explained to the user.

    Args:
        regex: Pattern of the whole value.
        rule: What must hold, as in `Problem.rule`.
        fix: What to write instead, as in `Problem.fix`.
        min_length: Minimum number of characters.
        max_length: Maximum number of characters.
    """
    EXPLANATIONS[regex] = (rule, fix)
    return StringConstraints(pattern=regex, min_length=min_length, max_length=max_length)
