"""One controller beside one cluster: waits for its binary, runs it, and starts it again if it ends."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import urllib3

from slipway.errors import SandboxError
from slipway.sandbox.cluster.freeport import with_free_ports
from slipway.sandbox.cluster.process import Process, ProcessError, ProcessSpec, tail
from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.controllers import certificates
from slipway.sandbox.controllers.builds import Builds
from slipway.sandbox.controllers.files import Files
from slipway.sandbox.controllers.launch import Launch, arguments, filled
from slipway.sandbox.controllers.report import Entry, Report, State
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.controllers import HEALTH, LOOPBACK
from slipway.sandbox.kubernetes.errors import ApiError

LOOK_SECONDS: Final = 0.5
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
                reason = f"it ended with exit code {self._process.exit_code}: {_last(self._log)}"
            except (SandboxError, ApiError) as error:
                reason = " ".join(str(error).split())
            if self._stopped.is_set():
                return
            pause = 1.0 if time.monotonic() - began > STABLE_SECONDS else min(2 * pause, LONGEST_PAUSE)
            self._set(State.FAILING, reason)
            self._end()
            self._stopped.wait(pause)

    def _binary(self) -> Path | None:
        """The binary, once it is built; None if it can't be."""
        controller = self.launch.controller
        while not self._stopped.is_set():
            binary = controller.binary
            if binary is not None:
                return binary
            self._place.builds.want(controller)
            failure = self._place.builds.failure(controller)
            if failure:
                self._set(State.MISSING, failure)
                return None
            self._set(State.BUILDING, f"progress in {self._place.builds.log(controller.name)}")
            self._stopped.wait(LOOK_SECONDS)
        return None

    def _start(self, binary: Path) -> Process:
        names = (HEALTH, *dict.fromkeys(self.launch.controller.ports.values()))

        def start(ports: tuple[int, ...]) -> Process:
            self._ports = dict(zip(names, ports, strict=True))
            values = self._values()
            if self.launch.controller.issued:
                certificates.issue(self._client, self.launch)
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


def _last(log: Path) -> str:
    return next(iter(tail(log, 1)), "its log is empty")
