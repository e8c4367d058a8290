"""The protocol without an engine: a client on loopback."""

import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc

from sandbox import errors
from sandbox.identity import Peers
from sandbox.kubernetes.waiting import until
from sandbox.rpc import wire
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from sandbox.rpc.provider import serve
from tests.sandbox.rpc.toy import Session, ToyProvider
from tests.support.patience import SECONDS

URN = "urn:pulumi:s::p::a:b:Parent$toy:index:Thing::thing"


@pytest.fixture
def toy() -> ToyProvider:
    return ToyProvider()


@pytest.fixture
def stub(toy: ToyProvider) -> Iterator[provider_pb2_grpc.ResourceProviderStub]:
    served = serve(toy)
    channel = grpc.insecure_channel(f"127.0.0.1:{served.port}")
    yield provider_pb2_grpc.ResourceProviderStub(channel)
    channel.close()
    served.stop()


def create(stub: provider_pb2_grpc.ResourceProviderStub) -> Any:
    return stub.Create(pb.CreateRequest(urn=URN, properties=wire.encode({"text": "x"})))


def refused(call: grpc.RpcError) -> str:
    assert call.code() == grpc.StatusCode.INVALID_ARGUMENT
    return str(call.details())


def test_a_connection_must_be_configured(stub: provider_pb2_grpc.ResourceProviderStub) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        create(stub)
    assert "is not configured" in refused(raised.value)


def test_a_call_of_another_user_is_refused(
    stub: provider_pb2_grpc.ResourceProviderStub, toy: ToyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.Configure(pb.ConfigureRequest())
    asked: list[tuple[int, int]] = []

    def refuse(_: Peers, port: int, server: int) -> bool:
        asked.append((port, server))
        return False

    monkeypatch.setattr(Peers, "ours", refuse)
    with pytest.raises(grpc.RpcError) as raised:
        create(stub)
    assert raised.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert "the user who started it" in str(raised.value.details())
    assert toy.things == {}
    ((port, server),) = asked
    assert port != server
    assert min(port, server) > 1023


def test_type_and_name_are_read_from_the_urn(stub: provider_pb2_grpc.ResourceProviderStub, toy: ToyProvider) -> None:
    stub.Configure(pb.ConfigureRequest(args=wire.encode({"zone": "east"})))
    answer = create(stub)
    assert answer.id == "thing-1"
    assert toy.things["thing-1"]["zone"] == "east"


def test_cancel_stops_only_new_changes(stub: provider_pb2_grpc.ResourceProviderStub) -> None:
    stub.Configure(pb.ConfigureRequest())
    stub.Cancel(empty_pb2.Empty())
    with pytest.raises(grpc.RpcError) as raised:
        create(stub)
    assert "cancelled" in refused(raised.value)
    assert stub.Read(pb.ReadRequest(urn=URN, id="gone")).id == ""


class Waiting(ToyProvider):
    """A creation that only a cancellation ends."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()

    def create(self, session: Session, resource: Resource, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.began.set()
        until(lambda: errors.cancelled() or None, SECONDS, "not cancelled")
        return super().create(session, resource, inputs)


def test_a_running_change_learns_of_the_cancellation_of_its_own_connection() -> None:
    waiting = Waiting()
    served = serve(waiting)
    with (
        grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel,
        grpc.insecure_channel(f"127.0.0.1:{served.port}", (("grpc.use_local_subchannel_pool", 1),)) as other,
    ):
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        stub.Configure(pb.ConfigureRequest())
        running = stub.Create.future(pb.CreateRequest(urn=URN, properties=wire.encode({"text": "x"})))
        assert waiting.began.wait(SECONDS)
        another = provider_pb2_grpc.ResourceProviderStub(other)
        another.Configure(pb.ConfigureRequest())
        another.Cancel(empty_pb2.Empty())
        with pytest.raises(grpc.FutureTimeoutError):
            running.result(0.5)
        stub.Cancel(empty_pb2.Empty())
        assert running.result(SECONDS).id == "thing-1"
    served.stop()


def test_a_python_error_of_the_provider_does_not_become_an_unknown_status(
    stub: provider_pb2_grpc.ResourceProviderStub, toy: ToyProvider, caplog: pytest.LogCaptureFixture
) -> None:
    stub.Configure(pb.ConfigureRequest())
    toy.things = None  # type: ignore[assignment]
    with pytest.raises(grpc.RpcError) as raised:
        create(stub)
    assert "error inside the sandbox's provider: TypeError" in refused(raised.value)
    assert "Create failed in the sandbox itself" in caplog.text


def test_an_unknown_function_is_reported_by_name(stub: provider_pb2_grpc.ResourceProviderStub) -> None:
    stub.Configure(pb.ConfigureRequest())
    with pytest.raises(grpc.RpcError) as raised:
        stub.Invoke(pb.InvokeRequest(tok="toy:index:getThing"))
    assert "does not support the function toy:index:getThing" in refused(raised.value)


def test_two_servers_do_not_share_a_port() -> None:
    first = serve(ToyProvider())
    try:
        with pytest.raises(ProviderError, match=f"port {first.port} on 127.0.0.1 is in use"):
            serve(ToyProvider(), first.port)
    finally:
        first.stop()
