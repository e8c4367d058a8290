"""Starting the daemon as a process that outlives the command that starts it."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from slipway.errors import SandboxError
from slipway.sandbox import IN_SANDBOX_SHELL, bytecode
from slipway.sandbox.cluster.identity import ProcessIdentity, end
from slipway.sandbox.cluster.process import tail
from slipway.sandbox.state import CHILDREN_FILE, STATE_FILE, SandboxState, load, load_children

START_SECONDS = 60.0
"""The daemon is ready in 3 to 5 s (2 cores, 2026-11); the first start on a machine compiles and reads much more."""
STOP_SECONDS = 20.0
REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""The default of an aws provider that names no region."""
DAEMON_LOG = "daemon.log"
DAEMON = "daemon"
"""Name of its process in messages."""
ERROR = "error: "
"""Prefix of the daemon's last line if it can't start."""


def spawn_daemon(home: Path, aws_port: int | None, account: str | None, official: Path | None = None) -> SandboxState:
    """Start the daemon and wait until it is ready. After a SandboxError or Ctrl-C, nothing is left running."""
    log = home / "logs" / DAEMON_LOG
    log.parent.mkdir(exist_ok=True)
    # The CLI's file backend requires its folder to exist.
    (home / "pulumi").mkdir(exist_ok=True)
    pid = _spawn(_argv(home, aws_port, account, official), log)
    try:
        return _wait_until_ready(home, pid, log)
    except BaseException:
        _end(home, pid)
        raise


def daemons(home: Path) -> list[ProcessIdentity]:
    """The running daemons of a home, and the processes that they started, by the arguments that they were started with.

    For a home whose files were deleted: otherwise its state file names the daemon.
    """
    named = _argv(home, None, None, None)[2:]
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
    charts = os.environ.get("SLIPWAY_CHARTS")
    named = {"SLIPWAY_CHARTS": str(Path(charts).absolute())} if charts else {}
    return {**kept, **named, **bytecode.variables(kept)}


def _argv(home: Path, aws_port: int | None, account: str | None, official: Path | None) -> list[str]:
    argv = [sys.executable, "-P", "-m", "slipway.sandbox.daemon", "--home", str(home)]
    argv += ["--aws-port", str(aws_port)] if aws_port else []
    argv += ["--account", account] if account else []
    argv += ["--official", str(official)] if official else []
    return argv


def _spawn(argv: list[str], log: Path) -> int:
    """Start the process with posix_spawn: subprocess would warn about a process that is left running."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(argv[0], argv, daemon_environment(), file_actions=files, setsid=True)


def _wait_until_ready(home: Path, pid: int, log: Path) -> SandboxState:
    deadline = time.monotonic() + START_SECONDS
    while True:
        state = load(home)
        if state is not None and state.daemon.pid == pid:
            return state
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            msg = f"the sandbox did not start: {_reason(log)} (log: {log})"
            raise SandboxError(msg)
        if time.monotonic() > deadline:
            msg = f"the sandbox is not ready after {START_SECONDS:g} s: {_reason(log)} (log: {log})"
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
