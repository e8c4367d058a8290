"""The cost difference of a change of settings: from which settings, line by line, and as text.

Both sides are priced with today's program and prices, so that the difference comes from the settings only.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from slipway.cost.estimates import (
    Row,
    fitted,
    folded,
    foreign_prices,
    money,
    monthly,
    number,
    numbered,
    three,
    titled,
    unpriced,
)
from slipway.engine.project import Project, take_out
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.pricing.model import Amounts, Estimate, Line, Unpriced
from spec.settings import ConfigurationError, Platform, load, read_stack

# The settings that a cost estimate is compared with: those of a commit, or those of the last update of a stack.


def at_commit(project: Project, stack: str, ref: str) -> Platform | None:
    """The settings of a stack at a commit, branch or tag; None if the commit has no such stack."""
    with tempfile.TemporaryDirectory(prefix="slipway-cost-") as folder:
        past = Project(Path(folder))
        take_out(project, ref, past.root, under=past.stacks.name)
        if not past.has(stack):
            return None
        try:
            return load(read_stack(stack, past.stacks), stack=stack).platform
        except ConfigurationError as error:
            what = f"the settings of {stack} at {ref}"
            raise _refused(what, error) from error


def as_deployed(settings: object, stack: str) -> Platform:
    """The settings of an update (`slipway.engine.state`)."""
    try:
        return load(settings, stack=stack).platform
    except ConfigurationError as error:
        what = f"the settings of the last update of {stack}"
        raise _refused(what, error) from error


def _refused(what: str, error: ConfigurationError) -> SlipwayError:
    msg = f"{what} are not valid for this version of the program, so it can't price them:\n{error}"
    return SlipwayError(msg, EXIT_REFUSED)


# The cost difference of a change of settings, line by line.


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
    """The difference of two estimates of a stack."""

    before: Estimate  # the estimate of the baseline
    after: Estimate  # the estimate of the current settings
    changes: tuple[Change, ...]  # lines whose amounts differ, largest difference first
    new: tuple[Unpriced, ...]  # items that became unpriced
    gone: tuple[Unpriced, ...]  # items that are no longer unpriced

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


# A cost difference as text: changed lines, totals, and items that became unpriced.


_HEAD: Final = ("service", "item", "before", "after", "floor USD/month", "expected", "ceiling")
_TEXT: Final = 2
_CENT: Final = "0.01"


def changes(result: Difference, name: str, *, wide: bool = False) -> str:
    """Every line that differs, in USD a month, largest first; ends with a newline.

    Args:
        name: Name of the baseline: `main`, `what is deployed`.
        wide: Also notes and counts, in as many columns as they take.
    """
    if not result.changes and not result.new and not result.gone:
        return f"The cost does not differ from {name}.\n"
    totals = (
        ("before", "", "", "", *three(result.before.amounts.month, _CENT)),
        ("after", "", "", "", *three(result.after.amounts.month, _CENT)),
        ("difference", "", "", "", *_signed(result.amounts)),
    )
    rows = [_HEAD, *(_row(change, note=wide) for change in result.changes), *totals]
    head = f"Compared with {name}, a month (730 h). Both settings are priced with today's program and today's prices."
    parts = [
        head if wide else folded(head),
        "\n".join(numbered(rows, _TEXT) if wide else fitted([(*row[:_TEXT], *row[-3:]) for row in rows])),
        "\n".join(f"newly unpriced: {item.what} ({item.why})" for item in result.new),
        "\n".join(f"no longer unpriced: {item.what}" for item in result.gone),
        foreign_prices(result.after.region),
    ]
    if not wide:
        parts[2:] = ["\n".join(map(folded, part.splitlines())) for part in parts[2:]]
    return "\n\n".join(part for part in parts if part) + "\n"


def signed(amount: Decimal, digits: str = _CENT) -> str:
    """With its sign: `+12.30`, `-4.00`, `0.00`."""
    text = money(amount, digits)
    shown = Decimal(text.replace(",", ""))
    return f"+{text}" if shown > 0 else text if shown else text.replace("-0.00", "0.00")


def _row(change: Change, *, note: bool) -> Row:
    what = titled(change.line, note=note)
    return (change.line.service, what, _count(change.before), _count(change.after), *_signed(change.amounts))


def _count(line: Line | None) -> str:
    if line is None:
        return "-"
    counts: Sequence[str] = list(dict.fromkeys(number(each) for each in (line.minimum, line.typical, line.maximum)))
    return " / ".join(counts)


def _signed(amounts: Amounts) -> tuple[str, str, str]:
    month = amounts.month
    return signed(month.floor), signed(month.expected), signed(month.ceiling)


def of_difference(result: Difference, name: str) -> dict[str, Any]:
    """A difference as plain values; `name` is the name of the baseline."""
    return {
        "against": name,
        "usdPerMonth": monthly(result.amounts),
        "before": monthly(result.before.amounts),
        "after": monthly(result.after.amounts),
        "changes": [_change(change) for change in result.changes],
        "nowUnpriced": unpriced(result.new),
        "noLongerUnpriced": unpriced(result.gone),
    }


def _change(change: Change) -> dict[str, Any]:
    line = change.line
    return {
        "service": line.service,
        "pool": line.pool,
        "item": line.item,
        "note": line.note,
        "usdPerMonth": monthly(change.amounts),
    }
