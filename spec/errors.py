"""The base of all errors that are meant for the user, and the exit codes of the command."""

import unicodedata
from typing import ClassVar, Final, NoReturn

EXIT_FAILURE: Final = 1
EXIT_REFUSED: Final = 2  # an invalid stack file or command line; argparse exits with the same code
# 3 to 9 are the engine's codes, which pass through unchanged (https://www.pulumi.com/docs/iac/cli/exit-codes/).
EXIT_CANCELLED: Final = 8
"""A cancelled run. The engine itself ends with 0 if it was deleting: it looks for a cancellation before its deletions
(pulumi v3.258.0, pkg/resource/deploy/deployment_executor.go); with 1 if an operation was cancelled."""
EXIT_PROTECTED: Final = 10  # protected resources block a destroy
EXIT_STATEFUL: Final = 11  # the plan would replace or delete a stateful resource that no `--allow-replace` names
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as in shells
EXIT_CLOSED: Final = 141  # 128 + SIGPIPE: the reader of the output ended first, as in `slipway cost dev | head`


LINES: Final = "\n\t"  # what lays out a text of several lines


def visible(text: str, kept: str = "") -> str:
    """A text that others may have written, with escapes for what a terminal obeys, hides or turns, but for `kept`; a
    value has one line, so that it can't look like a line of its own."""
    # Spaces of other widths are not printable to Python, and harmless.
    return "".join(
        one if one in kept or one.isprintable() or unicodedata.category(one) == "Zs"
        else one.encode("unicode_escape", "surrogatepass").decode()
        for one in text
    )  # fmt: skip


class SlipwayError(Exception):
    """A failure that the user can fix: the text says what is wrong and how to fix it.

    Attributes:
        exit_code: Exit code of the command.
        complete: The text is a complete report, printed without the command's name before it.
    """

    complete: ClassVar[bool] = False

    def __init__(self, message: str, exit_code: int = EXIT_FAILURE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def fail(text: str, cause: BaseException | None = None, *, code: int = EXIT_FAILURE) -> NoReturn:
    """Raises SlipwayError with this text; the cause, if there is one, is shown with `--debug`."""
    if cause is None:
        raise SlipwayError(text, code)
    raise SlipwayError(text, code) from cause


def refuse(text: str, cause: BaseException | None = None) -> NoReturn:
    """Raises SlipwayError for what a user wrote, with the exit code of a refusal."""
    fail(text, cause, code=EXIT_REFUSED)
