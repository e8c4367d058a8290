"""The numbers that can be measured, by name, in the order in which they disturb each other least."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure
from tests.bench.numbers import growth, memory, order, policies, preview, refusal, render, setup, speed, tests, up

NUMBERS: Final[Mapping[str, Callable[[Bench], list[Figure]]]] = {
    "speed": speed.measure,
    "setup": setup.measure,
    "refusal": refusal.measure,
    "render": render.measure,
    "growth": growth.measure,
    "order": order.measure,
    "up": up.measure,
    "policies": policies.measure,
    "preview": preview.measure,
    # After `preview`, because the stack that it leaves standing will do.
    "memory": memory.measure,
    "tests": tests.measure,
}
