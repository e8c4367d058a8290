"""Prometheus' own tool, which parses queries and runs rules as Prometheus would."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

BUILT: Final = Path(__file__).parents[2] / "build" / "promtool" / "promtool"
"""Where tools/promtool.sh puts it."""
REASON: Final = "no promtool here: run `tools/promtool.sh` on Debian or Ubuntu, or put Prometheus' promtool on PATH"


def find() -> str | None:
    """The tool: named by SLIPWAY_PROMTOOL, on PATH, or fetched by `make test`."""
    named = os.environ.get("SLIPWAY_PROMTOOL") or shutil.which("promtool")
    return named or (str(BUILT) if BUILT.is_file() else None)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it, or skip the test where there is none."""
    tool = find()
    if tool is None:
        pytest.skip(REASON)
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False, timeout=120)
