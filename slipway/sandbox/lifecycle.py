"""Starting and stopping the sandbox, whatever an earlier one left behind."""

from __future__ import annotations

import fcntl
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from slipway.errors import SandboxError
from slipway.sandbox import engine_home, official
from slipway.sandbox.cluster import binaries
from slipway.sandbox.cluster.identity import ProcessIdentity, end
from slipway.sandbox.cluster.pki import read_admin_token
from slipway.sandbox.shims import install_shims
from slipway.sandbox.spawn import DAEMON, STOP_SECONDS, daemons, spawn_daemon
from slipway.sandbox.state import (
    WIPED,
    SandboxState,
    default_home,
    is_alive,
    load,
    load_children,
)

Progress = Callable[[str], None]

FREE_BYTES = 512 << 20
"""Minimum of free disk space. etcd takes 128 MB at once for its log, an API server with a large chart 50 MB more."""
REQUIRED = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


@dataclass(frozen=True)
class SandboxStatus:
    """The state file's content, and which of the processes are running. `memory` is in bytes, by process."""

    state: SandboxState | None
    running: bool
    children: tuple[ProcessIdentity, ...]
    dead_children: tuple[ProcessIdentity, ...]
    memory: dict[str, int]

    @property
    def stale(self) -> bool:
        """Whether a state file or child processes are left of a daemon that has ended."""
        return not self.running and (self.state is not None or bool(self.children))


def start(
    progress: Progress = lambda _: None,
    aws_port: int | None = None,
    account: str | None = None,
    home: Path | None = None,
    kubernetes_provider: Path | None = None,
) -> SandboxState:
    """Start the sandbox unless it is running; returns its state. Raises SandboxError with the problem and its fix.

    `kubernetes_provider` is the official one (`official.find`), if it is to take the place of the sandbox's own.
    """
    home = home or default_home()
    _require_disk_space(home)
    with _lock(home, progress):
        state = load(home)
        if state is not None and is_alive(state):
            _require_same(state, aws_port, account, kubernetes_provider)
            return state
        for tool in REQUIRED:
            binaries.require(tool)
        if aws_port:
            _require_free(aws_port)
        _clean_up(home, progress)
        progress("starting the sandbox: AWS (moto), etcd and the two providers")
        state = spawn_daemon(home, aws_port, account, kubernetes_provider)
        install_shims(home / "bin")
        engine_home.prepare(state.engine_home)
        if kubernetes_provider is not None:
            official.install(kubernetes_provider, state.engine_home, home / "bin", read_admin_token(home / "pki"))
        return state


def status(home: Path | None = None) -> SandboxStatus:
    """The present status. Changes nothing."""
    home = home or default_home()
    state = load(home)
    children = load_children(home)
    alive = tuple(child for child in children if child.find() is not None)
    daemon = (state.daemon,) if state is not None else ()
    memory = {each.name: usage for each in (*daemon, *alive) if (usage := _memory(each))}
    running = state is not None and is_alive(state)
    dead = tuple(child for child in children if child not in alive and not child.transient)
    return SandboxStatus(state, running, alive, dead, memory)


def stop(progress: Progress = lambda _: None, home: Path | None = None) -> bool:
    """Stop the sandbox and delete everything but its logs; False if there was nothing to stop."""
    home = home or default_home()
    if not home.is_dir():
        return _end_lost(home, progress)
    with _lock(home, progress):
        state = load(home)
        existed = state is not None or bool(load_children(home))
        return _clean_up(home, progress) or existed


def _require_same(
    state: SandboxState, aws_port: int | None, account: str | None, kubernetes_provider: Path | None
) -> None:
    """A running sandbox keeps its port, account and provider; to change them, it must be stopped first."""
    running = state.aws_endpoint.rpartition(":")[2]
    if aws_port and str(aws_port) != running:
        msg = f"the sandbox already runs with AWS on port {running}, not {aws_port}: run `slipway sandbox stop` first"
        raise SandboxError(msg)
    if account and account != state.account:
        msg = (
            f"the sandbox already runs for {f'account {state.account}' if state.account else 'any account'}, "
            f"not for {account}: run `slipway sandbox stop` first"
        )
        raise SandboxError(msg)
    if kubernetes_provider is not None and str(kubernetes_provider) != state.official:
        msg = (
            f"the sandbox already runs with {state.official or 'a Kubernetes provider of its own'}, "
            f"not with {kubernetes_provider}: run `slipway sandbox stop` first"
        )
        raise SandboxError(msg)


def _require_disk_space(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(home).free
    except OSError as error:
        msg = f"the sandbox's directory {home} can't be used: {error}; set SLIPWAY_SANDBOX_HOME to another one"
        raise SandboxError(msg) from error
    if free < FREE_BYTES:
        msg = (
            f"only {free >> 20} MiB are free at {home}, and the sandbox needs {FREE_BYTES >> 20}: "
            "free some disk space, or set SLIPWAY_SANDBOX_HOME to a directory on another disk"
        )
        raise SandboxError(msg)


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            msg = f"port {port} on 127.0.0.1 is in use: choose another port, or omit it to use a free one"
            raise SandboxError(msg) from error


@contextmanager
def _lock(home: Path, progress: Progress) -> Iterator[None]:
    """Of two concurrent starts, the second waits and finds the sandbox running. The lock ends with its owner."""
    with (home / "lock").open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another command is starting or stopping the sandbox: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _clean_up(home: Path, progress: Progress) -> bool:
    """End the processes of an earlier sandbox, its daemon first, and remove its data; False if nothing ran."""
    state = load(home)
    if state is not None:
        if not is_alive(state):
            progress(f"the last sandbox (pid {state.daemon.pid}) ended without cleaning up: doing it now")
        end([state.daemon], STOP_SECONDS)
    lost = _end_lost(home, progress)
    orphans = end(load_children(home))
    if orphans and state is not None:
        progress(f"ended the processes it left running: {', '.join(f'{each.name} ({each.pid})' for each in orphans)}")
    for name in WIPED:
        path = home / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return lost or bool(orphans)


def _end_lost(home: Path, progress: Progress) -> bool:
    """End a daemon whose files were deleted, and what it started; False if there is none."""
    lost = daemons(home)
    for daemon in (each for each in lost if each.name == DAEMON):
        progress(f"the files of the sandbox (pid {daemon.pid}) were deleted: ending it")
        end([daemon], STOP_SECONDS)
    end(lost)
    return bool(lost)


def _memory(identity: ProcessIdentity) -> int:
    """Resident memory in bytes; 0 if the process has ended or access is denied."""
    process = identity.find()
    try:
        return int(process.memory_info().rss) if process is not None else 0
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
