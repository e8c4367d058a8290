import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox.cluster.apiserver import ApiServer
from sandbox.cluster.clusters import ClusterPool
from sandbox.errors import SandboxError
from sandbox.kubernetes.waiting import until
from sandbox.ports import ClusterEndpoint
from tests.support.patience import SECONDS


@dataclass
class FakeServers:
    """Starts API servers that exist only by name."""

    started: list[str] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    restarted: list[tuple[str, str]] = field(default_factory=list)
    failures: int = 0
    gate: threading.Event | None = None

    def served(self, version: str) -> str:
        return version or "1.35"

    def start(self, slot: str, version: str) -> ApiServer:
        self._begin()
        self.started.append(slot)
        process: Any = SimpleNamespace(exit_code=None, kept=False, spec=SimpleNamespace(log=Path("/nowhere")))
        process.returns = lambda: process.exit_code is None
        return ApiServer(slot, ClusterEndpoint(f"https://{slot}", "Q0E="), process, version)

    def adopt(self, server: ApiServer, slot: str) -> ApiServer:
        self.adopted.append(server.slot)
        return server

    def restart(self, server: ApiServer, version: str) -> ApiServer:
        self._begin()
        self.restarted.append((server.slot, version))
        return replace(server, version=version)

    def resume(self, slot: str, version: str, port: int) -> ApiServer:
        return replace(self.start(slot, version), endpoint=ClusterEndpoint(f"https://{slot}:{port}", "Q0E="))

    def stop(self, server: ApiServer) -> None:
        self.stopped.append(server.slot)

    def _begin(self) -> None:
        if self.gate:
            assert self.gate.wait(SECONDS)
        if self.failures:
            self.failures -= 1
            msg = "no room"
            raise SandboxError(msg)


def kill(server: ApiServer) -> None:
    server.process.exit_code = -9  # type: ignore[misc]


@pytest.fixture
def servers() -> FakeServers:
    return FakeServers()


@pytest.fixture
def pool(servers: FakeServers) -> ClusterPool:
    return ClusterPool(servers)


def test_saved_clusters_are_resumed_in_their_slots_at_their_ports(pool: ClusterPool, servers: FakeServers) -> None:
    pool.spare()
    pool.create("dev", "1.36", "first")
    slots, saved = pool.saved()
    again = ClusterPool(servers)
    again.resume(slots, {"dev": replace(saved["dev"], port=7)})
    assert again.existing()["dev"].endpoint.server == f"https://{saved['dev'].slot}:7"
    assert again.existing()["dev"].version == "1.36"
    # Not made anew: it is the cluster of the same creation. A new one has a slot that nobody had.
    again.create("dev", "1.36", "first")
    assert servers.stopped == []
    again.create("prod")
    assert again.existing()["prod"].slot not in {saved["dev"].slot, "api-1"}


def test_a_cluster_that_starts_is_not_saved(pool: ClusterPool, servers: FakeServers) -> None:
    servers.gate = threading.Event()
    starting = threading.Thread(target=pool.create, args=("dev",))
    starting.start()
    try:
        until(lambda: pool._clusters.get("dev"), SECONDS, "the start")
        with pytest.raises(SandboxError, match="cluster dev is starting"):
            pool.saved()
    finally:
        servers.gate.set()
        starting.join()


def test_a_cluster_adopts_the_spare(pool: ClusterPool, servers: FakeServers) -> None:
    spare = pool.spare()
    assert pool.create("dev") == spare.endpoint
    assert (servers.started, servers.adopted) == ([spare.slot], [spare.slot])


def test_without_a_spare_a_server_is_started(pool: ClusterPool, servers: FakeServers) -> None:
    pool.create("dev")
    assert (len(servers.started), servers.adopted) == (1, [])


def test_after_an_adoption_another_spare_is_started(pool: ClusterPool) -> None:
    pool.spare()
    pool.create("dev")
    assert pool.spare().endpoint != pool.get("dev")


def test_create_is_idempotent(pool: ClusterPool, servers: FakeServers) -> None:
    assert pool.create("dev") == pool.create("dev")
    assert len(servers.started) == 1


