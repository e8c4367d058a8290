"""Versions: reading one from what a binary prints, and deciding whether it will do."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from slipway.toolchain.tools import Accepts, Tool

_NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_SECONDS = 20
"""A binary answers in 0.04 s (etcd) to 0.25 s (pulumi); a cold disk or a version manager's wrapper takes longer."""

Version = tuple[int, int, int]


def parse(text: str) -> Version | None:
    """The first three-part version in a text: `Kubernetes v1.36.3` gives (1, 36, 3)."""
    match = _NUMBER.search(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def ask(binary: Path, arguments: tuple[str, ...]) -> str | None:
    """The version that a binary gives itself, such as `3.258.0`; None when it does not run or prints none."""
    try:
        answer = subprocess.run(
            [binary, *arguments],
            # Otherwise pulumi looks on the network for a newer release of itself.
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = parse(answer.stdout or answer.stderr) if answer.returncode == 0 else None
    return None if version is None else ".".join(map(str, version))


@cache
def ask_once(binary: Path, arguments: tuple[str, ...]) -> str | None:
    """The same for a binary that stays as it is while this process runs."""
    return ask(binary, arguments)


def acceptable(tool: Tool, version: str) -> bool:
    """Whether a found version serves in place of the wanted one."""
    found, wanted = parse(version), parse(tool.version)
    if found is None or wanted is None:
        return False
    if tool.accepts is Accepts.SAME_MINOR:
        return found[:2] == wanted[:2]
    return found[0] == wanted[0] and found >= wanted
