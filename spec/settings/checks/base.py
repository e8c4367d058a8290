"""Checks: functions from valid parts to problems, run only if the parts that they need are valid."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import FunctionType, ModuleType
from typing import Any, Final

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


Find = Callable[..., Iterable[Problem]]
_WARNINGS: Final = set[Find]()
_OF_OURS: Final = set[Find]()


def warns(find: Find) -> Find:
    """Mark a check whose problems are only warnings."""
    _WARNINGS.add(find)
    return find


def of_ours(find: Find) -> Find:
    """Mark a check of a cluster that the stack makes."""
    _OF_OURS.add(find)
    return find


@dataclass(frozen=True)
class Check:
    """One check: the function, and the parts that it needs, which its parameters after the context name."""

    find: Find
    needs: tuple[str, ...]


def checks_of(module: ModuleType) -> Iterator[Check]:
    """The checks that a module defines: its public functions whose first parameter is a context."""
    for name, find in vars(module).items():
        if isinstance(find, FunctionType) and find.__module__ == module.__name__ and not name.startswith("_"):
            first, *needs = find.__code__.co_varnames[: find.__code__.co_argcount]
            if first.lstrip("_") == "context":
                yield Check(find, tuple(need.lstrip("_") for need in needs))


def run(checks: Sequence[Check], context: Context) -> tuple[list[Problem], list[Problem]]:
    """Run the checks whose parts are valid; return errors and warnings."""
    errors: list[Problem] = []
    warnings: list[Problem] = []
    cluster = context.parts.get("cluster")
    exists = cluster is not None and cluster.existing is not None
    for check in checks:
        if all(need in context.parts for need in check.needs) and not (exists and check.find in _OF_OURS):
            problems = check.find(context, *(context.parts[need] for need in check.needs))
            (warnings if check.find in _WARNINGS else errors).extend(problems)
    return errors, warnings
