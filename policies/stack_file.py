"""What the stack file gives, for rules that compare the program with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.composition.boundaries import Boundaries
    from spec.settings.platform import Platform

KEY = "slipway:platform"
"""Key of the settings in the configuration of a stack."""


class StackFile:
    """The settings of a stack, which rules read on first use."""

    def __init__(self, platform: Callable[[], Platform]) -> None:
        self._platform = platform

    @cached_property
    def boundaries(self) -> Boundaries:
        """What the platform's components declare for these settings.

        Raises:
            SlipwayError: The settings are invalid. The program ends with the same error.
        """
        # The components take 0.6 s of CPU to import (2026-11), and the pack of another program needs none of them.
        from components.composition.boundaries import boundaries  # noqa: PLC0415

        return boundaries(self._platform())


def from_platform(platform: Platform) -> StackFile:
    """That of settings which are loaded already."""
    return StackFile(lambda: platform)


def from_configuration(configuration: Mapping[str, str], stack: str) -> StackFile | None:
    """That of a stack's configuration as the engine sends it; None for a program without such settings.

    It is read at once, in a thread: the engine starts the program in the meantime.
    """
    if KEY not in configuration:
        return None

    def platform() -> Platform:
        from spec.settings import load  # noqa: PLC0415 - as above

        return load(json.loads(configuration[KEY]), stack=stack).platform

    stack_file = StackFile(platform)
    ThreadPoolExecutor(1, "stack-file").submit(lambda: stack_file.boundaries)
    return stack_file
