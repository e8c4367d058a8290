"""The numbers that can be measured, by name, in an order in which they do not disturb each other."""

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
    # After `preview`, because it needs the stack that this leaves up.
    "memory": memory.measure,
    "tests": tests.measure,
}
