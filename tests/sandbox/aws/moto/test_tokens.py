"""Tokens of `aws eks get-token`; tests/sandbox/test_any_tool.py shows them to a real API server."""

import base64
from urllib.parse import urlencode

import pytest

from sandbox.aws.client import Aws, credentials
from sandbox.aws.moto.server import MotoServer
from sandbox.aws.moto.tokens import configuration, identity, review

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
