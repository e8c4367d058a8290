"""One controller beside one cluster: its binary is built, its process runs, and a file of the home reports it."""

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import urllib3

from sandbox import environment
from sandbox.cluster.process import Process, ProcessError, ProcessSpec, Supervisor, detached, tail, with_free_ports
from sandbox.errors import SandboxError
from sandbox.files import write_atomically
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.controllers.launch import Files, Launch, arguments, filled, issue_certificate
from sandbox.kubernetes.controllers.table import CONTROLLERS, HEALTH, LOOPBACK, Controller

# What each controller does, in a file of the sandbox's home: the command is another process than the daemon.

FILE: Final = "controllers.json"


class State(StrEnum):
    """What a controller does."""

    BUILDING = "is being built"
    STARTING = "starts"
    RUNNING = "runs"
    FAILING = "fails"
    """It ended, or was never ready, and is started again."""
    MISSING = "can't be built"
    OTHER_VERSION = "has another version"
    """The stack installs a version that this release of Slipway has no build for."""


@dataclass(frozen=True)
class Entry:
    """One controller of one cluster: `detail` is the reason of a state that is not `RUNNING`, `log` its log."""

    slot: str
    name: str
    version: str
    state: State
    detail: str = ""
    log: str = ""

    @property
    def text(self) -> str:
        """`kueue 0.19.2 is being built: 412 packages`."""
        return f"{self.name} {self.version} {self.state}" + (f": {self.detail}" if self.detail else "")


class Report:
    """The entries. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._entries: dict[tuple[str, str], Entry] = {}
        self._lock = threading.Lock()

    def set(self, entry: Entry) -> None:
        """Add or replace the entry of a controller."""
        with self._lock:
            if self._entries.get((entry.slot, entry.name)) != entry:
                self._entries[entry.slot, entry.name] = entry
                self._save()

    def clear(self, slot: str, name: str) -> None:
        """Remove it."""
        with self._lock:
            if self._entries.pop((slot, name), None) is not None:
                self._save()

    def get(self, slot: str, name: str) -> Entry | None:
        """The entry of a controller."""
        with self._lock:
            return self._entries.get((slot, name))

    def _save(self) -> None:
        entries = [asdict(each) for _, each in sorted(self._entries.items())]
        # Without its home a sandbox ends, and its controllers with it.
        with suppress(FileNotFoundError):
            write_atomically(self._path, json.dumps(entries, indent=1))


def load(home: Path) -> tuple[Entry, ...]:
    """The entries of a sandbox; none if the file is missing or can't be read."""
    try:
        document = json.loads((home / FILE).read_text(encoding="utf-8"))
        return tuple(Entry(**{**each, "state": State(each["state"])}) for each in document)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


# Building the controllers in the background, one at a time, while the rest of a stack comes up.

LOOK_SECONDS: Final = 0.5
NICENESS: Final = "10"
"""So that a build takes the processor only while nothing else needs it."""
_ENDED: Final = (130, -signal.SIGTERM)
"""Exit codes of a build that was asked to end, after and before its interpreter had started."""
_RANKS: Final = {each.name: rank for rank, each in enumerate(CONTROLLERS)}


