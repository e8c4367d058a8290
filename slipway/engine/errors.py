"""The error of the command: one message for the user, and an exit code."""

from __future__ import annotations

from typing import Final

EXIT_FAILURE: Final = 1
EXIT_REFUSED: Final = 2
"""A wrong stack file or a wrong command line; also what argparse exits with."""
# 3 to 9 are the engine's own, which pass through unchanged (https://www.pulumi.com/docs/iac/cli/exit-codes/).
EXIT_PROTECTED: Final = 10
"""Protected resources stand in the way of a destroy."""
EXIT_STATEFUL: Final = 11
"""The plan would replace or delete what keeps state, and nobody said so."""
EXIT_INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""


class SlipwayError(Exception):
    """A failure that the user can do something about. The text says what is wrong and how to mend it."""

    def __init__(self, message: str, exit_code: int = EXIT_FAILURE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
