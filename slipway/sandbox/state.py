"""Where the sandbox lives, and what its daemon wrote down for others: `<home>/sandbox.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from slipway.files import write_atomically
from slipway.sandbox.cluster.identity import ProcessIdentity

FORMAT = 1
STATE_FILE = "sandbox.json"
CHILDREN_FILE = "children.json"
"""The daemon's child processes, written at every change, also while it starts: for those who clean up after a crash."""
WIPED = ("etcd", "pki", "pulumi", "pulumi-home", "bin", "kubeconfig", "notes.json", STATE_FILE, CHILDREN_FILE)
"""What a new sandbox starts without. moto keeps nothing, so a Pulumi state from before would describe nothing."""


def default_home() -> Path:
    """`$SLIPWAY_SANDBOX_HOME`, else `$XDG_STATE_HOME/slipway/sandbox`, else `~/.local/state/slipway/sandbox`."""
    if own := os.environ.get("SLIPWAY_SANDBOX_HOME"):
        return Path(own).absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base).absolute() if base else Path.home() / ".local" / "state") / "slipway" / "sandbox"


@dataclass(frozen=True)
class SandboxState:
    """A sandbox that is ready: who it is, and where everything of it listens on loopback."""

    home: Path
    daemon: ProcessIdentity
    aws_endpoint: str
    aws_provider_port: int
    kubernetes_provider_port: int
    account: str | None = None
    """The one account it acts as; None where it acts as the account that each stack names."""
    charts: str | None = None
    """The folder of Helm charts (`SLIPWAY_CHARTS`)."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """URL of the API server by cluster, oldest first."""
    versions: Mapping[str, str] = field(default_factory=dict)
    in_moto: Sequence[str] = ()
    """Types of pulumi_aws that live in moto; any other is a record."""

    @property
    def kubeconfig(self) -> Path:
        """A context for every cluster that stands; the current one is the newest."""
        return self.home / "kubeconfig"

    @property
    def logs(self) -> Path:
        """The folder of all logs."""
        return self.home / "logs"

    @property
    def backend(self) -> Path:
        """The folder of the Pulumi state."""
        return self.home / "pulumi"

    @property
    def engine_home(self) -> Path:
        """What the Pulumi CLI takes for its home: the choice of a stack, and all else that it remembers."""
        return self.home / "pulumi-home"


def is_alive(state: SandboxState) -> bool:
    """Whether the daemon that wrote the state still runs; a process that has its pid by now is another one."""
    return state.daemon.find() is not None


def save(state: SandboxState) -> None:
    """Write the state, replacing the file as a whole."""
    document = {"format": FORMAT, **asdict(state), "home": str(state.home)}
    write_atomically(state.home / STATE_FILE, json.dumps(document, indent=2) + "\n")


def load(home: Path) -> SandboxState | None:
    """The state that is written down; None when there is none, or none that this version can read."""
    document = _read(home / STATE_FILE)
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        return None
    try:
        daemon = ProcessIdentity(**document.pop("daemon"))
        return SandboxState(**{**document, "home": Path(document["home"]), "daemon": daemon})
    except (TypeError, KeyError):
        return None


def save_children(home: Path, children: tuple[ProcessIdentity, ...]) -> None:
    """Write down which processes the daemon has started and not ended."""
    write_atomically(home / CHILDREN_FILE, json.dumps([asdict(child) for child in children], indent=2) + "\n")


def load_children(home: Path) -> tuple[ProcessIdentity, ...]:
    """The processes written down, whether they still run or not."""
    document = _read(home / CHILDREN_FILE)
    try:
        return tuple(ProcessIdentity(**child) for child in document or ())
    except TypeError:
        return ()


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
