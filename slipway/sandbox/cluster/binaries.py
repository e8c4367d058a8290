"""Finding the binaries of a control plane."""

from __future__ import annotations

from pathlib import Path

from slipway import toolchain
from slipway.errors import SandboxError
from slipway.toolchain import versions


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


def version(name: str, path: Path) -> str:
    """The version that a binary of a tool reports, `1.36.3`. Raises SandboxError if it reports none."""
    found = versions.ask_once(path, ("--version",))
    if found is None:
        msg = f"{path} does not run, or does not report its version: remove it, or name another {name}"
        raise SandboxError(msg)
    return found
