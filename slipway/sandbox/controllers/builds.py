"""Building the controllers in the background, one at a time, while the rest of a stack comes up."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Final

from slipway.sandbox import bytecode
from slipway.sandbox.cluster.process import ProcessError, ProcessSpec, tail
from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.kubernetes.controllers import Controller

LOOK_SECONDS: Final = 0.5
NICENESS: Final = "10"
"""So that a build takes the processor only while nothing else needs it."""


class Builds:
    """Builds what is asked for. Thread-safe."""

    def __init__(self, supervisor: Supervisor, logs: Path) -> None:
        self._supervisor = supervisor
        self._logs = logs
        self._failures: dict[str, str] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def want(self, controller: Controller) -> None:
        """Build a controller unless it is there, is being built, or failed to build in this sandbox."""
        with self._lock:
            name = controller.name
            if controller.binary is not None or name in self._threads or self._stopped.is_set():
                return
            self._threads[name] = threading.Thread(target=self._build, args=(name,), name=f"build {name}", daemon=True)
            self._threads[name].start()

    def failure(self, controller: Controller) -> str:
        """Why it can't be built; empty if it can, or nobody tried."""
        with self._lock:
            return self._failures.get(controller.name, "")

    def log(self, name: str) -> Path:
        """The progress of a build."""
        return self._logs / f"build-{name}.log"

    def progress(self, controller: Controller) -> str:
        """The last line of its progress."""
        return next(iter(tail(self.log(controller.name), 1)), "")

    def stop(self) -> None:
        """End; Go's cache keeps what was compiled."""
        self._stopped.set()

    def _build(self, name: str) -> None:
        with self._turn:
            if self._stopped.is_set():
                return
            nice = shutil.which("nice")
            argv = [sys.executable, "-m", "slipway.toolchain", "ensure", name]
            spec = ProcessSpec(
                f"build of {name}",
                [*((nice, "-n", NICENESS) if nice else ()), *argv],
                self.log(name),
                ready=lambda: True,
                environment=bytecode.variables(os.environ),
                transient=True,
            )
            try:
                process = self._supervisor.start(spec)
            except ProcessError as error:
                self._fail(name, str(error))
                return
            while process.exit_code is None and not self._stopped.is_set():
                time.sleep(LOOK_SECONDS)
            code = process.exit_code
            self._supervisor.stop(process)
            if code:
                self._fail(name, next(iter(tail(self.log(name), 1)), f"exit code {code}"))

    def _fail(self, name: str, reason: str) -> None:
        with self._lock:
            self._failures[name] = reason
