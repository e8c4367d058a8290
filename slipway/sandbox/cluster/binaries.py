"""Where the programs of a control plane are."""

from __future__ import annotations

from pathlib import Path

from slipway import toolchain
from slipway.errors import SandboxError


def require(name: str) -> Path:
    """The path of a tool; nothing is built here. Raises SandboxError, with the mend, when this machine has none."""
    try:
        found = toolchain.find(name)
    except toolchain.ToolError as error:
        raise SandboxError(str(error)) from error
    if found is None:
        msg = f"{name} is not on this machine and the sandbox needs it: run `make setup`, which installs it"
        raise SandboxError(msg)
    return found
