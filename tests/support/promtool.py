"""Prometheus, and its promtool, which parses queries and evaluates rules like it."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.patience import SECONDS

BUILT: Final = Path(__file__).parents[2] / "build" / "promtool"
"""Folder to which tools/promtool.sh installs both."""


def find(name: str = "promtool") -> str:
    """The binary: from SLIPWAY_PROMTOOL or SLIPWAY_PROMETHEUS, from PATH, or installed by `make test`; else a skip."""
    found = os.environ.get(f"SLIPWAY_{name.upper()}") or shutil.which(name) or shutil.which(BUILT / name)
    if found is None:
        pytest.skip(f"no {name} here: run `tools/promtool.sh` on Debian or Ubuntu, or put Prometheus' {name} on PATH")
    return found


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run promtool, or skip the test if it isn't installed."""
    return subprocess.run([find(), *arguments], capture_output=True, text=True, check=False, timeout=SECONDS)
