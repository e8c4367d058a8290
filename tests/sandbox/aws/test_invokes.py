import json

import pytest

from sandbox.aws.client import Aws
from sandbox.aws.invokes import FUNCTIONS, invoke, render
from sandbox.rpc.errors import ProviderError

INDEX = "aws:index/{0}:{0}"


def test_zones_are_sorted_and_exclude_the_excluded(aws: Aws) -> None:
    found = invoke(aws, INDEX.format("getAvailabilityZones"), {"state": "available", "excludeNames": ["us-west-2b"]})
    assert found["names"][:2] == ["us-west-2a", "us-west-2c"]
    assert len(found["zoneIds"]) == len(found["names"])
    assert found["state"] == "available"


def test_zones_can_be_filtered(aws: Aws) -> None:
    filters = [{"name": "zone-name", "values": ["us-west-2c"]}]
    assert invoke(aws, INDEX.format("getAvailabilityZones"), {"filters": filters})["names"] == ["us-west-2c"]


def test_the_caller_is_the_account(aws: Aws) -> None:
    found = invoke(aws, INDEX.format("getCallerIdentity"), {})
    assert found["accountId"] == found["id"] == aws.account
    assert aws.account in found["arn"]


def test_region_and_partition_are_returned(aws: Aws) -> None:
    assert invoke(aws, INDEX.format("getRegion"), {})["region"] == "us-west-2"
    assert invoke(aws.at("cn-north-1"), INDEX.format("getPartition"), {})["dnsSuffix"] == "amazonaws.com.cn"


def test_a_parameter_is_read(aws: Aws) -> None:
    aws.call("ssm", "put_parameter", Name="/team/token", Value="v", Type="SecureString")
    found = invoke(aws, "aws:ssm/getParameter:getParameter", {"name": "/team/token"})
    assert (found["value"], found["insecureValue"], found["version"]) == ("v", "", 1)
    listed = invoke(aws, "aws:ssm/getParametersByPath:getParametersByPath", {"path": "/team"})
    assert listed["names"] == ["/team/token"]


def test_the_newest_image_is_chosen_on_request(aws: Aws) -> None:
    token = "aws:ec2/getAmi:getAmi"
    args = {"owners": ["amazon"], "filters": [{"name": "name", "values": ["amzn2-ami-hvm-*"]}]}
    found = invoke(aws, token, {**args, "mostRecent": True})
    assert found["id"] == found["imageId"]
    assert found["name"].startswith("amzn2-ami-hvm-")
    with pytest.raises(ProviderError, match="more than one result"):
        invoke(aws, token, args)
    with pytest.raises(ProviderError, match="returned no results"):
        invoke(aws, token, {"filters": [{"name": "name", "values": ["nothing"]}]})


def test_an_unsupported_function_is_refused_by_name(aws: Aws) -> None:
    with pytest.raises(
        ProviderError, match="the sandbox does not support the function aws:ec2/getVpcs:getVpcs"
    ) as raised:
        invoke(aws, "aws:ec2/getVpcs:getVpcs", {})
    assert all(name.split(":")[-1] in str(raised.value) for name in FUNCTIONS)


def test_a_policy_document_is_rendered_as_iam_writes_it() -> None:
    rendered = json.loads(
        render(
            {
                "statements": [
                    {
                        "sid": "Assume",
                        "actions": ["sts:AssumeRoleWithWebIdentity"],
                        "principals": [{"type": "Federated", "identifiers": ["arn"]}],
                        "conditions": [
                            {"test": "StringEquals", "variable": "oidc:sub", "values": ["a", "b"]},
                            {"test": "StringEquals", "variable": "oidc:aud", "values": ["sts.amazonaws.com"]},
                        ],
                    },
                    {"effect": "Deny", "notActions": ["s3:*", "ec2:*"], "resources": ["home/&{aws:username}"]},
                ]
            }
        )
    )
    assert rendered == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Assume",
                "Effect": "Allow",
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Principal": {"Federated": "arn"},
                "Condition": {"StringEquals": {"oidc:sub": ["a", "b"], "oidc:aud": "sts.amazonaws.com"}},
            },
            {"Effect": "Deny", "NotAction": ["s3:*", "ec2:*"], "Resource": "home/${aws:username}"},
        ],
    }


def test_sources_come_first_and_overrides_replace_by_sid() -> None:
    source = render({"statements": [{"sid": "A", "actions": ["a"]}, {"sid": "B", "actions": ["b"]}]})
    override = render({"statements": [{"sid": "A", "actions": ["z"]}]})
    own = {"statements": [{"actions": ["c"]}]}
    args = {"sourcePolicyDocuments": [source], "overridePolicyDocuments": [override], **own}
    assert [item["Action"] for item in json.loads(render(args))["Statement"]] == ["z", "b", "c"]


def test_any_principal_is_a_star() -> None:
    everyone = [{"type": "*", "identifiers": ["*"]}]
    assert json.loads(render({"statements": [{"principals": everyone}]}))["Statement"][0]["Principal"] == "*"
