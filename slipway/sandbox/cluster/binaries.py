"""Finding the binaries of a control plane."""

from __future__ import annotations

from pathlib import Path

from slipway import toolchain
from slipway.errors import SandboxError


def require(name: str) -> Path:
    """The path of a tool; never builds it. Raises SandboxError, with the fix, if this machine has none."""
    try:
        path = toolchain.find(name)
    except toolchain.ToolError as error:
        raise SandboxError(str(error)) from error
    if path is None:
        msg = f"the sandbox needs {name}, which is not on this machine: run `make tools`, which installs or builds it"
        raise SandboxError(msg)
    return path
