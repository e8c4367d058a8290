"""The sandbox's home directory, and the state file that its daemon writes: `<home>/sandbox.json`."""

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
"""The daemon's child processes, written at every change, also during the start, so that a crash can be cleaned up."""
WIPED = (
    "etcd", "pki", "pulumi", "pulumi-home", "bin", "clusters", "egress", "controllers", "kubeconfig", "notes.json",
    "controllers.json", STATE_FILE, CHILDREN_FILE,
)  # fmt: skip
"""Removed before a new sandbox starts. moto keeps nothing, so an earlier Pulumi state would describe nothing."""
KUBERNETES = "kubernetes"
"""Among the versions of a sandbox: that of its API servers' binary."""


def default_home() -> Path:
    """`$SLIPWAY_SANDBOX_HOME`, else `$XDG_STATE_HOME/slipway/sandbox`, else `~/.local/state/slipway/sandbox`."""
    if own := os.environ.get("SLIPWAY_SANDBOX_HOME"):
        return Path(own).absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base).absolute() if base else Path.home() / ".local" / "state") / "slipway" / "sandbox"


@dataclass(frozen=True)
class SandboxState:
    """A sandbox that is ready: its daemon, and where its parts listen on loopback."""

    home: Path
    daemon: ProcessIdentity
    aws_endpoint: str
    aws_provider_port: int
    kubernetes_provider_port: int
    account: str | None = None
    """The one AWS account that it serves; None if it serves whichever account a stack names."""
    charts: str | None = None
    """The folder of Helm charts (`SLIPWAY_CHARTS`)."""
    official: str | None = None
    """Path of the official Kubernetes provider, if it takes the place of the sandbox's own."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """URL of the API server by cluster, oldest first."""
    versions: Mapping[str, str] = field(default_factory=dict)
    in_moto: Sequence[str] = ()
    """Types of pulumi_aws that are implemented in moto; any other is a record."""

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig with a context for each running cluster; the current context is the newest."""
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
        """PULUMI_HOME of the CLI, which holds the selected stack and its other local state."""
        return self.home / "pulumi-home"


def is_alive(state: SandboxState) -> bool:
    """Whether the daemon that wrote the state is still running; another process with a reused pid does not count."""
    return state.daemon.find() is not None


def save(state: SandboxState) -> None:
    """Write the state file in one step."""
    document = {"format": FORMAT, **asdict(state), "home": str(state.home)}
    write_atomically(state.home / STATE_FILE, json.dumps(document, indent=2) + "\n")


def load(home: Path) -> SandboxState | None:
    """The state from the file; None if the file is missing or this version can't read it."""
    document = _read(home / STATE_FILE)
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        return None
    try:
        daemon = ProcessIdentity(**document.pop("daemon"))
        return SandboxState(**{**document, "home": Path(document["home"]), "daemon": daemon})
    except (TypeError, KeyError):
        return None


def save_children(home: Path, children: tuple[ProcessIdentity, ...]) -> None:
    """Write the list of processes that the daemon has started and not ended."""
    write_atomically(home / CHILDREN_FILE, json.dumps([asdict(child) for child in children], indent=2) + "\n")


def load_children(home: Path) -> tuple[ProcessIdentity, ...]:
    """The processes on that list, whether they are still running or not."""
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
