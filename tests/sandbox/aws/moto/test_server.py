"""The server of moto and the same answers without its socket; work behind objects of EKS; tokens.

tests/sandbox/test_any_tool.py shows the tokens to a real API server.
"""

import base64
import io
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import botocore.exceptions
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders

from sandbox.aws.client import Aws, AwsError, Clients, credentials
from sandbox.aws.moto import live
from sandbox.aws.moto import server as moto_server
from sandbox.aws.moto.server import MotoServer, send_to
from sandbox.aws.moto.tokens import configuration, identity, review
from sandbox.aws.warm import warm
from sandbox.rpc.errors import ProviderError
from tests.sandbox.aws.samples import World
from tests.support.patience import SECONDS


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


def nowhere() -> str:
    """An address at which no server listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def beside(clients: Clients, account: str) -> Aws:
    """The same account, through the server's socket."""
    return Aws(Clients(clients.endpoint), "us-west-2", account)


def test_no_request_is_sent(moto: MotoServer, account: str) -> None:
    aws = Aws(Clients(nowhere(), send_to(moto.application)), "us-west-2", account)
    aws.call("sqs", "create_queue", QueueName="mine")
    (url,) = aws.call("sqs", "list_queues")["QueueUrls"]
    assert url.endswith(f"/{account}/mine")


def test_objects_created_without_a_socket_are_visible_through_it(aws: Aws, beside: Aws) -> None:
    """AWS's protocols: one with form parameters, one with an escaped ARN in the path, and S3's."""
    vpc = aws.call("ec2", "create_vpc", CidrBlock="10.0.0.0/16")["Vpc"]
    assert vpc in beside.call("ec2", "describe_vpcs")["Vpcs"]

    role = World(aws).role()["arn"]
    subnets = {"subnetIds": World(aws).subnets()}
    made = aws.call("eks", "create_cluster", name="twice", roleArn=role, resourcesVpcConfig=subnets)["cluster"]
    aws.call("eks", "tag_resource", resourceArn=made["arn"], tags={"owner": "Zo\u00eb & co"})
    assert beside.call("eks", "list_tags_for_resource", resourceArn=made["arn"])["tags"] == {"owner": "Zo\u00eb & co"}
    assert aws.call("eks", "describe_cluster", name="twice") == beside.call("eks", "describe_cluster", name="twice")

    bucket, key = f"in-process-{aws.account}", "a folder/\u00fcber+plus=.txt"
    location = {"LocationConstraint": "us-west-2"}
    aws.call("s3", "create_bucket", Bucket=bucket, CreateBucketConfiguration=location)
    aws.call("s3", "put_object", Bucket=bucket, Key=key, Body=io.BytesIO(b"\x00content"))
    for one in (aws, beside):
        assert one.call("s3", "get_object", Bucket=bucket, Key=key)["Body"].read() == b"\x00content"
        (listed,) = one.call("s3", "list_objects_v2", Bucket=bucket, Prefix="a folder/")["Contents"]
        assert listed["Key"] == key


def test_an_answer_without_a_body_has_its_headers(aws: Aws) -> None:
    with pytest.raises(botocore.exceptions.ClientError) as raised:
        aws.clients.get("s3", "us-west-2").head_bucket(Bucket="no-such-bucket")
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404


@pytest.mark.parametrize("body", ["text", b"text", bytearray(b"text"), io.BytesIO(b"text"), None])
def test_a_body_may_have_any_form_that_botocore_uses(body: Any) -> None:
    seen: dict[str, Any] = {}

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        seen.update(environ, content=environ["wsgi.input"].read())
        start("201 Created", [("X-Answer", "yes")])
        return [b"made", b" it"]

    headers = HTTPHeaders()
    headers["X-Question"] = b"bytes"
    url = "http://127.0.0.1:1/a%2Fb/c?d=e%26f"
    answer = send_to(application)(AWSPreparedRequest("PUT", url, headers, body, False))
    assert (answer.status_code, answer.headers["X-Answer"], answer.content) == (201, "yes", b"made it")
    assert seen["content"] == (b"text" if body is not None else b"")
    asked = [seen[name] for name in ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "HTTP_HOST", "HTTP_X_QUESTION")]
    assert asked == ["PUT", "/a/b/c", "d=e%26f", "127.0.0.1:1", "bytes"]


