"""The base of our providers: the resource provider protocol with plain values in its hooks, served on loopback."""

from __future__ import annotations

import functools
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc
from pulumi.runtime.proto import provider_pb2 as pb

from sandbox import errors
from sandbox.identity import Peers
from sandbox.rpc import wire
from sandbox.rpc.errors import PartialFailureError, ProviderError, init_failed_metadata
from sandbox.rpc.hooks import Failure, Hooks, ReadResult, Resource, S
from sandbox.rpc.wire import Secrets

LOG = logging.getLogger(__name__)
Method = Callable[..., Any]

MAX_CONNECTIONS = 4096
"""Connections to remember; an operation opens about one per provider instance. The oldest are dropped first."""


@dataclass
class _Connection(Generic[S]):
    session: S | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)


def _rpc(method: Method) -> Method:
    """Convert a method's exceptions into a status that the engine understands; a Python error never becomes UNKNOWN."""

    @functools.wraps(method)
    def call(self: Provider[Any], request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(self, request, context)
        except (PartialFailureError, ProviderError) as error:
            failure: Exception = error
        except Exception as error:
            LOG.exception("%s failed in the sandbox itself", method.__name__)
            failure = ProviderError(f"error inside the sandbox's provider: {type(error).__name__}: {error}")
        _abort(context, failure, _secrets_of_request(request))

    return call


def _secrets_of_request(request: Any) -> Secrets:
    fields = ("properties", "inputs", "news", "olds", "old_inputs", "args")
    return wire.secrets_in(*(getattr(request, name) for name in fields if hasattr(request, name)))


def _abort(context: grpc.ServicerContext, error: Exception, secrets: Secrets) -> NoReturn:
    message = secrets.redact(str(error))
    if isinstance(error, PartialFailureError):
        inputs = None if error.inputs is None else wire.encode(error.inputs, secrets)
        reasons = [secrets.redact(reason) for reason in error.reasons]
        metadata = init_failed_metadata(error, wire.encode(error.outputs, secrets), inputs, reasons)
        context.set_trailing_metadata((metadata,))
        context.abort(grpc.StatusCode.UNKNOWN, message)
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, message)
    msg = "grpc's abort returned"
    raise AssertionError(msg)


