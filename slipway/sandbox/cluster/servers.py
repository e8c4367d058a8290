"""Starts API servers on the sandbox's etcd, and deletes what they stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slipway.sandbox.cluster.apiserver import ApiServer, ApiServerConfig, start_api_server
from slipway.sandbox.cluster.etcd import Etcd
from slipway.sandbox.cluster.supervisor import Supervisor


@dataclass(frozen=True)
class EtcdBackedServers:
    """Implements `clusters.Servers`. `clean` removes from a spare what previews left in it."""

    config: ApiServerConfig
    etcd: Etcd
    supervisor: Supervisor
    clean: Callable[[ApiServer], None] = lambda _: None

    def start(self, slot: str) -> ApiServer:
        """A new API server with an empty store."""
        return start_api_server(self.config, slot, self.supervisor)

    def adopt(self, server: ApiServer) -> None:
        """Make a spare as empty as a new server."""
        self.clean(server)

    def stop(self, server: ApiServer) -> None:
        """End the server, then delete its keys: while it runs it would write some again."""
        self.supervisor.stop(server.process)
        self.etcd.wipe(server.slot)
