"""Answers without a socket are the same as those of the server."""

import io
import socket
from collections.abc import Callable
from typing import Any

import botocore.exceptions
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders

from sandbox.aws.client import Aws, Clients
from sandbox.aws.moto.server import MotoServer, send_to
from tests.sandbox.aws.samples import World


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
