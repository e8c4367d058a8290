"""The base of all errors that are meant for the user, and the exit codes of the command."""

from __future__ import annotations

from typing import ClassVar, Final

EXIT_FAILURE: Final = 1
EXIT_REFUSED: Final = 2
"""A wrong stack file or a wrong command line; also what argparse exits with."""
# 3 to 9 are the engine's own, which pass through unchanged (https://www.pulumi.com/docs/iac/cli/exit-codes/).
EXIT_PROTECTED: Final = 10
"""Protected resources block a destroy."""
EXIT_STATEFUL: Final = 11
"""The plan would replace or delete a stateful resource that no `--allow-replace` names."""
EXIT_INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""


class SlipwayError(Exception):
    """A failure that the user can do something about: the text says what is wrong and how to fix it.

    Attributes:
        exit_code: What the command exits with.
        complete: The text is a report of its own, printed without the command's name before it.
    """

    complete: ClassVar[bool] = False

    def __init__(self, message: str, exit_code: int = EXIT_FAILURE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
