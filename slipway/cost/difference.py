"""The cost difference of a change of settings, line by line."""

from __future__ import annotations

from dataclasses import dataclass

from spec.pricing.model import Amounts, Estimate, Line, Unpriced


@dataclass(frozen=True, kw_only=True)
class Change:
    """A line before and after; None if the line does not exist."""

    before: Line | None
    after: Line | None

    @property
    def line(self) -> Line:
        """The line after the change, or before it if the line is removed."""
        line = self.after or self.before
        if line is None:
            msg = "a change needs a line"
            raise ValueError(msg)
        return line

    @property
    def amounts(self) -> Amounts:
        """What it adds, in USD per hour; negative if it saves."""
        return _amounts(self.after) - _amounts(self.before)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference of two estimates of a stack.

    Attributes:
        before: The estimate of the baseline.
        after: The estimate of the current settings.
        changes: Lines whose amounts differ, largest difference first.
        new: Items that became unpriced.
        gone: Items that are no longer unpriced.
    """

    before: Estimate
    after: Estimate
    changes: tuple[Change, ...]
    new: tuple[Unpriced, ...]
    gone: tuple[Unpriced, ...]

    @property
    def amounts(self) -> Amounts:
        """What the change adds in total, in USD per hour; negative if it saves."""
        return self.after.amounts - self.before.amounts


def difference(before: Estimate, after: Estimate) -> Difference:
    """Compare two estimates; lines match by service, pool and item."""
    old, new = ({line.key: line for line in estimate.lines} for estimate in (before, after))
    changes = [Change(before=old.get(key), after=new.get(key)) for key in sorted({*old, *new})]
    return Difference(
        before=before,
        after=after,
        changes=tuple(sorted((change for change in changes if change.amounts != Amounts()), key=_rank)),
        new=tuple(item for item in after.unpriced if item not in before.unpriced),
        gone=tuple(item for item in before.unpriced if item not in after.unpriced),
    )


def _amounts(line: Line | None) -> Amounts:
    return Amounts() if line is None else line.amounts


def _rank(change: Change) -> tuple[object, ...]:
    amounts = change.amounts
    sizes = (abs(amounts.expected), abs(amounts.ceiling), abs(amounts.floor))
    return (*(-size for size in sizes), change.line.key)