class Builds:
    """Builds what is asked for, first what most jobs wait for: in the order of the table. Thread-safe.

    A build goes on when the sandbox ends: the next finds its result, or waits for it (`toolchain.building`). One that
    makes way for another loses the packages that are just being compiled: Go's cache has the rest.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._wanted: set[str] = set()
        self._failures: dict[str, str] = {}
        self.present = ""
        """What is being built."""
        self._pid = 0
        self._ending = False
        self._lock = threading.Lock()

    def want(self, controller: Controller) -> str:
        """Build a controller unless it is there, or failed to build in this sandbox; why it did, or nothing.

        To be called again until it is there.
        """
        with self._lock:
            if controller.binary is None and controller.name not in self._failures:
                self._wanted.add(controller.name)
            self._settle()
            return self._failures.get(controller.name, "")

    def log(self, name: str) -> Path:
        """The progress of a build."""
        return self._logs / f"build-{name}.log"

    def _settle(self) -> None:
        """Note what has ended, and begin, or make way for, what is wanted first."""
        if self.present:
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            if ended:
                self._end(self.present, os.waitstatus_to_exitcode(status))
        first = min(self._wanted, key=lambda name: _RANKS.get(name, len(_RANKS)), default="")
        if first and not self.present:
            self.present, self._pid, self._ending = first, self._spawn(first), False
        elif first != self.present and not self._ending:
            self._ending = True
            os.kill(self._pid, signal.SIGTERM)

    def _spawn(self, name: str) -> int:
        nice = shutil.which("nice")
        argv = [sys.executable, "-m", "sandbox.toolchain", "ensure", name]
        self._logs.mkdir(parents=True, exist_ok=True)
        variables = {**os.environ, **environment.bytecode_variables(os.environ)}
        return detached([*((nice, "-n", NICENESS) if nice else ()), *argv], self.log(name), variables)

    def _end(self, name: str, code: int) -> None:
        self.present = ""
        if code in _ENDED:
            return
        self._wanted.discard(name)
        if code:
            lines = tail(self.log(name), 40) or [f"exit code {code}"]
            ways = [line.removeprefix("  - ") for line in lines if line.startswith("  - ")]
            self._failures[name] = (
                f"{(ways or lines)[-1]}. Once that is fixed, `python -m sandbox.toolchain ensure {name}` builds it"
            )


# One controller beside one cluster: waits for its binary, runs it, and starts it again if it ends.

READY_SECONDS: Final = 900.0
"""Kueue writes its certificate into five large CRDs first, and looks at growing intervals whether that is done: 10 s,
and four minutes on a machine with ten times as much work as processors (2026-11). Whoever waits for its pods gives up
before."""
STABLE_SECONDS: Final = 120.0
"""After this long, the next start is at once."""
REFRESH_SECONDS: Final = 30.0
MIRROR_SECONDS: Final = 0.3
"""Between two looks at the Secrets of a controller that starts: it may wait for the certificate that it just made."""
LONGEST_PAUSE: Final = 30.0
"""Between two starts; a kubelet waits up to five minutes (kubernetes.io, "Pod Lifecycle", CrashLoopBackOff)."""
_FOREIGN: Final = ("AWS_", "KUBE", "HELM_", "PULUMI_")


@dataclass(frozen=True)
class Place:
    """What all controllers of a sandbox share."""

    supervisor: Supervisor
    builds: Builds
    report: Report
    directory: Path
    logs: Path


class Running:
    """A thread that keeps one controller running until it is stopped."""

    def __init__(
        self, place: Place, slot: str, client: KubeClient, launch: Launch, changed: Callable[[], None] = lambda: None
    ) -> None:
        self.launch = launch
        self._place = place
        self._slot = slot
        self._client = client
        self._changed = changed
        self._directory = place.directory / slot / launch.controller.name
        self._log = place.logs / f"{launch.controller.name}-{slot}.log"
        self._ports: dict[str, int] = {}
        self._process: Process | None = None
        self._files = Files(self._directory, client, launch)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"{launch.controller.name} {slot}", daemon=True)

    def start(self) -> None:
        """Begin."""
        if self.launch.controller.binary is not None:
            self._report(State.STARTING)
        self._thread.start()

    def stop(self) -> None:
        """End the process; its entry in the report goes with it."""
        self._stopped.set()
        process = self._process
        if process is not None:
            self._place.supervisor.stop(process)
        self._thread.join()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._place.report.clear(self._slot, self.launch.controller.name)

    @property
    def ready(self) -> bool:
        """Whether it runs, and answers."""
        return self._state is State.RUNNING

    @property
    def expected(self) -> bool:
        """Whether it runs or is about to: it is not, while it is being built or can't be."""
        return self._state in (State.STARTING, State.RUNNING, State.FAILING)

    def port(self, target: str | int) -> int | None:
        """Its local port for the port of its container that a Service targets; None if it has none."""
        number = self.launch.port(target)
        name = self.launch.controller.ports.get(number) if number is not None else None
        return self._ports.get(name) if name is not None and self.expected else None

    # ------------------------------------------------------------------------------------------------------------------

    @property
    def _state(self) -> State | None:
        entry = self._place.report.get(self._slot, self.launch.controller.name)
        return entry.state if entry is not None else None

    def _set(self, state: State, detail: str = "") -> None:
        self._report(state, detail)
        self._changed()

    def _report(self, state: State, detail: str = "") -> None:
        controller = self.launch.controller
        log = "" if state is State.BUILDING else str(self._log)
        self._place.report.set(Entry(self._slot, controller.name, controller.version, state, detail, log))

    def _run(self) -> None:
        binary = self._binary()
        pause = 1.0
        while binary is not None and not self._stopped.is_set():
            self._set(State.STARTING)
            began = time.monotonic()
            try:
                self._process = self._start(binary)
                # First its webhooks get their certificate's authority: once it is reported its pods are ready, Helm
                # goes on, and the next object of the stack may already call them.
                self._changed()
                self._report(State.RUNNING)
                self._follow(self._process)
                last = next(iter(tail(self._log, 1)), "its log is empty")
                reason = f"it ended with exit code {self._process.exit_code}: {last}"
            except (SandboxError, ApiError) as error:
                reason = " ".join(str(error).split())
            if self._stopped.is_set():
                return
            pause = 1.0 if time.monotonic() - began > STABLE_SECONDS else min(2 * pause, LONGEST_PAUSE)
            self._set(State.FAILING, reason)
            self._end()
            self._stopped.wait(pause)

    def _binary(self) -> Path | None:
        """The binary, once it is built: here, or by whoever fixed why that failed; None if it is wanted no more."""
        controller = self.launch.controller
        while not self._stopped.is_set():
            binary = controller.binary
            if binary is not None:
                return binary
            failure = self._place.builds.want(controller)
            state = State.MISSING if failure else State.BUILDING
            if self._state is not state:
                self._set(state, failure or f"progress in {self._place.builds.log(controller.name)}")
            self._stopped.wait(LOOK_SECONDS)
        return None

    def _start(self, binary: Path) -> Process:
        names = (HEALTH, *dict.fromkeys(self.launch.controller.ports.values()))

        def start(ports: tuple[int, ...]) -> Process:
            self._ports = dict(zip(names, ports, strict=True))
            values = self._values()
            if self.launch.controller.issued:
                issue_certificate(self._client, self.launch)
            missing = self._files.write(values)
            if missing:
                msg = f"{missing} not found in namespace {self.launch.namespace}, which its container mounts"
                raise ProcessError(msg)
            return self._place.supervisor.start(self._spec(binary, values))

        return with_free_ports(len(names), start)

    def _spec(self, binary: Path, values: dict[str, Any]) -> ProcessSpec:
        controller = self.launch.controller
        ours = {name: str(filled(value, values)) for name, value in controller.environment.items()}
        variables = dict(self.launch.environment) | ours
        http = urllib3.PoolManager(retries=False, timeout=2.0)
        mirrored = 0.0

        def ready() -> bool:
            nonlocal mirrored
            if self._stopped.is_set():
                # Its Deployment is gone: nobody waits until it is ready, which may take minutes.
                msg = f"{controller.name} is not wanted any more"
                raise ProcessError(msg)
            if time.monotonic() - mirrored > MIRROR_SECONDS:
                self._files.refresh(values)
                mirrored = time.monotonic()
            url = f"http://{LOOPBACK}:{self._ports[HEALTH]}{controller.readiness}"
            try:
                return bool(http.request("GET", url).status == 200)
            except urllib3.exceptions.HTTPError:
                return False

        return ProcessSpec(
            f"{controller.name} {self._slot}",
            [str(binary), *arguments(self.launch, values)],
            self._log,
            ready=ready,
            deadline_seconds=READY_SECONDS,
            environment={
                # Emptied rather than removed: the user's clusters and accounts are not the controller's.
                **{name: "" for name in os.environ if name.startswith(_FOREIGN)},
                **variables,
                "KUBECONFIG": str(self._files.kubeconfig),
                "TMPDIR": str(self._files.temporary),
                "HOME": str(self._files.root),
            },
            directory=self._files.root,
            transient=True,
        )

    def _values(self) -> dict[str, Any]:
        return {
            **self._ports,
            "home": str(self._place.directory.parent),
            "root": str(self._files.root),
            "namespace": self.launch.namespace,
            "kubeconfig": str(self._files.kubeconfig),
        }

    def _follow(self, process: Process) -> None:
        """Wait until it ends, with its Secrets and its token up to date."""
        refreshed = time.monotonic()
        while process.exit_code is None and not self._stopped.is_set():
            if time.monotonic() - refreshed > REFRESH_SECONDS:
                refreshed = time.monotonic()
                self._refresh()
            self._stopped.wait(LOOK_SECONDS)

    def _refresh(self) -> None:
        try:
            self._files.refresh(self._values())
        except (SandboxError, ApiError):
            # The API server is busy, or the account is gone with its release: the next look is soon.
            return

    def _end(self) -> None:
        if self._process is not None:
            self._place.supervisor.stop(self._process)
            self._process = None
