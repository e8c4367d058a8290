"""The project's own stacks as recordings, each made once for all tests of a process: it takes seconds (2026-11)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from slipway.render.program import record_platform
from slipway.render.recording import Recording
from spec.settings import Platform, load, read_stack, stacks_in
from tests.support import mocks

assert mocks  # it silences what the SDK says of itself when it is first touched
FOLDER: Final = Path(__file__).resolve().parents[2] / "stacks"
NAMES: Final = tuple(stacks_in(FOLDER))


@cache
def platform_of(stack: str) -> Platform:
    """Settings of a stack."""
    return load(read_stack(stack, FOLDER), stack=stack).platform


def recorded(stack: str, *, preview: bool = False) -> Recording:
    """The whole program of a stack."""
    return _recorded(stack, preview)


@cache
def _recorded(stack: str, preview: bool) -> Recording:
    """Both arguments, always: to `cache`, a default that is left out is not the same as one that is given."""
    return record_platform(platform_of(stack), stack=stack, preview=preview)
