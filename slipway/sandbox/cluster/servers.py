"""Starts API servers on the sandbox's etcd, and deletes their data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from slipway.sandbox.cluster.apiserver import ApiServer, ApiServerConfig, start_api_server
from slipway.sandbox.cluster.etcd import Etcd
from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.cluster.versions import emulation


@dataclass(frozen=True)
class EtcdBackedServers:
    """Implements `clusters.Servers`. `used` says whether previews left objects in a spare."""

    config: ApiServerConfig
    etcd: Etcd
    supervisor: Supervisor
    used: Callable[[ApiServer], bool] = lambda _: False

    def served(self, version: str) -> str:
        """The minor version that an API server for a cluster of a version serves."""
        return emulation(version, self.config.version).served

    def start(self, slot: str, version: str) -> ApiServer:
        """A new API server with an empty store."""
        return start_api_server(self.config, slot, version, self.supervisor)

    def adopt(self, server: ApiServer, slot: str) -> ApiServer:
        """The spare if it is unused, else a new server: deleting CRDs takes longer and does not free their memory."""
        if not self.used(server):
            return server
        self.stop(server)
        return self.start(slot, server.version)

    def restart(self, server: ApiServer, version: str) -> ApiServer:
        """The server with another version, at the same address and with the same objects."""
        self.supervisor.stop(server.process)
        port = urlsplit(server.endpoint.server).port
        return start_api_server(self.config, server.slot, version, self.supervisor, port)

    def stop(self, server: ApiServer) -> None:
        """Stop the server, then delete its keys: a running server would write some of them again."""
        self.supervisor.stop(server.process)
        self.etcd.wipe(server.slot)
