"""The one clock of the project: the day on which dated facts, support dates and suppressions are evaluated."""

import os
from datetime import UTC, date, datetime
from typing import Final

from spec.errors import EXIT_REFUSED, SlipwayError

VARIABLE: Final = "SLIPWAY_TODAY"
"""Environment variable that sets the day for this process and the processes that it starts; empty is unset."""


def today() -> date:
    """Return the day of `SLIPWAY_TODAY`, or the current day in UTC, which is how AWS counts days."""
    given = os.environ.get(VARIABLE)
    return _parsed(given) if given else current()


def current() -> date:
    """Return the current day in UTC, whatever `SLIPWAY_TODAY` says: for the age of facts, not for evaluation."""
    return datetime.now(UTC).date()  # noqa: TID251 - the one place that reads it


def _parsed(given: str) -> date:
    try:
        day = date.fromisoformat(given)
    except ValueError:
        day = None
    # Since Python 3.11 `fromisoformat` also takes 20270401 and 2027-W13-4, which a reader may take for another day.
    if day is None or day.isoformat() != given:
        msg = (
            f"{VARIABLE}: the day on which stacks are evaluated must be an ISO date (given: {given!r}). "
            "Write it like 2027-04-01, or unset the variable for the current day."
        )
        raise SlipwayError(msg, EXIT_REFUSED)
    return day
