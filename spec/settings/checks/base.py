"""What a check is: a function from valid parts to problems, run only when the parts that it needs are valid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from spec.settings.problems import Problem


@dataclass(frozen=True)
class Context:
    """What checks may look at.

    Attributes:
        stack: Name of the stack.
        today: Day that dated facts are held against.
        raw: The file's own words, before presets and defaults.
        parts: Valid parts by their field name; a part that is wrong is not there.
    """

    stack: str
    today: date
    raw: Mapping[str, Any]
    parts: Mapping[str, Any]

    def own_keys(self, collection: str, key: str) -> Mapping[str, Any]:
        """What the file itself says of one entry of a collection."""
        entry = self.raw[collection][key]
        return entry if isinstance(entry, Mapping) else {}

    def named(self, collection: str) -> tuple[str, ...]:
        """Names of all entries of a collection, wrong ones among them: who refers to such a one makes no mistake."""
        entries = self.raw.get(collection)
        return tuple(map(str, entries)) if isinstance(entries, Mapping) else ()

    def whole(self, collection: str) -> bool:
        """Whether every entry of a collection is valid: else one that is looked for may be among the wrong ones."""
        return len(self.parts[collection]) == len(self.named(collection))


@dataclass(frozen=True)
class Check:
    """One check: what it needs, what it finds, and whether that stops the run."""

    find: Callable[..., Iterable[Problem]]
    needs: tuple[str, ...] = field(default=())
    warns: bool = False


def run(checks: Sequence[Check], context: Context) -> tuple[list[Problem], list[Problem]]:
    """Run what can be run; give errors and warnings."""
    errors: list[Problem] = []
    warnings: list[Problem] = []
    for check in checks:
        if all(need in context.parts for need in check.needs):
            found = check.find(context, *(context.parts[need] for need in check.needs))
            (warnings if check.warns else errors).extend(found)
    return errors, warnings
