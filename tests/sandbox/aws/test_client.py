"""The client of moto, and account and region of a provider."""

from typing import Any, Final

import pytest
from botocore.awsrequest import AWSResponse

from sandbox.aws import rules
from sandbox.aws.checked import Limit, limits, summary
from sandbox.aws.client import DEFAULT_ACCOUNT, FAULT, Aws, AwsError, Clients, World, session
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.moto.server import _Raw
from sandbox.rpc.errors import ProviderError
from tests.support.cases import beside

CASES: Final = beside(__file__)


@pytest.mark.parametrize(
    ("code", "message", "not_found"),
    CASES["what is not there"],
)
def test_what_is_not_there_is_known_by_the_code_and_for_auto_scaling_by_the_words(
    code: str, message: str, not_found: bool
) -> None:
    assert AwsError("DescribeThings", code, message).not_found is not_found


def test_a_fault_of_moto_is_an_error_of_aws_so_that_what_exists_is_kept(clients: Clients, aws: Aws) -> None:
    def fails(**_: object) -> None:
        msg = "what"
        raise KeyError(msg)

    events = clients.get("sqs", aws.region).meta.events
    events.register_first("before-send.sqs.ListQueues", fails)
    try:
        with pytest.raises(AwsError, match=r"sqs list_queues: InternalFailure: .* KeyError: 'what'") as raised:
            aws.call("sqs", "list_queues")
    finally:
        events.unregister("before-send.sqs.ListQueues", fails)
    assert raised.value.code == FAULT


def answer(code: str, status: int) -> AWSResponse:
    text = f"<ErrorResponse><Error><Code>{code}</Code><Message>Rate exceeded</Message></Error></ErrorResponse>"
    return AWSResponse("http://aws", status, {}, _Raw(text.encode()))


@pytest.mark.parametrize(
    ("code", "status", "attempts"),
    [
        ("Throttling", 400, 3),
        ("RequestLimitExceeded", 503, 3),
        ("ServiceUnavailable", 503, 3),
        ("InternalError", 500, 1),
        ("AccessDenied", 403, 1),
    ],
)
def test_a_call_that_aws_throttles_is_repeated_as_by_the_real_provider(
    code: str, status: int, attempts: int, clients: Clients, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("sandbox.aws.client.time.sleep", pauses.append)
    refused: list[str] = []

    def throttles(**_: object) -> AWSResponse | None:
        refused.append(code)
        return answer(code, status) if len(refused) < 3 else None

    events = clients.get("iam", aws.region).meta.events
    events.register_first("before-send.*.*", throttles)
    try:
        if attempts > 1:
            assert "Roles" in aws.call("iam", "list_roles")
        else:
            with pytest.raises(AwsError, match=f"iam list_roles: {code}: Rate exceeded"):
                aws.call("iam", "list_roles")
    finally:
        events.unregister("before-send.*.*", throttles)
    assert len(refused) == attempts
    assert pauses == [0.5, 1.0][: attempts - 1]


@pytest.mark.parametrize(
    ("config", "account"),
    [
        ({}, DEFAULT_ACCOUNT),
        ({"allowedAccountIds": '["222222222222","333333333333"]'}, "222222222222"),
        ({"allowedAccountIds": ["222222222222"]}, "222222222222"),
    ],
)
def test_the_sandbox_serves_the_account_that_the_stack_names(
    clients: Clients, config: dict[str, Any], account: str
) -> None:
    aws = session(World(clients), {"region": "us-west-2", **config})
    assert aws.account == account
    assert aws.call("sts", "get_caller_identity")["Account"] == account


def test_a_forbidden_account_is_refused_as_by_the_aws_provider(clients: Clients) -> None:
    with pytest.raises(ProviderError, match=f"AWS account ID not allowed: {DEFAULT_ACCOUNT}"):
        session(World(clients), {"region": "us-west-2", "forbiddenAccountIds": [DEFAULT_ACCOUNT]})


def test_a_region_is_required(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    with pytest.raises(ProviderError, match="pulumi config set aws:region REGION"):
        session(World(clients), {})
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert session(World(clients), {}).region == "eu-west-1"


@pytest.mark.parametrize("default_tags", ['{"tags": {"team": "ml"}}', {"tags": {"team": "ml"}}])
def test_default_tags_may_be_json_or_a_map(clients: Clients, default_tags: Any) -> None:
    aws = session(World(clients), {"region": "us-west-2", "defaultTags": default_tags})
    assert aws.default_tags == {"team": "ml"}


@pytest.mark.parametrize(("region", "partition"), [("us-west-2", "aws"), ("cn-north-1", "aws-cn")])
def test_the_partition_is_the_regions(clients: Clients, region: str, partition: str) -> None:
    assert session(World(clients), {"region": region}).partition == partition


@pytest.fixture(scope="module")
def found() -> list[Limit]:
    return list(limits())


def test_every_type_is_listed_with_its_rules(found: list[Limit]) -> None:
    assert {one.type for one in found} == set(OPERATIONS)
    named = {one.limits.partition(": ")[2] for one in found if one.source}
    assert {one.words for one in rules.ALL if one.name != "notified_once"} <= named, "of a type that no stack uses"
    assert len(named) > 200


@pytest.mark.parametrize(
    ("type_token", "parameter", "words"),
    [
        ("aws:iam/role:Role", "create_role.RoleName", r"required, 1 to 64 characters, matches [\w+=,.@-]+"),
        ("aws:iam/role:Role", "create_role.MaxSessionDuration", "3600 to 43200"),
        ("aws:eks/nodeGroup:NodeGroup", "create_nodegroup.labels", "key 1 to 63 characters, value 1 to 63 characters"),
        ("aws:eks/nodeGroup:NodeGroup", "create_nodegroup.taints.effect",
         "one of NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_parameter(found: list[Limit], type_token: str, parameter: str, words: str) -> None:
    one = next(one for one in found if (one.type, one.parameter) == (type_token, parameter) and not one.source)
    assert one.limits == words


def test_a_type_is_found_by_a_part_of_its_token(found: list[Limit]) -> None:
    assert {one.type for one in limits("NODEgroup")} == {"aws:eks/nodeGroup:NodeGroup"}
    assert list(limits("nothing like it")) == []
    some = [one for one in found if one.type == "aws:cloudwatch/logGroup:LogGroup"]
    assert summary(some) == "1 types: 6 parameters with limits of AWS's models, 4 rules"
