"""Serves a provider on loopback, in threads of this process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from slipway.sandbox.peers import Peers
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


class OurUserOnly(grpc.ServerInterceptor):
    """Refuses calls from processes of other users: a provider's answers contain the stack's secrets."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self.port = 0

    def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Any], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        """The handler of a call, behind the check. All calls of a provider have one request and one answer."""
        handler = continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return None

        def checked(request: Any, context: grpc.ServicerContext) -> Any:
            # "ipv4:127.0.0.1:50123"
            port = context.peer().rpartition(":")[2]
            if not port.isdigit() or not self._peers.ours(int(port), self.port):
                context.abort(
                    grpc.StatusCode.PERMISSION_DENIED, "the sandbox answers processes of the user who started it"
                )
            return handler.unary_unary(request, context)

        return grpc.unary_unary_rpc_method_handler(checked, handler.request_deserializer, handler.response_serializer)


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
    guard = OurUserOnly(Peers())
    threads = futures.ThreadPoolExecutor(workers, thread_name_prefix="provider")
    server = grpc.server(threads, interceptors=[guard], options=_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    try:
        bound = server.add_insecure_port(f"127.0.0.1:{port}")
    except RuntimeError as error:
        msg = f"port {port} on 127.0.0.1 is in use: choose another port, or 0 for a free one"
        raise ProviderError(msg) from error
    guard.port = bound
    server.start()
    return Served(bound, server)
