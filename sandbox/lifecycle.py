"""Starting and stopping the sandbox, whatever an earlier one left behind."""

import http.client
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import psutil

from sandbox import IN_SANDBOX_SHELL, asked, environment, official, worlds
from sandbox.asked import REGION
from sandbox.cluster import apiserver
from sandbox.cluster.patience import Patience, Work
from sandbox.cluster.pki import read_admin_token
from sandbox.cluster.process import detached, tail
from sandbox.errors import SandboxError
from sandbox.identity import ProcessIdentity, end
from sandbox.language.shims import install_shims
from sandbox.state import (
    CHILDREN_FILE,
    STATE_FILE,
    SandboxState,
    default_home,
    forget_aside,
    is_alive,
    load,
    load_children,
    move_aside,
    moved_aside,
    wipe,
)
from sandbox.toolchain import cache
from sandbox.worlds import World

# Starting the daemon as a process that outlives the command that starts it.

START_SECONDS = 60.0
"""How long the daemon and its children may do nothing before it is ready, which takes 3 to 5 s (2 cores, 2026-11); the
first start on a machine compiles and reads much more."""
STOP_SECONDS = 20.0
DAEMON_LOG = "daemon.log"
DAEMON = "daemon"
"""Name of its process in messages."""
ERROR = "error: "
"""Prefix of the daemon's last line if it can't start."""


def spawn_daemon(home: Path, official: Path | None = None, aws_port: int = 0) -> SandboxState:
    """Start the daemon and wait until it is ready. After a SandboxError or Ctrl-C, nothing is left running.

    Port 0 is a free one.
    """
    log = home / "logs" / DAEMON_LOG
    log.parent.mkdir(exist_ok=True)
    # The CLI's file backend requires its folder to exist.
    (home / "pulumi").mkdir(exist_ok=True)
    pid = detached(_argv(home, official, aws_port), log, daemon_environment())
    try:
        return _wait_until_ready(home, pid, log)
    except BaseException:
        _end(home, pid)
        raise


def daemons(home: Path) -> list[ProcessIdentity]:
    """The running daemons of a home, and the processes that they started, by the arguments that they were started with.

    For a home whose files were deleted: otherwise its state file names the daemon.
    """
    named = _argv(home, None)[2:]
    found = []
    for process in psutil.process_iter(["cmdline"]):
        arguments = process.info["cmdline"] or []
        if arguments[2 : 2 + len(named)] != named:
            continue
        with suppress(psutil.NoSuchProcess):
            identities = [ProcessIdentity.of(DAEMON, process.pid)]
            for child in process.children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    identities.append(ProcessIdentity.of(child.name(), child.pid))
            found += identities
    return found


def daemon_environment() -> dict[str, str]:
    """This environment without variables that could direct the daemon to a real account, a real cluster or a proxy.

    GOGC is removed too in a shell of `slipway sandbox env`, which sets it for the engine only.
    """
    unwanted = ("AWS_", "PULUMI_", "MOTO_", "KUBECONFIG", *(("GOGC",) if os.environ.get(IN_SANDBOX_SHELL) else ()))
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in REGION or not (name.startswith(unwanted) or name.lower().endswith("_proxy"))
    }
    return {**kept, **environment.bytecode_variables(kept)}


def _argv(home: Path, official: Path | None, aws_port: int = 0) -> list[str]:
    argv = [sys.executable, "-P", "-m", "sandbox.daemon", "--home", str(home)]
    argv += ["--official", str(official)] if official else []
    argv += ["--aws-port", str(aws_port)] if aws_port else []
    return argv


def _wait_until_ready(home: Path, pid: int, log: Path) -> SandboxState:
    patience, work = Patience(START_SECONDS), Work(pid)
    while True:
        state = load(home)
        if state is not None and state.daemon.pid == pid:
            return state
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            msg = f"the sandbox did not start: {_reason(log)} (log: {log})"
            raise SandboxError(msg)
        if not patience.look(work()):
            msg = f"the sandbox is not ready {patience}: {_reason(log)} (log: {log})"
            raise SandboxError(msg)
        time.sleep(0.05)


