"""The stacks of the sandbox's backend: creating one, reading its state, and unlocking it after a killed run.

A killed CLI leaves its lock behind, and every later run is refused. The lock is a small JSON file with its owner's pid
and host and a time of the wall clock (pulumi v3.258.0, pkg/backend/diy/lock.go). That time decides nothing, because the
clock may have been set since. The lock counts as held as long as a process with its pid is, or may be, a Pulumi CLI: a
lock that is kept too long costs a question, one that is removed too early costs a state.

For a stack without a secrets provider, the CLI generates a salt and writes it into the stack file as `encryptionsalt`,
and does so again on every preview (v3.258.0, pkg/cmd/pulumi/stack/secrets.go; the salt in the state is not read). The
committed files are for a real backend and must not change, so the sandbox keeps copies in a directory of its own, and
every run gets `--config-file COPY`:

    <home>/project/Pulumi.yaml                    the same project name, so that the CLI finds its stacks
    <home>/project/stacks/Pulumi.<stack>.yaml     text of the committed file, with the sandbox's salt
    <home>/project/bin/pulumi                     for plain `pulumi` in a shell (see `shim`)
"""

import json
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import psutil
import yaml

from sandbox.files import write_atomically
from sandbox.identity import ProcessIdentity
from slipway.engine import process, state
from slipway.engine.invocation import Invocation
from slipway.engine.state import HISTORY
from slipway.engine.stored import StoredState
from spec.errors import fail, refuse
from spec.naming import PROJECT

# Which process holds the lock of a stack in the sandbox's backend, and whether it is still running.


_CLI: Final = "pulumi"


@dataclass(frozen=True)
class Lock:
    """A lock on a stack."""

    path: Path
    pid: int
    host: str
    taken: datetime

    @property
    def owner_lives(self) -> bool:
        """Whether the process that took the lock may still be running, or be stopped by a signal.

        A process on another host counts as running.
        """
        return self.host != socket.gethostname() or _may_be_cli(self.pid)

    @property
    def stopped(self) -> bool:
        """Whether its owner is a process of this host that is stopped by a signal (SIGSTOP)."""
        try:
            return self.host == socket.gethostname() and ProcessIdentity.of(_CLI, self.pid).stopped
        except psutil.NoSuchProcess:
            return False

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.taken:%Y-%m-%d %H:%M:%S %Z}"


def locks(backend: Path, project: str, stack: str) -> tuple[Lock, ...]:
    """The locks on a stack in a backend directory, oldest first. A file that can't be read counts as no lock."""
    directory = backend / ".pulumi" / "locks" / "organization" / project / stack
    candidates = (_read(path) for path in directory.glob("*.json"))
    return tuple(sorted((lock for lock in candidates if lock), key=lambda lock: lock.taken))


def _may_be_cli(pid: int) -> bool:
    """Whether a process with this pid lives that has `pulumi` in its name, its program or its first two arguments (of a
    script, the second one is its name), or of which nobody may see that."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return any(_CLI in word for word in (process.name(), *process.cmdline()[:2], process.exe()))
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def _read(path: Path) -> Lock | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Lock(path, int(content["pid"]), str(content["hostname"]), datetime.fromisoformat(content["timestamp"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


# The sandbox's copies of the stack files.


STACKS: Final = "stacks"
_SECRETS: Final = re.compile(r"^(encryptionsalt|encryptedkey|secretsprovider)\s*:.*\n?", re.MULTILINE)
"""Keys for secrets on the real backend, which the sandbox can't use."""
_SALT: Final = re.compile(r"^encryptionsalt\s*:.*$", re.MULTILINE)


def stack_file(directory: Path, stack: str) -> Path:
    """The path of a stack file in a stacks folder."""
    return directory / f"Pulumi.{stack}.yaml"


@dataclass(frozen=True)
class Overlay:
    """The sandbox's copies for a checkout; `root` is `<home>/project`."""

    root: Path

    @property
    def stacks(self) -> Path:
        """The folder of the copies."""
        return self.root / STACKS

    def make(self) -> None:
        """Create the directory and its project file, if they don't exist."""
        self.stacks.mkdir(parents=True, exist_ok=True)
        text = f"name: {PROJECT}\nruntime: python\nstackConfigDir: {STACKS}\n"
        write_if_changed(self.root / "Pulumi.yaml", text)

    def copy(self, committed: Path) -> Path:
        """Update the copy of a stack file, keeping the copy's salt; returns its path."""
        copy = self.stacks / committed.name
        try:
            text = committed.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            refuse(f"{committed}: the stack file can't be read ({error})", error)
        settings = _SECRETS.sub("", text)
        _require_block_map(settings, committed)
        salt = _SALT.search(copy.read_text(encoding="utf-8")) if copy.is_file() else None
        write_if_changed(copy, settings.rstrip("\n") + "\n" + (f"{salt[0]}\n" if salt else ""))
        return copy


