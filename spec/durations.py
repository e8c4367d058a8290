"""Go durations of hours, minutes and seconds, as Karpenter's CRDs and the engine's timeouts take them: `1h30m`."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {"h": 3600, "m": 60, "s": 1}
_PART: Final = re.compile(r"([0-9]+)([hms])")


def seconds(duration: str) -> int:
    """Seconds of a duration."""
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(duration))