def test_an_api_server_is_restarted_once_the_work_in_its_cluster_has_ended() -> None:
    reported: list[str] = []
    goes_on, ended = threading.Event(), threading.Event()

    def said(word: str) -> None:
        reported.append(word)
        if len(reported) == 3:
            ended.set()

    def update() -> str:
        assert goes_on.wait(SECONDS)
        return "the group"

    live.begin("lab", "workers", update, said, said)
    live.begin("lab", "", lambda: "the cluster", said, said)
    live.begin("lab", "workers", lambda: "the group again", said, said)
    other = threading.Event()
    live.begin("other", "", lambda: None, lambda _: other.set(), said)
    assert other.wait(SECONDS), "another cluster waits for nothing of it"
    assert reported == []
    goes_on.set()
    assert ended.wait(SECONDS)
    assert reported == ["the group", "the cluster", "the group again"]


def test_a_cluster_that_ends_does_not_wait_for_what_is_in_it() -> None:
    goes_on, gone, updated = threading.Event(), threading.Event(), threading.Event()
    live.begin("lab", "workers", lambda: goes_on.wait(SECONDS), lambda _: updated.set(), print)
    live.begin("lab", "", lambda: None, lambda _: gone.set(), print, ends=True)
    assert gone.wait(SECONDS)
    goes_on.set()
    assert updated.wait(SECONDS)


def test_a_server_that_stops_leaves_one_that_started_after_it_in_place() -> None:
    first, second = moto_server.start(), moto_server.start()
    first.stop()
    assert live.behind().clients is second.clients
    second.stop()


KEY = "AKIAEXAMPLE/20261123/us-west-2/sts/aws4_request"


def token(action: str = "GetCallerIdentity", headers: str = "host;x-k8s-aws-id", key: str = KEY) -> str:
    query = urlencode({"Action": action, "X-Amz-Credential": key, "X-Amz-SignedHeaders": headers})
    url = f"http://127.0.0.1:1/?{query}".encode()
    return f"k8s-aws-v1.{base64.urlsafe_b64encode(url).decode().rstrip('=')}"


def test_a_key_of_nobody_is_the_accounts_own(moto: MotoServer) -> None:
    assert identity(token()) == "arn:aws:sts::123456789012:user/moto"


def test_a_session_is_its_role(moto: MotoServer, aws: Aws) -> None:
    key = credentials(moto.endpoint, aws.account, "us-west-2")["AWS_ACCESS_KEY_ID"]
    found = identity(token(key=KEY.replace("AKIAEXAMPLE", key)))
    assert found == f"arn:aws:iam::{aws.account}:role/slipway-sandbox"


@pytest.mark.parametrize(
    "wrong",
    ["", "abc", "k8s-aws-v1.", "k8s-aws-v1.%%%", token(action="ListUsers"), token(headers="host"), token(key="A")],
)
def test_anything_else_is_no_token(wrong: str, moto: MotoServer) -> None:
    assert identity(wrong) is None


def test_an_api_server_without_a_cluster_knows_nobody(moto: MotoServer) -> None:
    asked = {"apiVersion": "authentication.k8s.io/v1", "spec": {"token": token()}}
    assert review(asked, "api-1")["status"] == {"authenticated": False}


def test_the_webhook_is_one_of_the_slot() -> None:
    (cluster,) = configuration("http://127.0.0.1:1", "api-1")["clusters"]
    assert cluster["cluster"]["server"] == "http://127.0.0.1:1/slipway/tokens/api-1"
