"""The project's own stacks as recordings, each created once per process, because it takes seconds (2026-11)."""

from functools import cache
from pathlib import Path
from typing import Final

from slipway.render.program import record_platform
from slipway.render.recording import Recording
from spec.catalog import prices
from spec.settings import Platform, load, read_stack, stacks_in
from tests.support import mocks

assert mocks  # it silences warnings of the SDK at import
FOLDER: Final = Path(__file__).resolve().parents[2] / "stacks"
NAMES: Final = tuple(stacks_in(FOLDER))


@cache
def platform_of(stack: str) -> Platform:
    """Settings of a stack."""
    return load(read_stack(stack, FOLDER), stack=stack).platform


def recorded(stack: str, *, preview: bool = False) -> Recording:
    """The resources of a whole stack."""
    return _recorded(stack, preview, id(prices.HERE))


@cache
def _recorded(stack: str, preview: bool, _book: int) -> Recording:
    """Takes both arguments, because `cache` distinguishes an omitted default from an explicit one.

    Recording rules contain prices: what was recorded with those of `price_book` is wrong for tests of the catalog's.
    """
    return record_platform(platform_of(stack), stack=stack, preview=preview)
