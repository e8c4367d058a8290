"""The sandbox's home directory, the state file of its daemon, and the state that a lost sandbox leaves behind."""

import http.client
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError
from sandbox.files import write_atomically
from sandbox.identity import ProcessIdentity

FORMAT = 3
STATE_FILE = "sandbox.json"
CHILDREN_FILE = "children.json"
"""The daemon's child processes, written at every change, also during the start, so that a crash can be cleaned up."""
WIPED = (
    "etcd", "pki", "pulumi", "pulumi-home", "states", "bin", "clusters", "egress", "controllers", "projects",
    "kubeconfig", "notes.json", "controllers.json", "asked.json", "memory.pickle", STATE_FILE, CHILDREN_FILE,
)  # fmt: skip
"""What a sandbox leaves, and a new one must not find. moto keeps nothing, so an earlier Pulumi state would describe
nothing. `stop` deletes it; where nobody asked for that, it is moved aside."""
FAULTS = "/slipway/faults"
"""Where the daemon takes faults, and lists them."""
TELL_SECONDS = 60.0
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


def tell(state: SandboxState, path: str, content: str = "", *, seconds: float = TELL_SECONDS) -> str:
    """What the daemon answers to something that a command tells it. Raises SandboxError with its reason if it
    refuses."""
    # http.client, because urllib would use a proxy named in the environment.
    with closing(http.client.HTTPConnection(state.aws_endpoint.partition("://")[2], timeout=seconds)) as connection:
        try:
            connection.request("POST", path, content)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            msg = f"the sandbox does not answer ({error}): `slipway sandbox status` says why"
            raise SandboxError(msg) from error
    if answer.status != HTTPStatus.OK:
        raise SandboxError(text.strip())
    return text


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


# A sandbox that ended by itself is moved aside, and deleted by `slipway sandbox stop` alone.
#
# Its AWS was in the memory of its daemon and is gone; its Pulumi state, the objects of its clusters (etcd) and its
# files are what is left to look into. Moving is a rename within the home, which takes no space.

ASIDE = "aside"
"""Folder of earlier sandboxes, in the home: `0001-20261123T101500Z`, ..."""


def moved_aside(home: Path) -> list[Path]:
    """The sandboxes that were moved aside, oldest first."""
    return sorted((home / ASIDE).glob("[0-9]*-*"))


def move_aside(home: Path) -> Path | None:
    """Move what an earlier sandbox left; None if it left nothing, or was never ready, so that nobody used it.

    Raises:
        SandboxError: It can't be moved; nothing was deleted.
    """
    if not _used(home):
        return None
    # The number gives the order: the clock may be set between two of them.
    number = int(found[-1].name.partition("-")[0]) + 1 if (found := moved_aside(home)) else 1
    # The moment on this machine's clock, whatever day stacks are evaluated at (SLIPWAY_TODAY).
    place = home / ASIDE / f"{number:04d}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"  # noqa: TID251
    try:
        place.mkdir(mode=0o700, parents=True)
        # The state file last: after a failure on the way, the next start moves the rest.
        for name in sorted(WIPED, key=STATE_FILE.__eq__):
            path = home / name
            if path.exists() or path.is_symlink():
                path.rename(place / name)
    except OSError as error:
        msg = (
            f"what the last sandbox left in {home} can't be moved to {place}: {error}; nothing was deleted. Move it "
            "away by hand, or delete it with `slipway sandbox stop`"
        )
        raise SandboxError(msg) from error
    return place


def wipe(home: Path) -> None:
    """Delete what is left of a sandbox, but not those that were moved aside."""
    for name in WIPED:
        _delete(home / name)


def forget_aside(home: Path) -> int:
    """Delete the sandboxes that were moved aside; how many there were."""
    found = moved_aside(home)
    _delete(home / ASIDE)
    return len(found)


def _used(home: Path) -> bool:
    """Whether a sandbox was ready once, or its backend has a stack."""
    return (home / STATE_FILE).exists() or any((home / "pulumi" / ".pulumi" / "stacks").glob("*/*.json*"))


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