def write_if_changed(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file in one step; leave it untouched if the text is the same."""
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        write_atomically(path, text, mode)


def _require_block_map(text: str, path: Path) -> None:
    try:
        with_salt = yaml.compose(text.rstrip("\n") + "\nencryptionsalt: x\n", Loader=yaml.SafeLoader)
        keys = [key.value for key, _ in with_salt.value] if isinstance(with_salt, yaml.MappingNode) else []
    except (yaml.YAMLError, AttributeError):
        keys = []
    if not keys or keys[-1] != "encryptionsalt":
        refuse(
            f"{path}: write the stack file as a block mapping (`config:` on its own line), so that Pulumi can add keys"
        )


Say = Callable[[str], None]


@dataclass(frozen=True)
class SandboxEngine:
    """The CLI with the sandbox's environment, backend directory and copies of the stack files."""

    pulumi: Path
    environment: Mapping[str, str]
    backend: Path
    overlay: Overlay

    def has(self, stack: str) -> bool:
        """Whether the backend has the stack (pulumi v3.258.0 keeps `.pulumi/stacks/<project>/<stack>.json`)."""
        return any((self._directory / f"{stack}.json{suffix}").is_file() for suffix in ("", ".gz", ".zst"))

    def prepare(self, committed: Path, stack: str) -> Path:
        """The stack file for a run; the stack is created if the backend lacks it."""
        self.backend.mkdir(parents=True, exist_ok=True)
        self.overlay.make()
        copy = self.overlay.copy(stack_file(committed, stack))
        if not self.has(stack):
            process.capture(self.command(("stack", "select", "--create", "--stack", stack)))
        return copy

    def state(self, stack: str) -> state.StackState:
        """The state after the stack's last run; empty for a stack that does not exist."""
        return state.parse(self.export(stack)) if self.has(stack) else state.StackState()

    def export(self, stack: str) -> str:
        """The output of `pulumi stack export`."""
        return self.stored(stack).advised(lambda: process.capture(self.command(("stack", "export", "--stack", stack))))

    def stored(self, stack: str) -> StoredState:
        """The state of a stack in its folder."""
        return StoredState(self.backend, stack)

    def interrupted(self, stack: str) -> bool:
        """Whether a killed run left operations open. It reads the backend's file: an export takes 0.4 s (2026-11)."""
        path = self._directory / f"{stack}.json"
        return path.is_file() and b'"pending_operations"' in path.read_bytes()

    def history(self, stack: str) -> str:
        """The output of `pulumi stack history` as JSON; an empty list for a stack that does not exist."""
        if not self.has(stack):
            return "[]"
        return self.stored(stack).advised(lambda: process.capture(self.command((*HISTORY, "--stack", stack))))

    def free(self, stack: str, say: Say) -> None:
        """Remove locks whose owner is dead, and report each with `say`."""
        held = locks(self.backend, PROJECT, stack)
        for lock in held:
            if lock.owner_lives:
                # A stopped engine is no dead one: it writes its state when it goes on.
                fix = "wait for it to end, or interrupt it"
                if lock.stopped:
                    fix = f"it is stopped (SIGSTOP); `kill -CONT {lock.pid}` lets it go on; then {fix}"
                fail(f"stack {stack} is in use by another run ({lock}): {fix}")
        if not held:
            return
        for lock in held:
            say(f"stack {stack} was locked by a run that is gone ({lock}); removing its lock (`pulumi cancel`)")
        self.overlay.make()
        process.capture(self.command(("cancel", "--yes", "--stack", stack)))

    @property
    def _directory(self) -> Path:
        return self.backend / ".pulumi" / "stacks" / PROJECT

    def command(self, arguments: Sequence[str]) -> Invocation:
        """The CLI with some arguments, in the sandbox."""
        argv = (str(self.pulumi), *arguments, "--non-interactive")
        return Invocation(argv, self.environment, self.overlay.root)