class Provider(Hooks[S], provider_pb2_grpc.ResourceProviderServicer):
    """The protocol around the hooks; subclasses override the hooks and nothing else."""

    version = "0.0.0"
    takes_proposed_names = False
    """Whether `check` uses the names that the engine proposes (`Resource.proposed_name`, the project's autonaming)."""

    def __init__(self) -> None:
        self._connections: OrderedDict[str, _Connection[S]] = OrderedDict()
        self._lock = threading.Lock()

    # -- connections ---------------------------------------------------------------------------------------------------

    def _connect(self, peer: str, session: S | None) -> None:
        with self._lock:
            self._connections[peer] = _Connection(session)
            self._connections.move_to_end(peer)
            while len(self._connections) > MAX_CONNECTIONS:
                self._connections.popitem(last=False)

    def _session(self, context: grpc.ServicerContext, *, changes: bool = False) -> S:
        connection = self._connections.get(context.peer())
        if connection is None or connection.session is None:
            msg = "this connection is not configured, or the sandbox was restarted meanwhile: run the command again"
            raise ProviderError(msg)
        if changes and connection.cancelled.is_set():
            msg = "the operation was cancelled, nothing was changed"
            raise ProviderError(msg)
        errors.of_call(connection.cancelled)
        return connection.session

    # -- the protocol --------------------------------------------------------------------------------------------------

    def Handshake(self, request: pb.ProviderHandshakeRequest, context: grpc.ServicerContext) -> Any:
        """Announce what the provider accepts: secrets, but neither resource references nor outputs."""
        self._connect(context.peer(), None)
        return pb.ProviderHandshakeResponse(
            accept_secrets=True,
            accept_resources=False,
            accept_outputs=False,
            supports_autonaming_configuration=self.takes_proposed_names,
        )

    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """The engine found the provider through PULUMI_DEBUG_PROVIDERS; the provider needs nothing of the engine."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> Any:
        """The version of the provider."""
        return plugin_pb2.PluginInfo(version=self.version)

    def GetSchema(self, request: pb.GetSchemaRequest, context: grpc.ServicerContext) -> Any:
        """No schema: programs use the published SDKs."""
        return pb.GetSchemaResponse(schema="{}")

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Ctrl-C: this connection starts no more changes. Running ones complete, so that the state has their ids; only
        Helm, which may wait for minutes, is interrupted and ends as after a failure."""
        connection = self._connections.get(context.peer())
        if connection is not None:
            connection.cancelled.set()
        return empty_pb2.Empty()

    @_rpc
    def CheckConfig(self, request: pb.CheckRequest, context: grpc.ServicerContext) -> Any:
        """Validate the provider's own arguments."""
        inputs, failures = self.check_config(Resource.of(request), wire.decode(request.news), wire.decode(request.olds))
        return _check_response(inputs, failures, wire.secrets_in(request.news))

    @_rpc
    def DiffConfig(self, request: pb.DiffRequest, context: grpc.ServicerContext) -> Any:
        """Compare the provider's own arguments."""
        changes = self.diff_config(Resource.of(request), wire.decode(request.old_inputs), wire.decode(request.news))
        return changes.without_ignored(request.ignoreChanges).message()

    @_rpc
    def Configure(self, request: pb.ConfigureRequest, context: grpc.ServicerContext) -> Any:
        """Create the session of this connection."""
        self._connect(context.peer(), self.configure(wire.decode(request.args), context.peer()))
        return pb.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=self.takes_proposed_names
        )

    @_rpc
    def Check(self, request: pb.CheckRequest, context: grpc.ServicerContext) -> Any:
        """Validate the inputs of a resource."""
        resource = Resource.of(request)
        inputs, failures = self.check(
            self._session(context), resource, wire.decode(request.news), wire.decode(request.olds), request.randomSeed
        )
        always = Secrets({name: True for name in self.secret_inputs(resource)})
        return _check_response(inputs, failures, wire.secrets_in(request.news) | always)

    @_rpc
    def Diff(self, request: pb.DiffRequest, context: grpc.ServicerContext) -> Any:
        """Compare the inputs of a resource."""
        session = self._session(context)
        changes = self.diff(session, Resource.of(request), request.id, *_decoded(request, "old_inputs", "olds", "news"))
        return changes.without_ignored(request.ignoreChanges).message()

    @_rpc
    def Create(self, request: pb.CreateRequest, context: grpc.ServicerContext) -> Any:
        """Create a resource; in a preview, return the outputs that are known."""
        secrets = wire.secrets_in(request.properties)
        session = self._session(context, changes=not request.preview)
        inputs = wire.decode(request.properties)
        if request.preview:
            known = self.preview_create(session, Resource.of(request), inputs)
            return pb.CreateResponse(properties=wire.encode(known, secrets))
        id, outputs = self.create(session, Resource.of(request), inputs)
        return pb.CreateResponse(id=id, properties=wire.encode(outputs, secrets))

    @_rpc
    def Read(self, request: pb.ReadRequest, context: grpc.ServicerContext) -> Any:
        """Read a resource for refresh or import; an empty id means that it does not exist any more."""
        session = self._session(context)
        live = self.read(session, Resource.of(request), request.id, *_decoded(request, "properties", "inputs"))
        if live is None:
            return pb.ReadResponse()
        secrets = wire.secrets_in(request.properties, request.inputs)
        return pb.ReadResponse(
            id=live.id, properties=wire.encode(live.outputs, secrets), inputs=wire.encode(live.inputs, secrets)
        )

    @_rpc
    def Update(self, request: pb.UpdateRequest, context: grpc.ServicerContext) -> Any:
        """Update a resource; in a preview, return the outputs that are known."""
        session = self._session(context, changes=not request.preview)
        hook = self.preview_update if request.preview else self.update
        outputs = hook(session, Resource.of(request), request.id, *_decoded(request, "olds", "news", "old_inputs"))
        secrets = wire.secrets_in(request.news, request.old_inputs)
        return pb.UpdateResponse(properties=wire.encode(outputs, secrets))

    @_rpc
    def Delete(self, request: pb.DeleteRequest, context: grpc.ServicerContext) -> Any:
        """Delete a resource."""
        session = self._session(context, changes=True)
        self.delete(session, Resource.of(request), request.id, *_decoded(request, "properties", "old_inputs"))
        return empty_pb2.Empty()

    @_rpc
    def Invoke(self, request: pb.InvokeRequest, context: grpc.ServicerContext) -> Any:
        """Answer a function call."""
        result = self.invoke(self._session(context), request.tok, wire.decode(request.args))
        response = pb.InvokeResponse()
        # `return` is a Python keyword, so the field can't be set by name.
        getattr(response, "return").CopyFrom(wire.encode(result, wire.secrets_in(request.args)))
        return response


def _decoded(request: Any, *fields: str) -> Iterator[dict[str, Any]]:
    return (wire.decode(getattr(request, name)) for name in fields)


def _check_response(inputs: dict[str, Any], failures: list[Failure], secrets: Secrets) -> pb.CheckResponse:
    refused = [pb.CheckFailure(property=f.property, reason=secrets.redact(f.reason)) for f in failures]
    return pb.CheckResponse(inputs=wire.encode(inputs, secrets), failures=refused)


__all__ = ["Failure", "Provider", "ReadResult", "Resource"]


# Serves a provider on loopback, in threads of this process.

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
