from __future__ import annotations

from typing import Any

import pytest

from slipway.sandbox.aws.client import DEFAULT_ACCOUNT, Aws, Clients
from slipway.sandbox.aws.configuration import World, session
from slipway.sandbox.rpc.errors import ProviderError


def configured(clients: Clients, account: str | None = None, **config: Any) -> Aws:
    return session(World(clients, account), {"region": "us-west-2", **config})


@pytest.mark.parametrize(
    ("started_for", "config", "account"),
    [
        (None, {}, DEFAULT_ACCOUNT),
        (None, {"allowedAccountIds": '["222222222222","333333333333"]'}, "222222222222"),
        (None, {"allowedAccountIds": ["222222222222"]}, "222222222222"),
        ("333333333333", {}, "333333333333"),
        ("333333333333", {"allowedAccountIds": '["222222222222","333333333333"]'}, "333333333333"),
    ],
)
def test_the_sandbox_serves_the_account_that_the_stack_names(
    clients: Clients, started_for: str | None, config: dict[str, Any], account: str
) -> None:
    aws = configured(clients, started_for, **config)
    assert aws.account == account
    assert aws.call("sts", "get_caller_identity")["Account"] == account


@pytest.mark.parametrize(
    "config", [{"allowedAccountIds": '["222222222222"]'}, {"forbiddenAccountIds": '["333333333333"]'}]
)
def test_another_account_is_refused_with_the_aws_providers_message(clients: Clients, config: dict[str, Any]) -> None:
    with pytest.raises(ProviderError, match=r"AWS account ID not allowed: 333333333333 .* start it for the stack's"):
        configured(clients, "333333333333", **config)


def test_a_region_is_required(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    with pytest.raises(ProviderError, match="pulumi config set aws:region REGION"):
        session(World(clients), {})
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert session(World(clients), {}).region == "eu-west-1"


@pytest.mark.parametrize("default_tags", ['{"tags": {"team": "ml"}}', {"tags": {"team": "ml"}}])
def test_default_tags_may_be_json_or_a_map(clients: Clients, default_tags: Any) -> None:
    assert configured(clients, defaultTags=default_tags).default_tags == {"team": "ml"}


@pytest.mark.parametrize(("region", "partition"), [("us-west-2", "aws"), ("cn-north-1", "aws-cn")])
def test_the_partition_is_the_regions(clients: Clients, region: str, partition: str) -> None:
    assert session(World(clients), {"region": region}).partition == partition
