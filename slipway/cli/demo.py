"""`slipway init --demo`: two answers about an example of the package, without a clone, an account or Go."""

import argparse
import contextlib
import shutil
from pathlib import Path
from typing import Final

EXAMPLE: Final = Path(__file__).resolve().parents[1] / "demo"  # a project with stack dev, and a Job
ANSWERS: Final = ("why sweep.yaml --stack dev -n vision", "report dev --out out")


def run(options: argparse.Namespace) -> int:
    """Write the example to a folder, unless it is there, and show what two commands say of it; the exit code."""
    from slipway.cli import main  # noqa: PLC0415 - it imports this module's table

    folder: Path = options.demo
    if not folder.exists():
        shutil.copytree(EXAMPLE, folder)
    with contextlib.chdir(folder):
        for words in ANSWERS:
            print(f"$ slipway {words}", flush=True)
            code = main(words.split())
    print(
        "" if code else f"\nOpen {folder}/out/index.html. In {folder} try `slipway cost dev`, or change the stack file."
    )
    return code
