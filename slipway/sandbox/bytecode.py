"""Where compiled modules go when the user wants none beside the sources.

With PYTHONDONTWRITEBYTECODE, which images of containers set, each process would compile anew what it imports:
`pulumi_aws` is 5 s of 11 that the program of stack dev takes, moto 2 s of 4 that the daemon's start takes (2 cores,
2026-11). What is wanted is that no `__pycache__` appears in a checkout or an environment, so ours go into the cache of
this tool.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from slipway.toolchain import cache

UNWANTED = "PYTHONDONTWRITEBYTECODE"
PREFIX = "PYTHONPYCACHEPREFIX"


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What to set for a process of ours; nothing where Python may write, or where the user names a place."""
    if not environment.get(UNWANTED) or environment.get(PREFIX):
        return {}
    # Empty is as good as unset.
    return {UNWANTED: "", PREFIX: str(cache.root() / "bytecode")}


def shell_lines() -> str:
    """The same for a script of sh, whose environment is known only when it runs."""
    place = shlex.quote(str(cache.root() / "bytecode"))
    return f'if [ -n "${UNWANTED}" ] && [ -z "${PREFIX}" ]; then\n  export {UNWANTED}= {PREFIX}={place}\nfi\n'
