"""Child processes: how they are started, on free ports, when they are ready, and how all of them end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

import psutil

from sandbox.cluster.patience import Patience, Work
from sandbox.errors import SandboxError
from sandbox.identity import ProcessIdentity

LOG = logging.getLogger(__name__)
LAUNCHER = Path(__file__).parents[1] / "launch.py"
HELD_SECONDS = 0.4  # how long a slow process stands still at a time
POLL_SECONDS = 0.03
RETURN_SECONDS = 60.0
"""How long a request waits for a server that died: it is started again within seconds."""
KEEP_SECONDS = 0.5
"""Between two looks at whether a child died."""
LONGEST_PAUSE = 30.0
"""Between two attempts to start one that does not come up."""
LOG_LINES = 8
"""Lines of a log that an error quotes: enough for the reason, which servers print last."""
LOG_BYTES = 8192


class ProcessError(SandboxError):
    """A child process did not start, did not become ready in time, or ended."""


class PortTakenError(ProcessError):
    """The port was free when it was chosen, but another process took it before the start."""


@dataclass(frozen=True)
class ProcessSpec:
    """A program to run. `ready` is polled until it returns true, or until the program has not worked for so many
    seconds (`patience.Patience`)."""

    name: str
    argv: Sequence[str]
    log: Path
    ready: Callable[[], bool]
    deadline_seconds: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    grace_seconds: float = 5.0
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None
    """Its working directory; this process's by default."""
    transient: bool = False
    """Whether it may end by itself: the sandbox is not damaged without it."""