def test_two_threads_that_create_the_same_cluster_get_one_server(pool: ClusterPool, servers: FakeServers) -> None:
    servers.gate = threading.Event()
    found: list[ClusterEndpoint] = []
    threads = [threading.Thread(target=lambda: found.append(pool.create("dev"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    servers.gate.set()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(servers.started) == 1


def test_a_failed_start_is_forgotten(pool: ClusterPool, servers: FakeServers) -> None:
    servers.failures = 1
    with pytest.raises(SandboxError, match="no room"):
        pool.create("dev")
    assert pool.get("dev") is None
    pool.create("dev")
    assert pool.get("dev") is not None


def test_a_spare_that_does_not_start_is_retried(pool: ClusterPool, servers: FakeServers) -> None:
    servers.failures = 1
    with pytest.raises(SandboxError):
        pool.spare()
    assert pool.spare().slot in servers.started


def test_a_dead_spare_is_neither_used_nor_adopted(pool: ClusterPool, servers: FakeServers) -> None:
    dead = pool.spare()
    kill(dead)
    assert pool.spare() != dead
    kill(pool.spare())
    pool.create("dev")
    assert servers.adopted == []


def test_delete_stops_the_server_and_is_idempotent(pool: ClusterPool, servers: FakeServers) -> None:
    pool.create("dev")
    pool.delete("dev")
    pool.delete("dev")
    assert servers.stopped == servers.started
    assert pool.get("dev") is None


def test_clusters_are_found_by_url_as_long_as_they_run(pool: ClusterPool) -> None:
    url = pool.create("dev").server
    found = pool.at(url)
    assert found is not None
    assert found[0] == "dev"
    assert pool.at("https://elsewhere") is None
    kill(found[1])
    with pytest.raises(SandboxError, match=r"API server of cluster dev has ended \(exit code -9"):
        pool.at(url)


def test_existing_lists_clusters_oldest_first_without_the_spare(pool: ClusterPool) -> None:
    for name in ("b", "a"):
        pool.create(name)
    spare = pool.spare()
    assert list(pool.existing()) == ["b", "a"]
    assert spare in pool.running()


def test_every_addition_and_removal_is_reported(servers: FakeServers) -> None:
    reported: list[list[str]] = []
    reporting = ClusterPool(servers, lambda: reported.append(list(reporting.existing())))
    reporting.create("dev")
    reporting.delete("dev")
    assert reported == [["dev"], []]


@dataclass
class Recorder:
    """What runs beside a cluster, by the version of its API server."""

    events: list[tuple[str, str]] = field(default_factory=list)

    def begin(self, slot: str, server: ApiServer) -> None:
        self.events.append(("begin", server.version))

    def schedule(self, slot: str, config: Mapping[str, Any]) -> None:
        self.events.append(("schedule", f"{slot} {sorted(config)}"))

    def end(self, slot: str) -> None:
        self.events.append(("end", slot))


def test_the_scheduler_of_a_running_cluster_ranks_nodes_as_it_says(servers: FakeServers) -> None:
    recorder = Recorder()
    pool = ClusterPool(servers, beside=recorder)
    pool.schedule("dev", {"nodeResourcesFit": {}})
    pool.create("dev", "1.36")
    pool.schedule("dev", {"nodeResourcesFit": {}})
    assert recorder.events == [("begin", "1.36"), ("schedule", "api-1 ['nodeResourcesFit']")]


def test_a_spare_serves_the_version_that_its_program_expects(pool: ClusterPool) -> None:
    pool.expect("dev", "1.34")
    pool.expect("prod", "1.36")
    assert pool.spare("dev").version == "1.34"
    assert pool.spare("prod").version == "1.36"
    assert pool.spare("elsewhere").version == "1.35"
    assert pool.spare("dev") is pool.spare("dev")


def test_a_cluster_adopts_a_spare_of_its_own_version_alone(pool: ClusterPool, servers: FakeServers) -> None:
    pool.expect("dev", "1.34")
    spare = pool.spare("dev")
    pool.create("newer", "1.36")
    assert servers.adopted == []
    pool.create("dev", "1.34")
    assert servers.adopted == [spare.slot]


def test_another_version_restarts_the_api_server_and_what_runs_beside_it(servers: FakeServers) -> None:
    recorder = Recorder()
    pool = ClusterPool(servers, beside=recorder)
    before = pool.create("dev", "1.34")
    assert pool.create("dev", "1.34") == pool.create("dev", "1.35") == before
    assert servers.restarted == [("api-1", "1.35")]
    assert recorder.events == [("begin", "1.34"), ("end", "api-1"), ("begin", "1.35")]
    assert pool.existing()["dev"].version == "1.35"


def test_whoever_needs_the_cluster_waits_for_its_upgrade(pool: ClusterPool, servers: FakeServers) -> None:
    url = pool.create("dev", "1.34").server
    servers.gate = threading.Event()
    upgrade = threading.Thread(target=pool.create, args=("dev", "1.35"))
    upgrade.start()
    while "dev" not in pool._upgrades:
        pass
    found: list[Any] = []
    looking = threading.Thread(target=lambda: found.append(pool.at(url)))
    looking.start()
    looking.join(0.1)
    assert looking.is_alive()
    servers.gate.set()
    looking.join(SECONDS)
    upgrade.join(SECONDS)
    assert found[0][1].version == "1.35"


def test_a_cluster_whose_upgrade_fails_is_gone(pool: ClusterPool, servers: FakeServers) -> None:
    pool.create("dev", "1.34")
    servers.failures = 1
    with pytest.raises(SandboxError, match="no room"):
        pool.create("dev", "1.35")
    assert pool.get("dev") is None


def test_a_cluster_that_is_made_anew_gets_another_api_server(servers: FakeServers) -> None:
    """Nothing of the former one is in it: the names of its objects are free."""
    pool = ClusterPool(servers)
    first = pool.create("dev", "1.35", "10:00")
    assert pool.create("dev", "1.35", "10:00") == pool.create("dev", "1.35") == first
    assert servers.stopped == []
    second = pool.create("dev", "1.35", "11:00")
    assert second != first
    assert servers.stopped == ["api-1"]
    assert pool.create("dev", "1.35", "11:00") == pool.get("dev") == second
