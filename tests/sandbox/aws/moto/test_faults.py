"""Faults on request: which requests meet them, with which codes, and that everything else is as ever."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from sandbox.aws.client import Clients
from sandbox.aws.moto import live
from sandbox.state import FAULTS
from tests.sandbox.aws.fakes import FakeClusters, FakeNodes, attached
from tests.sandbox.aws.samples import SAMPLES, World


class Account:
    """An account through a socket, with clients that try once."""

    def __init__(self, world: World) -> None:
        self.address = world.aws.clients.endpoint.partition("://")[2]
        self.world = World(replace(world.aws, clients=Clients(world.aws.clients.endpoint)))
        once = Config(retries={"total_max_attempts": 1})
        self.world.aws.clients._session._session.set_default_client_config(once)

    def faults(self, *rows: dict[str, Any], **more: Any) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address)
        connection.request("POST", FAULTS, json.dumps({"faults": rows, **more}))
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if answer.status == http.HTTPStatus.OK else text

    def ask(self, service: str, operation: str, **more: Any) -> tuple[str, int]:
        """The code and the status of an answer."""
        client: Any = self.world.aws.clients.get(service, self.world.aws.region)
        try:
            found = getattr(client, operation)(**more)
        except ClientError as error:
            return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
        except ConnectionClosedError:
            return "closed", 0
        return "", found["ResponseMetadata"]["HTTPStatusCode"]


@pytest.fixture
def account(world: World) -> Iterator[Account]:
    account = Account(world)
    yield account
    account.faults()


@pytest.mark.parametrize(("service", "operation", "more", "codes"), [
    ("ec2", "describe_vpcs", {}, {"throttled": ("RequestLimitExceeded", 503), "in-use": ("DependencyViolation", 400)}),
    ("iam", "list_roles", {}, {"throttled": ("Throttling", 400), "denied": ("AccessDenied", 403)}),
    ("kms", "list_keys", {}, {"denied": ("AccessDeniedException", 403), "internal": ("InternalServerException", 500)}),
    ("eks", "list_clusters", {}, {"throttled": ("ThrottlingException", 429)}),
    ("s3", "list_objects_v2", {"Bucket": "any"}, {"throttled": ("SlowDown", 503), "denied": ("AccessDenied", 403)}),
])  # fmt: skip
def test_each_service_answers_with_its_own_codes(
    account: Account, service: str, operation: str, more: dict[str, Any], codes: dict[str, tuple[str, int]]
) -> None:
    for fails, expected in codes.items():
        account.faults({"on": f"{service}:*", "fails": fails})
        assert account.ask(service, operation, **more) == expected
        assert account.ask(service, operation, **more)[0] not in {code for code, _ in codes.values()}


def test_a_request_fails_as_often_as_the_row_says_and_by_the_same_seed_again(account: Account) -> None:
    def run() -> list[bool]:
        return [account.ask("ec2", "describe_vpcs")[0] == "InternalError" for _ in range(8)]

    account.faults({"on": "ec2:DescribeVpcs", "fails": "internal", "after": 2, "times": 3})
    assert run() == [False, False, True, True, True, False, False, False]
    half = {"on": "ec2:DescribeVpcs", "fails": "internal", "times": 0, "probability": 0.5}
    account.faults(half, seed=7)
    first = run()
    account.faults(half, seed=7)
    assert run() == first
    assert 0 < sum(first) < len(first)
    assert account.faults({"on": "ec2:DescribeSubnets", "fails": "internal"})[1][0]["met"] == 0
    assert not any(run())


def test_a_lost_answer_leaves_the_object(account: Account) -> None:
    account.faults({"on": "sqs:CreateQueue", "fails": "lost"})
    assert account.ask("sqs", "create_queue", QueueName="lost") == ("closed", 0)
    assert account.ask("sqs", "get_queue_url", QueueName="lost") == ("", 200)


def test_what_eks_makes_ends_failed(world: World, account: Account) -> None:
    kind = "aws:eks/cluster:Cluster"
    inputs = SAMPLES[kind].inputs(world)
    vpc = {"subnetIds": inputs["vpcConfig"]["subnetIds"]}
    account.faults({"on": "eks:CreateCluster", "fails": "failed"})
    ask = account.world.aws.call
    with attached(world.aws.clients, FakeClusters(), FakeNodes()):
        ask("eks", "create_cluster", name="doomed", roleArn=inputs["roleArn"], resourcesVpcConfig=vpc)
        assert ask("eks", "describe_cluster", name="doomed")["cluster"]["status"] == "FAILED"


def test_a_part_is_away_at_once_or_from_a_request_on(world: World, account: Account) -> None:
    paused: list[tuple[str, float, str]] = []
    before = live.attach(replace(live.behind(), disturb=lambda *part: paused.append(part)))
    try:
        account.faults({"fails": "away", "part": "etcd", "seconds": 1})
        assert paused == [("etcd", 1, "away")]
        account.faults({"fails": "slow", "part": "kueue", "seconds": 2, "on": "ec2:*", "after": 1})
        assert paused == [("etcd", 1, "away")]
        assert [account.ask("ec2", "describe_vpcs")[0] for _ in range(3)] == [""] * 3
        assert paused == [("etcd", 1, "away"), ("kueue", 2, "slow")]
    finally:
        live.attach(before)


def test_requests_of_the_sandbox_itself_meet_no_fault(world: World, account: Account) -> None:
    account.faults({"on": "*", "fails": "denied", "times": 0})
    assert world.aws.call("ec2", "describe_vpcs")["Vpcs"]


@pytest.mark.parametrize(("row", "words"), [
    ({"on": "ec2:*", "fails": "broken"}, "use one of throttled"),
    ({"on": "ec2:*", "fails": "away", "seconds": 1}, "have a `part`"),
    ({"part": "kueue", "fails": "full", "seconds": 1}, "only `part: etcd` can be full"),
    ({"part": "etcd", "fails": "denied"}, "nothing else has one"),
    ({"fails": "denied"}, "`on` names requests"),
    ({"part": "etcd", "fails": "away"}, "needs `seconds` above 0"),
    ({"on": "ec2:*", "fails": "denied", "often": 2}, "a fault has fails, on, part, after, times, probability, seconds"),
    ([], "the list `faults`, of maps"),
    ({"on": "ec2:*", "fails": "denied", "times": "many"}, "times: a text where a number is"),
    ({"on": 5, "fails": "denied", "after": -1}, "on, after: a text where"),
    ({"on": "ec2:*", "fails": ["denied"]}, "fails: a text where"),
])  # fmt: skip
def test_a_wrong_row_is_refused_with_what_is_right(account: Account, row: Any, words: str) -> None:
    status, text = account.faults(row)
    assert status == http.HTTPStatus.CONFLICT
    assert words in text