class Process:
    """A running program."""

    def __init__(self, spec: ProcessSpec, popen: subprocess.Popen[bytes]) -> None:
        self.spec = spec
        self.ready = threading.Event()
        """Set while the program has been ready since it was started; not if nobody waited for that."""
        self.kept = False
        """Whether it is started again if it ends by itself (`Supervisor.keep`)."""
        self._take(popen)

    def _take(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self.identity = replace(ProcessIdentity.of(self.spec.name, popen.pid), transient=self.spec.transient)

    @classmethod
    def spawn(cls, spec: ProcessSpec) -> Process:
        """Start the program without waiting for it. The calling thread must outlive it (see launch.py)."""
        return cls(spec, _popen(spec, "wb"))

    def respawn(self) -> None:
        """Start the program, which has ended, again with the same arguments, as `spawn`; its log goes on."""
        self.ready.clear()
        self._take(_popen(self.spec, "ab"))

    def returns(self, seconds: float = RETURN_SECONDS) -> bool:
        """Whether it runs; if it ended by itself, after so many seconds in which it may be started again."""
        if not self.kept or (self.exit_code is None and self.ready.is_set()):
            return self.exit_code is None
        patience = Patience(seconds)
        while not (self.exit_code is None and self.ready.is_set()) and patience.look():
            time.sleep(POLL_SECONDS)
        return self.exit_code is None and self.ready.is_set()

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the program runs."""
        return self._popen.poll()

    def wait_until_ready(self) -> None:
        """Raises ProcessError, with the end of the log, if the program ends, or does nothing for too long."""
        patience, work = Patience(self.spec.deadline_seconds), Work(self.identity.pid)
        while not self.spec.ready():
            if self.exit_code is not None:
                raise self._ended()
            if not patience.look(work()):
                msg = f"{self.spec.name} is not ready {patience}"
                raise ProcessError(self._with_log(msg))
            time.sleep(POLL_SECONDS)
        self.ready.set()

    def stop(self) -> None:
        """Send the stop signal; kill the program if it outlives its grace period."""
        if self.exit_code is None:
            self._popen.send_signal(self.spec.stop_signal)
        try:
            self._popen.wait(self.spec.grace_seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It stands still meanwhile, and its files stay as a crash of it would leave them."""
        self._popen.send_signal(signal.SIGSTOP)
        try:
            while self.exit_code is None and not self.identity.stopped:
                time.sleep(POLL_SECONDS)
            # Threads on other processors stop a moment after the first.
            time.sleep(POLL_SECONDS)
            yield
        finally:
            self._popen.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once."""
        self._popen.kill()
        self._popen.wait()

    def _ended(self) -> ProcessError:
        message = self._with_log(f"{self.spec.name} ended with exit code {self.exit_code} before it was ready")
        return PortTakenError(message) if "address already in use" in message else ProcessError(message)

    def _with_log(self, message: str) -> str:
        lines = "\n".join(f"    {line}" for line in tail(self.spec.log))
        return f"{message}; the last lines of its log {self.spec.log}:\n{lines}"


def _popen(spec: ProcessSpec, mode: Literal["wb", "ab"]) -> subprocess.Popen[bytes]:
    spec.log.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *spec.argv]
    try:
        with spec.log.open(mode) as log:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **spec.environment},
                # Ctrl-C in the terminal must reach only the daemon, which then stops its children in order.
                start_new_session=True,
                cwd=spec.directory,
            )
    except OSError as error:
        msg = f"{spec.name} can't be started ({spec.argv[0]}): {error}"
        raise ProcessError(msg) from error


def detached(argv: list[str], log: Path, environment: Mapping[str, str]) -> int:
    """Start a process that outlives this one, with posix_spawn: subprocess would warn that it is left running."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(argv[0], argv, environment, file_actions=files, setsid=True)


def tail(log: Path, lines: int = LOG_LINES) -> list[str]:
    """The last lines of a log; none if it can't be read."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LOG_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return text.splitlines()[-lines:]


# Free ports, for servers that can't choose one themselves.

T = TypeVar("T")
ATTEMPTS = 4


def free_ports(count: int) -> tuple[int, ...]:
    """Distinct loopback ports that are free at this moment."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return tuple(each.getsockname()[1] for each in sockets)
    finally:
        for each in sockets:
            each.close()


def with_free_ports(count: int, start: Callable[[tuple[int, ...]], T]) -> T:
    """Start a server on free ports; retry on others if another process took one of them before the start."""
    for _ in range(ATTEMPTS - 1):
        try:
            return start(free_ports(count))
        except PortTakenError:
            continue
    return start(free_ports(count))


# Starts the child processes of the sandbox, lists them, and stops them in reverse order.


class Supervisor:
    """The child processes, oldest first. `changed` is called after each start and stop, outside of any lock."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._children: list[Process] = []
        self._lock = threading.Lock()
        self._stopping = False
        self._keeping = False
        # The kernel kills a child when the *thread* that started it ends, so one permanent thread starts them all.
        self._spawner = ThreadPoolExecutor(1, thread_name_prefix="spawner")

    def start(self, spec: ProcessSpec) -> Process:
        """Start a program and wait until it is ready. After a ProcessError nothing is left running."""
        process = self._spawner.submit(self._spawn, spec).result()
        self._changed()
        try:
            process.wait_until_ready()
        except BaseException:
            self.stop(process)
            raise
        process.kept = self._keeping and not process.spec.transient
        return process

    def _spawn(self, spec: ProcessSpec) -> Process:
        with self._lock:
            if self._stopping:
                msg = f"{spec.name} is not started: the sandbox is stopping"
                raise ProcessError(msg)
            process = Process.spawn(spec)
            self._children.append(process)
        return process

    def stop(self, process: Process) -> None:
        """Stop one child."""
        with self._lock:
            # Before it ends: it is not to be started again.
            process.kept = False
        process.stop()
        with self._lock:
            if process in self._children:
                self._children.remove(process)
        self._changed()

    def keep(self) -> None:
        """From now on, start children again that end by themselves after they were ready.

        What they know is in etcd, and what etcd knows is on the disk: nothing is lost.
        """
        with self._lock:
            self._keeping = True
            for process in self._children:
                process.kept = process.ready.is_set() and not process.spec.transient
        threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def _keep(self) -> None:
        failures = 0
        while not self._stopping:
            time.sleep(min(LONGEST_PAUSE, KEEP_SECONDS * 2**failures))
            # The oldest first: the others need it.
            failures = 0 if all(map(self._revived, self._dead())) else min(failures + 1, 10)

    def _revived(self, process: Process) -> bool:
        LOG.warning("%s ended with exit code %s: starting it again", process.spec.name, process.exit_code)
        try:
            self._spawner.submit(self._respawn, process).result()
            self._changed()
            process.wait_until_ready()
        except (SandboxError, psutil.NoSuchProcess) as error:
            LOG.warning("%s", error)
            with self._lock:
                if process.kept:
                    process.kill()
            return not process.kept
        LOG.warning("%s runs again, pid %d", process.spec.name, process.identity.pid)
        return True

    def _dead(self) -> list[Process]:
        with self._lock:
            return [each for each in self._children if each.kept and each.exit_code is not None]

    def _respawn(self, process: Process) -> None:
        with self._lock:
            if process.kept and not self._stopping:
                process.respawn()

    def pause(self, name: str, seconds: float, *, breathing: bool = False) -> None:
        """Let the children with this name, or with one that begins with it, stand still for a while; if they are
        `breathing`, they run a fifth of it. Raises ProcessError if there are none."""
        with self._lock:
            named = [each for each in self._children if f"{each.spec.name} ".startswith(f"{name} ")]
            names = sorted({each.spec.name.split()[0] for each in self._children})
        if not named:
            msg = f"nothing named {name} runs: {', '.join(names)}"
            raise ProcessError(msg)

        def stand(process: Process) -> None:
            ends = time.monotonic() + seconds
            while process.exit_code is None and (left := ends - time.monotonic()) > 0:
                with process.frozen():
                    time.sleep(min(left, HELD_SECONDS) if breathing else left)
                time.sleep(HELD_SECONDS / 4 if breathing else 0)

        for each in named:
            threading.Thread(target=stand, args=(each,), name=f"pause {name}", daemon=True).start()

    def stop_all(self) -> None:
        """Stop all children, the newest first, and refuse further starts."""
        with self._lock:
            self._stopping = True
            children = list(reversed(self._children))
        for process in children:
            self.stop(process)

    def identities(self) -> tuple[ProcessIdentity, ...]:
        """The running children, oldest first."""
        with self._lock:
            return tuple(process.identity for process in self._children)
