"""A page in a browser of the same machine, and another user of it, get nothing from the sandbox's AWS."""

import http.client
from collections.abc import Iterator

import pytest

from sandbox.aws.moto import server
from sandbox.aws.moto import server as moto_server
from sandbox.aws.moto.server import MotoServer
from sandbox.identity import Peers

BUCKETS = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request"}
"""What makes a request one to S3."""


@pytest.fixture(scope="module")
def moto() -> Iterator[MotoServer]:
    running = moto_server.start()
    yield running
    running.stop()


def ask(moto: MotoServer, headers: dict[str, str], method: str = "GET") -> tuple[int, list[tuple[str, str]], bytes]:
    # The first request imports a service, which takes long on a busy machine; the test has a deadline.
    connection = http.client.HTTPConnection("127.0.0.1", moto.port)
    try:
        connection.putrequest(method, "/", skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{moto.port}", **BUCKETS, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "bucket.localhost"])
def test_a_client_is_answered(moto: MotoServer, host: str) -> None:
    status, _, content = ask(moto, {"Host": f"{host}:{moto.port}"})
    assert status != 403
    assert b"the sandbox's AWS" not in content


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "169.254.1.1", ""]
)
def test_a_name_that_points_here_is_refused(moto: MotoServer, host: str) -> None:
    """DNS rebinding: the page's own name resolves to 127.0.0.1, so the browser takes the answer for the page's own."""
    status, _, content = ask(moto, {"Host": f"{host}:{moto.port}"})
    assert status == 403
    assert b"Buckets" not in content


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Referer": "https://evil.example/"},
], ids=str)  # fmt: skip
def test_a_page_of_another_origin_is_refused(moto: MotoServer, method: str, headers: dict[str, str]) -> None:
    status, answered, content = ask(moto, headers, method)
    assert status == 403
    assert [name for name, _ in answered if name.lower().startswith("access-control-")] == []
    assert b"Buckets" not in content


def test_the_dashboard_of_moto_may_call_its_own_origin(moto: MotoServer) -> None:
    status, answered, _ = ask(moto, {"Origin": f"http://127.0.0.1:{moto.port}", "Sec-Fetch-Site": "same-origin"})
    assert status == 200
    assert [name for name, _ in answered if name.lower().startswith("access-control-")] == []


def test_another_user_is_refused(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Peers, "ours", lambda *_: False)
    status, _, content = ask(moto, {})
    assert status == 403
    assert b"the user who started it" in content


def test_headers_for_other_origins_are_removed_whoever_sets_them() -> None:
    started: list[list[tuple[str, str]]] = []

    def application(_: object, start: object) -> list[bytes]:
        start("200 OK", [("Access-Control-Allow-Origin", "*"), ("ETag", "1")])  # type: ignore[operator]
        return [b""]

    environ = {"HTTP_HOST": "127.0.0.1:1", "REMOTE_PORT": "1", "SERVER_PORT": "1"}
    peers = Peers()
    peers._ours[1, 1] = float("inf")
    server.guarded(application, peers)(environ, lambda _, headers: started.append(headers))
    assert started == [[("ETag", "1")]]
