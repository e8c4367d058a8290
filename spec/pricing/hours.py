"""Hours of pools: when their schedules let them run, and how many nodes run on average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Final

from spec.settings.cost import Schedule
from spec.settings.usage import PoolUse

WEEK: Final = 168
_DAY: Final = 24 * 60
_FIRST: Final = date(2026, 1, 5)
"""A Monday; the 364 days from it are 52 whole weeks."""
_DAYS: Final = 364
_WORDS: Final[Mapping[str, int]] = {
    **{name: at for at, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))},
    **{
        name: at
        for at, name in enumerate(
            ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), start=1
        )
    },
}


def share_on(pool: str, schedules: Mapping[str, Schedule]) -> Fraction:
    """Part of the time in which no schedule stops a pool."""
    return next(
        (_share(each.stop, each.start) for each in schedules.values() if pool in each.pools and each.start), Fraction(1)
    )


def average(minimum: int, use: PoolUse, on: Fraction) -> Decimal:
    """Average number of nodes over a week.

    Args:
        minimum: Minimum of the pool, which runs while no schedule stops it.
        use: Declared use of the pool.
        on: Part of the time in which no schedule stops it.
    """
    running = on * WEEK
    wanted = 5 * Fraction(str(use.hours_per_weekday)) + 2 * Fraction(str(use.hours_per_weekend_day))
    used = min(wanted, running)
    nodes = (Fraction(str(use.nodes)) * used + minimum * (running - used)) / WEEK
    return to_decimal(nodes)


def to_decimal(part: Fraction) -> Decimal:
    """A fraction as a decimal of 28 digits."""
    return Decimal(part.numerator) / Decimal(part.denominator)


@cache
def _share(stop: str, start: str) -> Fraction:
    """Part of a year between a start and the next stop."""
    # If both are in the same minute, the start applies, because it is sorted after the stop.
    events = sorted([(minute, 0) for minute in _minutes(stop)] + [(minute, 1) for minute in _minutes(start)])
    if not events:
        return Fraction(1)
    around = [*events, (events[0][0] + _DAYS * _DAY, events[0][1])]
    running = sum(later - earlier for (earlier, on), (later, _) in pairwise(around) if on)
    return Fraction(running, _DAYS * _DAY)


def _minutes(expression: str) -> Iterator[int]:
    minutes, hours, days, months, weekdays = (_values(part, at) for at, part in enumerate(expression.split()))
    either = expression.split()[2] != "*" and expression.split()[4] != "*"
    for day in range(_DAYS):
        when = _FIRST + timedelta(days=day)
        in_month, in_week = when.day in days, when.isoweekday() % 7 in weekdays
        # With both fields set, cron matches either (crontab(5)).
        if when.month in months and ((in_month or in_week) if either else (in_month and in_week)):
            yield from (day * _DAY + hour * 60 + minute for hour in hours for minute in minutes)


_BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def _values(text: str, at: int) -> frozenset[int]:
    low, high = _BOUNDS[at]
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        start = low if first == "*" else _number(first)
        end = high if first == "*" or (step and not last) else _number(last or first)
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _number(text: str) -> int:
    return _WORDS[text.upper()] if text.upper() in _WORDS else int(text)
