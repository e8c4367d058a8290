"""Reading the version that a binary prints, and deciding whether it is accepted."""

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
    """The version that a binary reports, such as `3.258.0`; None if it does not run or prints none."""
    try:
        answer = subprocess.run(
            [binary, *arguments],
            # Otherwise pulumi checks the network for a newer release of itself.
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
    """The same, cached: a binary does not change while this process runs."""
    return ask(binary, arguments)


def acceptable(tool: Tool, version: str) -> bool:
    """Whether a version is accepted in place of the wanted one."""
    installed, wanted = parse(version), parse(tool.version)
    if installed is None or wanted is None:
        return False
    if tool.accepts is Accepts.SAME_MINOR:
        return installed[:2] == wanted[:2]
    return installed[0] == wanted[0] and installed >= wanted
