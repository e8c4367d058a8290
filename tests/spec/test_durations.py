"""Go durations in seconds."""

from __future__ import annotations

import pytest

from spec.durations import seconds


@pytest.mark.parametrize(
    ("duration", "expected"), [("24h", 86400), ("1h30m", 5400), ("90s", 90), ("10m", 600), ("0s", 0)]
)
def test_hours_minutes_and_seconds_add_up(duration: str, expected: int) -> None:
    assert seconds(duration) == expected
