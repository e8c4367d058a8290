"""What a command wants of a sandbox that may be running already.

The folder of charts is obeyed: the command writes it to a file of the home, and the daemon reads it there. Variables
that the daemon reads only when it starts can't be: the file has their values then, so that a later command can say
where they differ from its own.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from sandbox import CHARTS, IN_SANDBOX_SHELL, official
from sandbox.errors import SandboxError
from sandbox.files import write_atomically
from sandbox.kubernetes.controllers import table
from sandbox.toolchain import archive, cache
from sandbox.toolchain.tools import TOOLS
from spec.errors import EXIT_REFUSED

FILE: Final = "asked.json"
NONE: Final = "none"
"""Value of `SLIPWAY_CHARTS` without charts: none is downloaded."""
REGION: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""The default of an aws provider that names no region. A shell of the sandbox sets it, which asks for nothing."""
OF_COMMAND: Final = ("pulumi",)
"""Tools that each command runs itself."""
AT_START: Final = (
    table.VARIABLE,
    official.VARIABLE,
    "SLIPWAY_CACHE",
    archive.VARIABLE,
    "XDG_CACHE_HOME",
    "KUBEBUILDER_ASSETS",
    *(tool.variable for tool in TOOLS.values() if tool.name not in OF_COMMAND),
    *REGION,
)
"""Variables that the daemon reads, or passes to the processes that it starts."""


@dataclass(frozen=True)
class Asked:
    """The content of the file: the absolute path of the folder of charts, and the variables of the start by name."""

    charts: str | None = None
    started: Mapping[str, str] = field(default_factory=dict)


def is_repository(named: str) -> bool:
    """Whether a value of the variable is a repository or registry, from which `slipway up` downloads charts."""
    return "://" in named


def cached() -> Path:
    """The folder of the charts that were downloaded because no folder was named."""
    return cache.root() / "charts"


def charts(home: Path) -> Path | None:
    """The folder of charts that the sandbox uses; None without one."""
    folder = _load(home).charts
    return Path(folder) if folder is not None else None


def folder(environment: Mapping[str, str]) -> Path | None:
    """The folder that an environment names, absolute, because the daemon has another working directory; None for `none`
    and for a repository.

    Raises:
        SandboxError: There is no such folder.
    """
    named = environment.get(CHARTS)
    if not named or named == NONE or is_repository(named):
        return None
    path = Path(os.path.normpath(Path(named).absolute()))
    if not path.is_dir():
        msg = (
            f"{CHARTS}: it must be a folder of charts (given: {named!r}; {path} is not a folder). "
            f"`slipway catalog pull --dir {named}` makes one; without the variable `slipway up` downloads the charts"
        )
        raise SandboxError(msg, EXIT_REFUSED)
    return path


def begin(home: Path, environment: Mapping[str, str]) -> None:
    """Write what a sandbox that is about to start is asked for. Raises SandboxError."""
    found = folder(environment)
    started = {name: environment[name] for name in AT_START if environment.get(name)}
    _save(home, Asked(str(found) if found is not None else None, started))


def ask(home: Path, environment: Mapping[str, str]) -> list[str]:
    """Ask a running sandbox for the charts of an environment.

    Returns:
        One line for what changes, and for each variable that has no effect before the next start.

    Raises:
        SandboxError: There is no such folder; nothing was changed.
    """
    wanted, present = folder(environment), _load(home)
    lines = _differences(present.started, environment)
    if wanted is None:
        return [*_kept(present.charts, environment.get(CHARTS) or ""), *lines]
    if str(wanted) == present.charts:
        return lines
    _save(home, Asked(str(wanted), present.started))
    before = f"those of {present.charts} before" if present.charts else "none before"
    return [f"charts: those of {wanted} from now on, {before}; `up` installs what is not installed yet", *lines]


def _kept(present: str | None, named: str) -> list[str]:
    if present is None or (not named and Path(present) == cached()):
        return []
    now = f"{CHARTS} is {named or 'unset'}"
    if not Path(present).is_dir():
        return [f"{now}, and the sandbox's folder of charts {present} is gone: name the folder again"]
    kept = f"the charts are still those of {present}, and what is installed stays"
    return [f"{now}: {kept}. To run without them, start anew: `slipway sandbox stop`"]


def _differences(started: Mapping[str, str], environment: Mapping[str, str]) -> list[str]:
    lines = []
    for name in AT_START:
        now, then = environment.get(name) or None, started.get(name)
        # A provider that differs is refused.
        if now == then or (name == official.VARIABLE and now) or (name in REGION and environment.get(IN_SANDBOX_SHELL)):
            continue
        here = f"{name}={now} has no effect" if now else f"{name} is unset, without effect"
        lines.append(
            f"{here}: the sandbox was started {f'with {name}={then}' if then else 'without it'}, which holds until "
            "`slipway sandbox stop`"
        )
    return lines


def _load(home: Path) -> Asked:
    try:
        return Asked(**json.loads((home / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Asked()


def _save(home: Path, asked: Asked) -> None:
    write_atomically(home / FILE, json.dumps(asdict(asked), indent=1))
