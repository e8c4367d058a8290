"""Types that exist in the Pulumi state alone."""

from typing import Any

import pytest

from sandbox.aws import records
from sandbox.aws.client import Aws
from sandbox.aws.client import World as Shared
from sandbox.aws.provider import AwsProvider
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Resource
from tests.sandbox.aws.samples.world import PROCESSES, known


def make(aws: Aws, type_token: str, **inputs: Any) -> tuple[str, dict[str, Any]]:
    assert known(type_token).check(inputs) == []
    return records.create(aws, known(type_token), "thing", inputs)


def test_the_order_of_inputs_changes_neither_id_nor_outputs(aws: Aws) -> None:
    inputs, token = {"alias": "a", "kmsKeyArn": "k"}, "aws:amp/workspace:Workspace"
    assert make(aws, token, **inputs) == make(aws, token, **dict(reversed(inputs.items())))
    assert make(aws, token, **inputs) != make(aws, token, **{**inputs, "alias": "b"})


@pytest.mark.parametrize(
    ("token", "inputs", "output", "begins"),
    [
        ("aws:apigatewayv2/api:Api", {"protocolType": "HTTP"}, "executionArn", "arn:aws:apigatewayv2:"),
        ("aws:apigatewayv2/api:Api", {"protocolType": "HTTP"}, "apiEndpoint", "https://"),
        ("aws:lb/loadBalancer:LoadBalancer", {}, "dnsName", ""),
        ("aws:lb/loadBalancer:LoadBalancer", {}, "zoneId", ""),
    ],
)
def test_texts_that_only_aws_has_are_made_up(
    aws: Aws, token: str, inputs: dict[str, Any], output: str, begins: str
) -> None:
    _, outputs = make(aws, token, **inputs)
    assert outputs[output]
    assert outputs[output].startswith(begins)


def test_a_list_that_only_aws_has_has_an_element(aws: Aws) -> None:
    """Programs take the first of the records that validate a certificate."""
    _, outputs = make(aws, "aws:acm/certificate:Certificate", domainName="example.com", validationMethod="DNS")
    (option,) = outputs["domainValidationOptions"]
    assert option["resourceRecordName"]
    assert option["resourceRecordValue"] == ""


def test_made_up_values_survive_an_update(aws: Aws) -> None:
    token = "aws:amp/workspace:Workspace"
    _, outputs = make(aws, token, alias="near")
    updated = records.update(aws, known(token), outputs, {"alias": "near", "tags": {"a": "b"}})
    assert updated["prometheusEndpoint"] == outputs["prometheusEndpoint"]
    assert updated["tagsAll"] == {"a": "b"}


def test_any_other_type_gets_an_id_and_an_arn(aws: Aws) -> None:
    first = make(aws, "aws:amp/workspace:Workspace", alias="a")
    assert first == make(aws, "aws:amp/workspace:Workspace", alias="a"), "the same for the same inputs"
    assert first[1]["arn"] == f"arn:aws:amp:us-west-2:{aws.account}:workspace/{first[0]}"


def test_a_record_is_refreshed_unchanged(aws: Aws) -> None:
    provider = AwsProvider(Shared(aws.clients, processes=PROCESSES))
    workspace = Resource("urn", "aws:amp/workspace:Workspace", "w")
    found = provider.read(aws, workspace, "w-1", {"alias": "a"}, {"alias": "a"})
    assert found is not None
    assert (found.outputs, found.inputs) == ({"alias": "a"}, {"alias": "a"})


def test_a_record_that_the_program_says_to_exist_has_its_id_and_texts(aws: Aws) -> None:
    account = AwsProvider(Shared(aws.clients, processes=PROCESSES))
    site = Resource("urn", "aws:cloudfront/distribution:Distribution", "site")
    found = account.read(aws, site, "E74FTE3EXAMPLE", {}, {})
    assert found is not None
    assert found.id == "E74FTE3EXAMPLE"
    assert found.outputs["domainName"]
    assert found.outputs["arn"].endswith("distribution/E74FTE3EXAMPLE")
    arn = f"arn:aws:amp:us-west-2:{aws.account}:workspace/ws-1"
    found = account.read(aws, Resource("urn", "aws:sagemaker/model:Model", "own"), arn, {}, {})
    assert found is not None
    assert found.outputs["arn"] == arn


def test_an_object_that_the_account_lacks_is_not_found_with_the_way_to_make_it(aws: Aws) -> None:
    vpc = Resource("urn", "aws:ec2/vpc:Vpc", "main")
    with pytest.raises(ProviderError, match="no Vpc 'vpc-0a1b2c3d' is in this account of the sandbox, in us-west-2;"):
        AwsProvider(Shared(aws.clients, processes=PROCESSES)).read(aws, vpc, "vpc-0a1b2c3d", {}, {})
    assert (
        AwsProvider(Shared(aws.clients, processes=PROCESSES)).read(
            aws, vpc, "vpc-0a1b2c3d", {"cidrBlock": "10.0.0.0/16"}, {}
        )
        is None
    )
