"""The running clusters: one API server each, started with the EKS cluster and stopped with it.

A *spare* is an API server that belongs to no cluster yet. It validates manifests while their cluster does not exist (a
first preview), and the next cluster of its version adopts it, so that it is started only once.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from sandbox.cluster.apiserver import ApiServer
from sandbox.cluster.process import tail
from sandbox.errors import SandboxError
from sandbox.ports import ClusterEndpoint

PARALLEL_STARTS = 4


class Servers(Protocol):
    """Starts and stops API servers."""

    def served(self, version: str) -> str:
        """The minor version that an API server for a cluster of a version serves."""

    def start(self, slot: str, version: str) -> ApiServer:
        """A new API server with an empty store that serves a version."""

    def restart(self, server: ApiServer, version: str) -> ApiServer:
        """The server with another version, at the same address and with the same objects."""

    def adopt(self, server: ApiServer, slot: str) -> ApiServer:
        """The API server of a cluster that takes over a spare: the spare itself, or a new one; its store is empty."""

    def resume(self, slot: str, version: str, port: int) -> ApiServer:
        """A server at an address, with the objects that are in its store."""

    def stop(self, server: ApiServer) -> None:
        """Stop the server and delete its data."""


class Beside(Protocol):
    """What runs beside the API server of a cluster, and not beside a spare."""

    def begin(self, slot: str, server: ApiServer) -> None:
        """Start it and wait until it is healthy. Raises SandboxError, and then leaves nothing running."""

    def schedule(self, slot: str, config: Mapping[str, Any]) -> None:
        """Configure its scheduler by EKS's `kubeSchedulerConfig`. Raises SandboxError if it does not start with it."""

    def end(self, slot: str) -> None:
        """Stop it; nothing where nothing runs."""


class Nothing:
    """Implements `Beside` for API servers that nobody lives on."""

    def begin(self, slot: str, server: ApiServer) -> None:
        """Nothing to start."""

    def schedule(self, slot: str, config: Mapping[str, Any]) -> None:
        """No scheduler."""

    def end(self, slot: str) -> None:
        """Nothing to stop."""


@dataclass(frozen=True)
class Saved:
    """A running cluster, as a saved sandbox has it; `made` and `schedule` are the pool's."""

    made: str
    slot: str
    version: str
    port: int
    schedule: Mapping[str, Any]


