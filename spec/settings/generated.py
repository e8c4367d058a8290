"""The command line of a module that generates one file from the settings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def write_or_check(arguments: Sequence[str], *, file: Path, text: str, module: str) -> int:
    """Write a generated file, or with `--check` report whether the committed one is current; the exit code.

    It is 1 if the file is out of date, and 2 for any other argument.

    Args:
        arguments: Of the command line, without the program.
        file: The generated file.
        text: What it should contain.
        module: The module that generates it: `python -m MODULE` is named in the message.
    """
    if not arguments:
        file.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if list(arguments) != ["--check"]:
        sys.stderr.write(f"unknown arguments: {' '.join(arguments)}; the only option is --check\n")
        return 2
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{file} is out of date: run `python -m {module}`.\n")
    return 1
