import http.client
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.aws.client import Aws, AwsError, Clients
from sandbox.aws.moto import server
from sandbox.aws.moto import server as moto_server
from sandbox.aws.moto.server import MotoServer
from sandbox.aws.warm import warm
from sandbox.identity import Peers
from sandbox.rpc.errors import ProviderError
from tests.support.patience import SECONDS


def test_a_port_in_use_is_refused_by_number() -> None:
    with socket.socket() as taken:
        taken.bind((moto_server.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ProviderError, match=f"can't listen on port {port} of 127.0.0.1"):
            moto_server.start(port)


def test_aws_managed_policies_exist(aws: Aws) -> None:
    found = aws.call("iam", "get_policy", PolicyArn="arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")
    assert found["Policy"]["PolicyName"] == "AmazonEKSWorkerNodePolicy"


def test_accounts_are_separate(clients: Clients) -> None:
    one, other = (Aws(clients, "us-west-2", account) for account in ("200000000001", "200000000002"))
    one.call("sqs", "create_queue", QueueName="mine")
    assert "QueueUrls" in one.call("sqs", "list_queues")
    assert "QueueUrls" not in other.call("sqs", "list_queues")


def test_an_error_has_the_code_of_aws(aws: Aws) -> None:
    with pytest.raises(AwsError) as raised:
        aws.call("ec2", "describe_vpcs", VpcIds=["vpc-00000000"])
    assert raised.value.code == "InvalidVpcID.NotFound"
    assert raised.value.not_found
    assert str(raised.value).startswith("ec2 describe_vpcs: InvalidVpcID.NotFound: ")


def test_a_stopped_server_is_reported_with_the_fix() -> None:
    with socket.socket() as free:
        # Nobody else can have the port, and nobody listens on it.
        free.bind((moto_server.HOST, 0))
        aws = Aws(Clients(f"http://127.0.0.1:{free.getsockname()[1]}"), "us-west-2")
        with pytest.raises(ProviderError, match="does not answer; restart the sandbox"):
            aws.call("sqs", "list_queues")


def test_warming_up_loads_what_the_first_stack_needs(clients: Clients) -> None:
    thread = warm(clients, "us-west-2")
    thread.join(SECONDS)
    assert not thread.is_alive()


def test_reads_and_writes_of_many_threads_at_once_all_succeed(clients: Clients) -> None:
    """Moto's own reads fail when another thread adds an object while they go through a dictionary."""
    aws = Aws(clients, "us-west-2", "200000000003")
    aws.call("logs", "create_log_group", logGroupName="/first")

    def work(worker: int) -> int:
        for number in range(60):
            aws.call("logs", "create_log_group", logGroupName=f"/{worker}/{number}")
            aws.call("logs", "describe_log_groups", logGroupNamePrefix="/")
        return worker

    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(4))) == [0, 1, 2, 3]
    finally:
        sys.setswitchinterval(often)


# A page in a browser of the same machine, and another user of it, get nothing from the sandbox's AWS.


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
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Referer": "https://evil.example/"},
    ],
    ids=str,
)
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
