import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cluster.egress import Egress
from tests.support.patience import SECONDS

CLUSTER_IP = "172.20.0.10"


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server that returns the first message of each connection in capitals."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                client.sendall(client.recv(100).upper())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(SECONDS)


def socket_of(file: Path) -> str:
    document = json.loads(file.read_text())
    (selection,) = document["egressSelections"]
    assert selection["name"] == "cluster"
    return str(selection["connection"]["transport"]["uds"]["udsName"])


def ask(path: str, request: str, message: bytes = b"") -> tuple[str, bytes]:
    """The status line of the answer, and what follows on the connection."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(SECONDS)
        client.connect(path)
        client.sendall(request.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += client.recv(1)
        status = answer.decode().splitlines()[0]
        if not message:
            return status, b""
        client.sendall(message)
        return status, client.recv(100)


def test_a_connection_leads_to_the_server_behind_the_service_of_its_cluster(tmp_path: Path, server: int) -> None:
    asked = []

    def resolve(slot: str, host: str, port: int) -> int | str:
        asked.append((slot, host, port))
        return server if slot == "api-1" else "nobody\nanswers"

    egress = Egress(tmp_path / "egress", resolve)
    try:
        first, second = (socket_of(egress.configuration(slot)) for slot in ("api-1", "api-2"))
        request = f"CONNECT {CLUSTER_IP}:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        assert ask(first, request, b"hello") == ("HTTP/1.1 200 OK", b"HELLO")
        refused = "HTTP/1.1 503 nobody answers"
        assert ask(second, request)[0] == refused
        assert asked == [("api-1", CLUSTER_IP, 443), ("api-2", CLUSTER_IP, 443)]
        assert socket_of(egress.configuration("api-1")) == first
    finally:
        egress.stop()
    assert not Path(first).exists()


@pytest.mark.parametrize("request_line", ["GET / HTTP/1.1", "CONNECT nonsense HTTP/1.1", "CONNECT 1.2.3.4:x HTTP/1.1"])
def test_anything_else_is_refused(tmp_path: Path, request_line: str) -> None:
    egress = Egress(tmp_path / "egress", lambda *_: "")
    try:
        status, _ = ask(socket_of(egress.configuration("api-1")), f"{request_line}\r\n\r\n")
        assert status.startswith("HTTP/1.1 503 ")
    finally:
        egress.stop()


def test_a_server_that_is_gone_is_an_answer(tmp_path: Path) -> None:
    # Nobody else can have the port, and nobody listens on it.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        egress = Egress(tmp_path / "egress", lambda *_: closed.getsockname()[1])
        try:
            request = f"CONNECT {CLUSTER_IP}:443 HTTP/1.1\r\n\r\n"
            status, _ = ask(socket_of(egress.configuration("api-1")), request)
            assert status.startswith("HTTP/1.1 503 ")
        finally:
            egress.stop()


def test_a_long_path_moves_the_sockets_to_a_temporary_directory(tmp_path: Path) -> None:
    egress = Egress(tmp_path / ("long" * 30), lambda *_: "")
    path = Path(socket_of(egress.configuration("api-1")))
    assert len(str(path)) < 100
    assert path.exists()
    egress.stop()
    assert not path.parent.exists()
