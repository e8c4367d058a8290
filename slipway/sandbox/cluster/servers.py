"""Starts API servers on the sandbox's etcd, and deletes their data."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from slipway.sandbox.cluster.apiserver import ApiServer, ApiServerConfig, start_api_server
from slipway.sandbox.cluster.etcd import Etcd
from slipway.sandbox.cluster.process import PortTakenError
from slipway.sandbox.cluster.supervisor import Supervisor
from slipway.sandbox.cluster.versions import emulation

ATTEMPTS: Final = 6
PAUSE_SECONDS: Final = 1.0


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

        def start() -> ApiServer:
            return start_api_server(self.config, server.slot, version, self.supervisor, port)

        for _ in range(ATTEMPTS - 1):
            try:
                return start()
            except PortTakenError:
                # A connection that was opened meanwhile may come from this port.
                time.sleep(PAUSE_SECONDS)
        return start()

    def stop(self, server: ApiServer) -> None:
        """Stop the server, then delete its keys: a running server would write some of them again."""
        self.supervisor.stop(server.process)
        self.etcd.wipe(server.slot)