class ClusterPool:
    """Implements `ports.Clusters`; thread-safe. Clusters of different names start in parallel."""

    def __init__(
        self, servers: Servers, changed: Callable[[], None] = lambda: None, beside: Beside | None = None
    ) -> None:
        self._servers = servers
        self._beside = beside or Nothing()
        self._changed = changed
        self._lock = threading.Lock()
        self._clusters: dict[str, Future[ApiServer]] = {}
        self._upgrades: dict[str, Future[ApiServer]] = {}
        self._made: dict[str, str] = {}
        self._schedules: dict[str, Mapping[str, Any]] = {}
        self._spares: dict[str, Future[ApiServer]] = {}
        self._expected: dict[tuple[str, str], str] = {}
        """The version that a program wants of a cluster; of its last one, with an empty name."""
        self._slots = 0
        self._starts = ThreadPoolExecutor(PARALLEL_STARTS, thread_name_prefix="cluster-start")

    # -- ports.Clusters ------------------------------------------------------------------------------------------------

    def expect(self, program: str, version: str, name: str = "") -> None:
        """A program's manifests are for clusters of this version, and so is its cluster of that name."""
        with self._lock:
            self._expected[program, ""] = self._expected[program, name] = version

    def create(self, name: str, version: str = "", made: str = "") -> ClusterEndpoint:
        """The cluster's endpoint, once its API server is ready. Raises SandboxError if it does not become ready."""
        served = self._servers.served(version)
        with self._lock:
            former = made and self._made.get(name, made) != made
            self._made[name] = made or self._made.get(name, "")
        if former:
            self.delete(name)
        with self._lock:
            future = self._upgrades.get(name) or self._clusters.get(name)
            if future is None:
                future = self._starts.submit(
                    self._new_server, self._spares.pop(served, None), self._next_slot(), served
                )
                self._clusters[name] = future
            elif _ready(future) and version and future.result().version != served:
                future = self._starts.submit(self._upgraded, future.result(), served)
                self._upgrades[name] = future
        try:
            endpoint = future.result().endpoint
        except BaseException:
            with self._lock:
                if future in (self._clusters.get(name), self._upgrades.get(name)):
                    self._clusters.pop(name, None)
                    self._upgrades.pop(name, None)
            raise
        with self._lock:
            if self._upgrades.get(name) is future:
                self._clusters[name] = self._upgrades.pop(name)
        self._changed()
        return endpoint

    def schedule(self, name: str, config: Mapping[str, Any]) -> None:
        """Configure the scheduler of a running cluster by EKS's `kubeSchedulerConfig`."""
        server = self.existing().get(name)
        if server is not None:
            self._beside.schedule(server.slot, config)
            self._schedules[name] = config

    def delete(self, name: str) -> None:
        """Stop the cluster's API server and delete its data."""
        with self._lock:
            future = self._clusters.pop(name, None)
        if future is not None and future.exception() is None:
            server = future.result()
            self._beside.end(server.slot)
            self._servers.stop(server)
            self._changed()

    def get(self, name: str) -> ClusterEndpoint | None:
        """The endpoint of a running cluster."""
        server = self.existing().get(name)
        return None if server is None else server.endpoint

    # -- saved sandboxes -----------------------------------------------------------------------------------------------

    def saved(self) -> tuple[int, dict[str, Saved]]:
        """How many slots were used, and the clusters. Raises SandboxError while one starts."""
        running = self.existing()
        if waiting := [*self._upgrades, *(name for name in self._clusters if name not in running)]:
            msg = f"cluster {waiting[0]} is starting: save the sandbox when it runs"
            raise SandboxError(msg)
        found = {}
        for name, server in running.items():
            port = urlsplit(server.endpoint.server).port or 0
            made, schedule = self._made.get(name, ""), self._schedules.get(name, {})
            found[name] = Saved(made, server.slot, server.version, port, schedule)
        return self._slots, found

    def resume(self, slots: int, clusters: Mapping[str, Saved]) -> None:
        """Start the clusters of a saved sandbox, whose store this is. Raises SandboxError."""
        self._slots = slots
        for name, one in clusters.items():
            self._made[name] = one.made
            self._clusters[name] = self._starts.submit(self._resumed, one)
        for name, one in clusters.items():
            self._clusters[name].result()
            self.schedule(name, one.schedule)
        self._changed()

    def _resumed(self, one: Saved) -> ApiServer:
        return self._with_controllers(self._servers.resume(one.slot, one.version, one.port))

    # -- for the kubernetes provider -----------------------------------------------------------------------------------

    def existing(self) -> dict[str, ApiServer]:
        """The clusters that are ready, oldest first."""
        with self._lock:
            return {name: future.result() for name, future in self._clusters.items() if _ready(future)}

    def running(self) -> tuple[ApiServer, ...]:
        """All API servers that are ready: those of clusters, and the spare."""
        with self._lock:
            futures = [*self._clusters.values(), *self._spares.values()]
        return tuple(future.result() for future in futures if _ready(future))

    def at(self, url: str) -> tuple[str, ApiServer] | None:
        """The name and server of the cluster at a URL, once upgraded. Raises SandboxError if its process has ended."""
        for name, server in self.existing().items():
            if server.endpoint.server == url:
                upgrade = self._upgrades.get(name)
                current = server if upgrade is None else upgrade.result()
                _require_alive(name, current)
                return name, current
        return None

    def awaits(self, program: str, name: str) -> str:
        """The version that a program is about to give to a running cluster; empty if it keeps its own."""
        server, wanted = self.existing().get(name), self._expected.get((program, name))
        served = self._servers.served(wanted) if server is not None and wanted is not None else ""
        return served if server is not None and served != server.version else ""

    def wanted(self, program: str, name: str) -> str:
        """The version that a program wants of a cluster, else the one that is served; empty if neither is known."""
        server = self.existing().get(name)
        return self._expected.get((program, name)) or (server.version if server is not None else "")

    def spare(self, program: str = "") -> ApiServer:
        """The API server for a program whose cluster does not exist; started if there is none yet."""
        while True:
            future = self.prewarm(program)
            try:
                server = future.result()
            except BaseException:
                self._forget_spare(future)
                raise
            if server.process.returns():
                return server
            self._forget_spare(future)

    def prewarm(self, program: str = "") -> Future[ApiServer]:
        """Start the spare of a program without waiting for it."""
        with self._lock:
            served = self._servers.served(self._expected.get((program, ""), ""))
            if served not in self._spares:
                self._spares[served] = self._starts.submit(self._servers.start, self._next_slot(), served)
            return self._spares[served]

    # ------------------------------------------------------------------------------------------------------------------

    def _new_server(self, spare: Future[ApiServer] | None, slot: str, served: str) -> ApiServer:
        server = self._servers.start(slot, served) if spare is None else self._adopt(spare, slot, served)
        return self._with_controllers(server)

    def _upgraded(self, server: ApiServer, served: str) -> ApiServer:
        self._beside.end(server.slot)
        return self._with_controllers(self._servers.restart(server, served))

    def _with_controllers(self, server: ApiServer) -> ApiServer:
        try:
            self._beside.begin(server.slot, server)
        except BaseException:
            self._servers.stop(server)
            raise
        return server

    def _adopt(self, spare: Future[ApiServer], slot: str, served: str) -> ApiServer:
        server = spare.result()
        if not server.process.returns():
            return self._servers.start(slot, served)
        return self._servers.adopt(server, slot)

    def _forget_spare(self, future: Future[ApiServer]) -> None:
        with self._lock:
            for served in [served for served, each in self._spares.items() if each is future]:
                del self._spares[served]

    def _next_slot(self) -> str:
        self._slots += 1
        return f"api-{self._slots}"


def _ready(future: Future[ApiServer]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _require_alive(name: str, server: ApiServer) -> None:
    process = server.process
    if process.returns():
        return
    log = process.spec.log
    again = ", and did not start again" if process.kept else ""
    msg = (
        f"the API server of cluster {name} has ended (exit code {process.exit_code}{again}; log {log}: "
        f"{' | '.join(tail(log, 2))}); run `slipway sandbox stop`, which deletes all that is in the sandbox, then "
        "start it again"
    )
    raise SandboxError(msg)
