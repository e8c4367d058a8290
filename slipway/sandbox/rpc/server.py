"""Serves a provider on loopback, in threads of this process."""

from __future__ import annotations

from concurrent import futures
from dataclasses import dataclass
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from slipway.sandbox.rpc.errors import ProviderError
from slipway.sandbox.rpc.provider import Provider

WORKERS = 32
"""Threads; the engine runs at most 4 x the number of CPUs resource operations at once by default."""

_OPTIONS = (
    # Without this, two servers share a port without an error, and each gets some of the connections.
    ("grpc.so_reuseport", 0),
    # Rendered charts with CRDs exceed the default of 4 MiB.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
)


@dataclass(frozen=True)
class Served:
    """A running server: its port, and how to end it."""

    port: int
    _server: grpc.Server

    def stop(self, grace_seconds: float = 2.0) -> None:
        """Refuse new calls; running ones may complete within the grace period."""
        self._server.stop(grace_seconds).wait()


def serve(provider: Provider[Any], port: int = 0, workers: int = WORKERS) -> Served:
    """Serve on 127.0.0.1 at `port`, 0 for a free one. Raises ProviderError if the port is in use."""
    server = grpc.server(futures.ThreadPoolExecutor(workers, thread_name_prefix="provider"), options=_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    try:
        bound = server.add_insecure_port(f"127.0.0.1:{port}")
    except RuntimeError as error:
        msg = f"port {port} on 127.0.0.1 is in use: choose another port, or 0 for a free one"
        raise ProviderError(msg) from error
    server.start()
    return Served(bound, server)
