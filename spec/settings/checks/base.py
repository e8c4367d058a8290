"""Checks: functions from valid parts to problems, run only if the parts that they need are valid."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from spec.settings.problems import Problem


@dataclass(frozen=True)
class Context:
    """Input of the checks besides the parts that they need."""

    stack: str  # name of the stack
    today: date  # day that dated facts are held against
    raw: Mapping[str, Any]  # content of the file, before presets and defaults
    parts: Mapping[str, Any]  # valid parts by their field name; invalid parts are missing

    def own_keys(self, collection: str, key: str) -> Mapping[str, Any]:
        """Keys that the file itself sets in one entry of a collection."""
        entry = self.raw.get(collection, {}).get(key)
        return entry if isinstance(entry, Mapping) else {}

    def named(self, collection: str) -> tuple[str, ...]:
        """Names of all entries of a collection, including invalid ones: a reference to one of those is no mistake."""
        entries = self.raw.get(collection)
        return tuple(map(str, entries)) if isinstance(entries, Mapping) else ()

    def whole(self, collection: str) -> bool:
        """Whether every entry of a collection is valid; otherwise a missing one may be among the invalid ones."""
        return len(self.parts[collection]) == len(self.named(collection))


@dataclass(frozen=True)
class Check:
    """One check: the parts that it needs, the function, whether its problems are only warnings, and whether it is of a
    cluster that the stack makes."""

    find: Callable[..., Iterable[Problem]]
    needs: tuple[str, ...] = field(default=())
    warns: bool = False
    of_ours: bool = False


def run(checks: Sequence[Check], context: Context) -> tuple[list[Problem], list[Problem]]:
    """Run the checks whose parts are valid; return errors and warnings."""
    errors: list[Problem] = []
    warnings: list[Problem] = []
    cluster = context.parts.get("cluster")
    exists = cluster is not None and cluster.existing is not None
    for check in checks:
        if all(need in context.parts for need in check.needs) and not (check.of_ours and exists):
            problems = check.find(context, *(context.parts[need] for need in check.needs))
            (warnings if check.warns else errors).extend(problems)
    return errors, warnings
