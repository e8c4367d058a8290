import socket
import threading

import pytest

from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, UnreachableError
from sandbox.kubernetes.objects import Ref
from tests.sandbox.plane import ControlPlane

pytestmark = pytest.mark.sandbox


def test_a_dry_run_changes_nothing(client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "dry", namespace)
    assert client.apply(ref.as_object(), "test", dry_run=True)["metadata"]["name"] == "dry"
    assert client.get(ref) is None


def test_an_object_is_created_updated_and_deleted(client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "life", namespace)
    client.apply({**ref.as_object(), "data": {"a": "1"}}, "test")
    client.merge(ref, {"data": {"b": "2"}})
    live = client.get(ref)
    assert live is not None
    assert live["data"] == {"a": "1", "b": "2"}
    assert client.delete(ref) is None
    assert client.delete(ref) is None


def test_the_server_can_generate_a_name(client: KubeClient, namespace: str) -> None:
    metadata = {"generateName": "made-", "namespace": namespace}
    live = client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, "test")
    assert live["metadata"]["name"].startswith("made-")


def test_a_field_of_another_manager_is_a_conflict_unless_forced(client: KubeClient, namespace: str) -> None:
    ref = Ref("v1", "ConfigMap", "fought-over", namespace)
    client.apply({**ref.as_object(), "data": {"a": "1"}}, "one")
    with pytest.raises(ApiError) as refused:
        client.apply({**ref.as_object(), "data": {"a": "2"}}, "two")
    assert refused.value.conflict
    assert client.apply({**ref.as_object(), "data": {"a": "2"}}, "two", force=True)["data"] == {"a": "2"}


def test_lists_are_read_to_the_end_and_have_their_kind(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.kubernetes.client.PAGE", 2)
    for index in range(5):
        labels = {"metadata": {"name": f"c{index}", "namespace": namespace, "labels": {"even": str(index % 2 == 0)}}}
        client.apply({"apiVersion": "v1", "kind": "ConfigMap", **labels}, "test")
    kind = client.discovery.find("v1", "ConfigMap")
    # Every namespace has one of the controller manager.
    found = [each for each in client.list(kind, namespace) if each["metadata"]["name"] != "kube-root-ca.crt"]
    assert [Ref.of(each) for each in found] == [Ref("v1", "ConfigMap", f"c{index}", namespace) for index in range(5)]
    assert len(list(client.list(kind, namespace, "even=True"))) == 3


def test_a_missing_namespace_is_distinguished_from_a_missing_object(client: KubeClient) -> None:
    with pytest.raises(ApiError) as refused:
        client.apply(Ref("v1", "ConfigMap", "x", "no-such-namespace").as_object(), "test")
    assert refused.value.missing_namespace == "no-such-namespace"


def test_a_kind_that_is_not_served_is_reported_by_name(client: KubeClient) -> None:
    with pytest.raises(NoSuchKindError, match="Widget"):
        client.get(Ref("acme.io/v1", "Widget", "x"))


def test_a_server_that_does_not_answer_is_reported_by_address(plane: ControlPlane) -> None:
    stopped = KubeClient("https://127.0.0.1:9", plane.pki.authority_text, "token")
    with pytest.raises(UnreachableError, match=r"API server at https://127.0.0.1:9 does not answer"):
        stopped.get_path("/version")


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "POST"])
def test_a_request_that_a_restarting_server_dropped_is_sent_again_unless_it_creates(method: str) -> None:
    received: list[bytes] = []

    def serve() -> None:
        for answer in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")[: 1 if method == "POST" else 2]:
            connection, _ = listening.accept()
            with connection:
                received.append(connection.recv(4096).split()[0])
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        client = KubeClient(f"http://127.0.0.1:{listening.getsockname()[1]}", "", "token")
        if method == "POST":
            with pytest.raises(UnreachableError, match="Connection aborted"):
                client.call(method, "/version")
        else:
            assert client.call(method, "/version") == {}
    assert received == [method.encode()] * (1 if method == "POST" else 2)


@pytest.mark.parametrize(("refusals", "succeeds"), [(3, True), (4, False)])
def test_an_apply_that_timed_out_on_a_busy_server_is_retried(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch, refusals: int, succeeds: bool
) -> None:
    call, left = client.call, [504] * refusals

    def busy(method: str, *arguments: object, **more: object) -> object:
        if method == "PATCH" and left:
            raise ApiError(left.pop(), {"message": "Timeout: request did not complete"})
        return call(method, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(client, "call", busy)
    obj = Ref("v1", "ConfigMap", "busy", namespace).as_object()
    if succeeds:
        assert client.apply(obj, "test")["metadata"]["uid"]
    else:
        with pytest.raises(ApiError, match="did not complete"):
            client.apply(obj, "test")