def _end(home: Path, pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        end([ProcessIdentity.of(DAEMON, pid)], STOP_SECONDS)
    end(load_children(home))
    for name in (STATE_FILE, CHILDREN_FILE):
        (home / name).unlink(missing_ok=True)


def _reason(log: Path) -> str:
    lines = tail(log)
    errors = [line.partition(ERROR)[2] for line in lines if ERROR in line]
    return errors[-1] if errors else (lines[-1] if lines else "its log is empty")


Progress = Callable[[str], None]

FREE_BYTES = 512 << 20
"""Minimum of free disk space. etcd takes 128 MB at once for its log, an API server with a large chart 50 MB more."""
ANSWER_SECONDS = 5.0
"""The daemon answers in milliseconds, and in a second or two while a large stack is created on a busy machine."""
REQUIRED = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "terraform-provider-aws")


@dataclass(frozen=True)
class SandboxStatus:
    """The state file's content, and which of the processes are running. `memory` is in bytes, by process."""

    state: SandboxState | None
    running: bool
    children: tuple[ProcessIdentity, ...]
    dead_children: tuple[ProcessIdentity, ...]
    memory: dict[str, int]
    silent: tuple[str, ...] = ()
    """Running processes that don't answer, each with what to do."""

    @property
    def stale(self) -> bool:
        """Whether a state file or child processes are left of a daemon that has ended."""
        return not self.running and (self.state is not None or bool(self.children))


def start(
    progress: Progress = lambda _: None,
    home: Path | None = None,
    kubernetes_provider: Path | None = None,
    variables: Mapping[str, str] = os.environ,
    world: str | None = None,
) -> SandboxState:
    """Start the sandbox unless it is running; returns its state. Raises SandboxError with the problem and its fix.

    `kubernetes_provider` is the official one (`official.find`), if it is to take the place of the sandbox's own;
    `variables` say which charts it installs. With a `world` that was saved it goes on from there; then none may run.
    """
    home = home or default_home()
    _require_disk_space(home)
    saved = worlds.read(home, world) if world is not None else None
    with _lock(home, progress):
        state = load(home)
        if state is not None and is_alive(state):
            if saved is not None:
                msg = (
                    f"world {saved.name} is not restored: a sandbox runs. `slipway sandbox save` keeps what is in it, "
                    "and `slipway sandbox stop` deletes it"
                )
                raise SandboxError(msg)
            _ask(state, progress, kubernetes_provider, variables)
            return state
        for tool in REQUIRED:
            apiserver.require(tool)
        port = _require_usable(saved, kubernetes_provider) if saved is not None else 0
        asked.folder(variables)
        _require_readable(home, state)
        _make_room(home, state, progress)
        if saved is not None:
            worlds.unpack(home, saved)
        asked.begin(home, variables)
        progress("starting the sandbox: AWS (moto), etcd and the two providers")
        try:
            state = spawn_daemon(home, kubernetes_provider, port)
        except BaseException:
            if saved is not None:
                # The file has it still: it isn't a sandbox that somebody may miss.
                wipe(home)
            raise
        install_shims(home / "bin")
        environment.prepare_engine_home(state.engine_home)
        if kubernetes_provider is not None:
            official.install(kubernetes_provider, state.engine_home, home / "bin", read_admin_token(home / "pki"))
        return state


def ask(
    progress: Progress, home: Path, kubernetes_provider: Path | None = None, variables: Mapping[str, str] = os.environ
) -> None:
    """Ask a running sandbox for what an environment wants, and say what can't be. Raises SandboxError."""
    state = load(home)
    if state is not None:
        _ask(state, progress, kubernetes_provider, variables)


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
    silent = _silent(state, alive) if state is not None and running else ()
    return SandboxStatus(state, running, alive, dead, memory, silent)


def processes(home: Path) -> tuple[ProcessIdentity, ...]:
    """The daemon and its child processes, whether they are running or not."""
    state = load(home)
    return ((state.daemon,) if state is not None else ()) + load_children(home)


def stop(progress: Progress = lambda _: None, home: Path | None = None) -> bool:
    """Stop the sandbox and delete everything but its logs and copies of states; False if there was nothing to stop."""
    home = home or default_home()
    if not home.is_dir():
        return _end_lost(home, progress)
    with _lock(home, progress):
        state = load(home)
        existed = state is not None or bool(load_children(home))
        ended = _end_all(home, state, progress)
        wipe(home)
        if earlier := forget_aside(home):
            progress(f"deleted {earlier} sandbox{'es' if earlier > 1 else ''} that had been moved aside")
        return ended or existed or bool(earlier)


def _ask(
    state: SandboxState,
    progress: Progress,
    provider: Path | None,
    variables: Mapping[str, str],
) -> None:
    _require_same(state, provider)
    for line in asked.ask(state.home, variables):
        progress(line)


