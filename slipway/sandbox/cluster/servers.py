"""Starts API servers on the sandbox's etcd, and deletes what they stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slipway.sandbox.cluster.apiserver import ApiServer, ApiServerConfig, start_api_server
from slipway.sandbox.cluster.etcd import Etcd
from slipway.sandbox.cluster.supervisor import Supervisor


@dataclass(frozen=True)
class EtcdBackedServers:
    """Implements `clusters.Servers`. `used` tells whether previews left something in a spare."""

    config: ApiServerConfig
    etcd: Etcd
    supervisor: Supervisor
    used: Callable[[ApiServer], bool] = lambda _: False

    def start(self, slot: str) -> ApiServer:
        """A new API server with an empty store."""
        return start_api_server(self.config, slot, self.supervisor)

    def adopt(self, server: ApiServer, slot: str) -> ApiServer:
        """The spare if it is as good as new, else a new one: to delete CRDs takes longer, and their memory stays."""
        if not self.used(server):
            return server
        self.stop(server)
        return self.start(slot)

    def stop(self, server: ApiServer) -> None:
        """End the server, then delete its keys: while it runs it would write some again."""
        self.supervisor.stop(server.process)
        self.etcd.wipe(server.slot)
