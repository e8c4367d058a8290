"""Where compiled modules go if PYTHONDONTWRITEBYTECODE is set.

With that variable, which many container images set, each process compiles all its imports again: `pulumi_aws` takes 5
of the 11 s of the program of stack dev, moto 2 of the 4 s of the daemon's start (2 cores, 2026-11). The variable keeps
`__pycache__` out of a checkout or an environment, so compiled modules go into Slipway's cache instead.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from slipway.toolchain import cache

UNWANTED = "PYTHONDONTWRITEBYTECODE"
PREFIX = "PYTHONPYCACHEPREFIX"


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables for a child process; empty if Python may write bytecode or the user chose a directory."""
    if not environment.get(UNWANTED) or environment.get(PREFIX):
        return {}
    # Python treats an empty value as unset.
    return {UNWANTED: "", PREFIX: str(cache.root() / "bytecode")}


def shell_lines() -> str:
    """The same for a shell script, whose environment is known only when it runs."""
    place = shlex.quote(str(cache.root() / "bytecode"))
    return f'if [ -n "${UNWANTED}" ] && [ -z "${PREFIX}" ]; then\n  export {UNWANTED}= {PREFIX}={place}\nfi\n'
