"""Starts the child processes of the sandbox, lists them, and stops them in reverse order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from slipway.sandbox.cluster.identity import ProcessIdentity
from slipway.sandbox.cluster.process import Process, ProcessError, ProcessSpec


class Supervisor:
    """The child processes, oldest first. `changed` is called after each start and stop, outside of any lock."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self._changed = changed
        self._children: list[Process] = []
        self._lock = threading.Lock()
        self._stopping = False
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
        process.stop()
        with self._lock:
            if process in self._children:
                self._children.remove(process)
        self._changed()

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