def _require_same(state: SandboxState, kubernetes_provider: Path | None) -> None:
    """A running sandbox keeps its provider; to change it, it must be stopped first."""
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
        if kept := moved_aside(home):
            msg += f". {len(kept)} sandboxes that ended by themselves are kept in {kept[0].parent}"
        raise SandboxError(msg)


def _require_usable(world: World, kubernetes_provider: Path | None) -> int:
    """The port of a world's AWS. Raises SandboxError if the world doesn't fit, or lacks a port that its states name."""
    worlds.require_fit(world)
    if world.official != (str(kubernetes_provider) if kubernetes_provider else None):
        msg = f"world {world.name} has the Kubernetes provider {world.official or 'of the sandbox'}: ask for the same"
        raise SandboxError(msg)
    for name, port in world.ports.items():
        try:
            _require_free(port)
        except SandboxError as error:
            msg = (
                f"world {world.name} needs port {port} of 127.0.0.1, where {name} was, because stack states name it, "
                "and another process uses it: try again once that has ended"
            )
            raise SandboxError(msg) from error
    return world.ports["AWS"]


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            msg = f"port {port} on 127.0.0.1 is in use"
            raise SandboxError(msg) from error


def _lock(home: Path, progress: Progress) -> AbstractContextManager[TextIO]:
    """Of two concurrent starts, the second waits and finds the sandbox running. The lock ends with its owner."""
    waits = "another command is starting or stopping the sandbox: waiting for it"
    return cache.holding(home / "lock", lambda: progress(waits))


def _require_readable(home: Path, state: SandboxState | None) -> None:
    """A daemon whose state file can't be read is still somebody's sandbox."""
    if state is not None or not (home / STATE_FILE).exists():
        return
    running = [each for each in daemons(home) if each.name == DAEMON]
    if running:
        msg = (
            f"a sandbox runs in {home} (pid {running[0].pid}), and its {STATE_FILE} can't be read: another version of "
            "Slipway may have written it. Use that version, or run `slipway sandbox stop`, which deletes the sandbox's "
            "AWS resources, cluster objects and stack states"
        )
        raise SandboxError(msg)


def _make_room(home: Path, state: SandboxState | None, progress: Progress) -> None:
    """End what an earlier sandbox left running, and move its data aside: nobody asked to delete it."""
    _end_all(home, state, progress)
    place = move_aside(home)
    if place is None:
        wipe(home)
        return
    if state is None:
        why = f"its {STATE_FILE} is missing, or can't be read"
    elif not state.daemon.of_this_boot:
        why = "the machine was restarted"
    else:
        why = f"its daemon, pid {state.daemon.pid}, was killed or has crashed; log {state.logs}"
    progress(
        f"the last sandbox ended by itself ({why}). Its AWS was in memory and is gone; its stack states and cluster "
        f"objects are kept in {place}, until you delete that folder or run `slipway sandbox stop`"
    )


def _end_all(home: Path, state: SandboxState | None, progress: Progress) -> bool:
    """End the processes of an earlier sandbox, its daemon first; False if nothing ran."""
    if state is not None:
        end([state.daemon], STOP_SECONDS)
    lost = _end_lost(home, progress)
    orphans = end(load_children(home))
    if orphans and state is not None:
        progress(f"ended the processes it left running: {', '.join(f'{each.name} ({each.pid})' for each in orphans)}")
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


def _silent(state: SandboxState, children: tuple[ProcessIdentity, ...]) -> tuple[str, ...]:
    stopped = [each for each in (state.daemon, *children) if each.stopped]
    if stopped:
        return tuple(
            f"{each.name} (pid {each.pid}) is stopped (SIGSTOP): `kill -CONT {each.pid}` lets it go on"
            for each in stopped
        )
    if _answers(state.aws_endpoint):
        return ()
    pid, log = state.daemon.pid, state.logs / DAEMON_LOG
    return (f"{DAEMON} (pid {pid}) has not answered for {ANSWER_SECONDS:g} s: try again, or see its log {log}",)


def _answers(endpoint: str) -> bool:
    """Whether the daemon's AWS answers: the kernel accepts connections for a process that is frozen, too."""
    # http.client, because urllib would use a proxy named in the environment.
    connection = http.client.HTTPConnection(endpoint.partition("://")[2], timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/moto-api/config")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
