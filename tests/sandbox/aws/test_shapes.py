import datetime
from typing import Any

import botocore.session
import pytest
from botocore.model import StructureShape

from sandbox.aws.schema import schema
from sandbox.aws.shapes import from_api, normal, to_api
from sandbox.rpc.wire import UNKNOWN


def shape(service: str, operation: str) -> StructureShape:
    model = botocore.session.get_session().get_service_model(service)
    return model.operation_model(operation).input_shape


@pytest.mark.parametrize(
    ("names", "one"),
    [
        (("identities", "Identity"), "identity"),
        (("SubnetIds", "subnet_id"), "subnetid"),
        (("cidrBlock", "CidrBlock"), "cidrblock"),
    ],
)
def test_names_are_equal_regardless_of_case_and_plural(names: tuple[str, str], one: str) -> None:
    assert {normal(name) for name in names} == {one}


@pytest.mark.parametrize(
    ("service", "operation", "value", "sent"),
    [
        ("ec2", "CreateVpc", {"cidrBlock": "10.0.0.0/16"}, {"CidrBlock": "10.0.0.0/16"}),
        ("ec2", "CreateVpc", {"ipv4NetmaskLength": "16", "unheard": 1}, {"Ipv4NetmaskLength": 16}),
        ("fsx", "CreateFileSystem", {"subnetIds": "subnet-1"}, {"SubnetIds": ["subnet-1"]}),
        ("iam", "CreateRole", {"tags": {"a": "b"}}, {"Tags": [{"Key": "a", "Value": "b"}]}),
        ("kms", "CreateKey", {"tags": {"a": "b"}}, {"Tags": [{"TagKey": "a", "TagValue": "b"}]}),
        ("eks", "CreateNodegroup", {"labels": {"a": "b"}}, {"labels": {"a": "b"}}),
        ("kms", "CreateKey", {"multiRegion": "true"}, {"MultiRegion": True}),
        ("kms", "CreateKey", {"policy": {"Version": "1"}}, {"Policy": '{"Version": "1"}'}),
        ("ec2", "CreateVpc", {"cidrBlock": UNKNOWN}, {"CidrBlock": UNKNOWN}),
        ("cloudwatch", "PutMetricAlarm", {"dimensions": {"a": "b"}}, {"Dimensions": [{"Name": "a", "Value": "b"}]}),
        ("eks", "CreateNodegroup", {"scalingConfig": {"minSize": "x"}}, {"scalingConfig": {"minSize": "x"}}),
    ],
)
def test_a_pulumi_value_is_converted_to_the_api_form(
    service: str, operation: str, value: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert to_api(shape(service, operation), value) == sent


@pytest.mark.parametrize(
    ("type_token", "item", "outputs"),
    [
        ("aws:ec2/vpc:Vpc", {"Tags": [{"Key": "a", "Value": "b"}]}, {"tags": {"a": "b"}}),
        ("aws:ec2/vpc:Vpc", {"EnableDnsSupport": "true"}, {"enableDnsSupport": True}),
        ("aws:ec2/vpc:Vpc", {"CidrBlock": {"not": "a text"}}, {"cidrBlock": '{"not": "a text"}'}),
        ("aws:ec2/vpc:Vpc", {"CidrBlock": ["a", "b"]}, {}),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", {"SubnetIds": ["a"]}, {}),
        ("aws:eks/cluster:Cluster", {"certificateAuthority": {"data": "x"}}, {"certificateAuthority": {"data": "x"}}),
        (
            "aws:eks/cluster:Cluster", {"identity": {"oidc": {"issuer": "i"}}},
            {"identities": [{"oidcs": [{"issuer": "i"}]}]},
        ),
        ("aws:eks/nodeGroup:NodeGroup", {"diskSize": "20"}, {"diskSize": 20}),
        (
            "aws:eks/cluster:Cluster",
            {"createdAt": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)},
            {"createdAt": "2026-01-02T00:00:00+00:00"},
        ),
    ],
)  # fmt: skip
def test_an_api_value_is_converted_to_the_sdks_kind(
    type_token: str, item: dict[str, Any], outputs: dict[str, Any]
) -> None:
    known = schema(type_token)
    assert known is not None
    assert from_api(known.outputs, item) == outputs
