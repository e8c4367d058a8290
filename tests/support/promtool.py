"""Prometheus' promtool, which parses queries and evaluates rules like Prometheus."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.patience import SECONDS

BUILT: Final = Path(__file__).parents[2] / "build" / "promtool" / "promtool"
"""Path to which tools/promtool.sh installs it."""
REASON: Final = "no promtool here: run `tools/promtool.sh` on Debian or Ubuntu, or put Prometheus' promtool on PATH"


def find() -> str | None:
    """The tool: from SLIPWAY_PROMTOOL, from PATH, or installed by `make test`."""
    named = os.environ.get("SLIPWAY_PROMTOOL") or shutil.which("promtool")
    return named or (str(BUILT) if BUILT.is_file() else None)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it, or skip the test if it isn't installed."""
    tool = find()
    if tool is None:
        pytest.skip(REASON)
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False, timeout=SECONDS)
