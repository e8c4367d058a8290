import importlib.util
import re
import threading
from pathlib import Path
from typing import Any, Final

import botocore.session
import pytest
from botocore.model import StructureShape

from sandbox.aws.kinds import AnyOf, Anything, Kind, ListOf, MapOf, ObjectOf, Scalar
from sandbox.aws.schema import PACKAGE, Schema, schema, tokens
from sandbox.aws.shapes import normal, to_api
from sandbox.rpc.wire import UNKNOWN
from tests.sandbox.aws.samples.world import known
from tests.support.cases import beside

CASES: Final = beside(__file__)
CLUSTER = "aws:eks/cluster:Cluster"


@pytest.mark.parametrize("service", ["eks", "kms", "sqs"])
def test_every_type_of_a_service_is_known(service: str) -> None:
    """Each class of a resource gives its token to the SDK's constructor: those are read from the service's sources."""
    spec = importlib.util.find_spec(f"{PACKAGE}.{service}")
    assert spec is not None
    assert spec.origin is not None
    sources = "".join(path.read_text() for path in Path(spec.origin).parent.glob("[!_]*.py"))
    made = set(re.findall(r"__self__\)\.__init__\(\s*'(aws:[^']+)'", sources))
    assert made
    assert {token for token, (module, _) in tokens().items() if module == f"{PACKAGE}.{service}"} == made


def test_a_type_that_the_package_does_not_have_has_no_schema() -> None:
    assert schema("aws:eks/cluster:Kluster") is None


@pytest.mark.parametrize(
    ("type_token", "name", "kind"),
    [
        ("aws:ec2/vpc:Vpc", "enableDnsSupport", Scalar("bool")),
        ("aws:ec2/vpc:Vpc", "tags", MapOf(Scalar("str"))),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "subnetIds", Scalar("str")),
        ("aws:efs/fileSystem:FileSystem", "provisionedThroughputInMibps", Scalar("float")),
        ("aws:eks/nodeGroup:NodeGroup", "instanceTypes", ListOf(Scalar("str"))),
        ("aws:lambda/function:Function", "code", Anything()),
    ],
)
def test_a_property_has_the_kind_of_its_annotation(type_token: str, name: str, kind: Kind) -> None:
    assert known(type_token).inputs[name].kind == kind


def test_nested_objects_unions_and_outputs_are_resolved() -> None:
    vpc = known(CLUSTER).inputs["vpcConfig"]
    assert vpc.required
    assert isinstance(vpc.kind, ObjectOf)
    assert vpc.kind.fields["subnetIds"].required
    policy = known("aws:iam/policy:Policy").inputs["policy"].kind
    assert isinstance(policy, AnyOf)
    assert policy.options[0] == Scalar("str")
    identities = known(CLUSTER).outputs["identities"].kind
    assert isinstance(identities, ListOf)
    assert isinstance(identities.item, ObjectOf)


def test_arguments_are_found_despite_a_nested_type_of_their_name() -> None:
    found = known("aws:s3/bucketVersioning:BucketVersioning")
    assert found.inputs["versioningConfiguration"].required


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    CASES["a problem is reported with its path"],
)
def test_a_problem_is_reported_with_its_path(inputs: dict[str, Any], path: str, reason: str) -> None:
    found = {failure.property: failure.reason for failure in known(CLUSTER).check(inputs)}
    assert reason in found[path]


@pytest.mark.parametrize("value", [3, "3", 3.0])
def test_a_number_may_be_a_string(value: Any) -> None:
    sizes = {"desiredSize": value, "minSize": 0, "maxSize": 9}
    found = known("aws:eks/nodeGroup:NodeGroup").check({"scalingConfig": sizes})
    assert not [failure for failure in found if failure.property.startswith("scalingConfig")]


@pytest.mark.parametrize("value", ["abc", 1.5, True])
def test_a_value_that_is_not_an_integer_is_refused(value: Any) -> None:
    sizes = {"desiredSize": value, "minSize": 0, "maxSize": 9}
    found = known("aws:eks/nodeGroup:NodeGroup").check({"scalingConfig": sizes})
    assert f"must be a whole number, got {value!r}" in [failure.reason for failure in found]


def test_an_unknown_value_matches_any_kind() -> None:
    inputs = {"roleArn": UNKNOWN, "vpcConfig": {"subnetIds": UNKNOWN}, "tags": UNKNOWN}
    assert known(CLUSTER).check(inputs) == []


def test_a_policy_may_be_a_string_or_an_object() -> None:
    policy = known("aws:iam/policy:Policy")
    assert policy.check({"policy": "{}"}) == []
    assert policy.check({"policy": {"Version": "2012-10-17", "Statement": []}}) == []
    assert policy.check({"policy": ["x"]}) != []


def test_schemas_can_be_read_from_many_threads() -> None:
    types = ["aws:sns/topic:Topic", "aws:ecr/repository:Repository", "aws:budgets/budget:Budget"] * 8
    found: list[Schema | None] = []
    threads = [threading.Thread(target=lambda name=name: found.append(schema(name))) for name in types]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(types)
    assert None not in found


def shape(service: str, operation: str) -> StructureShape:
    model = botocore.session.get_session().get_service_model(service)
    return model.operation_model(operation).input_shape


@pytest.mark.parametrize(("names", "one"), [
    (("identities", "Identity"), "identity"),
    (("SubnetIds", "subnet_id"), "subnetid"),
    (("cidrBlock", "CidrBlock"), "cidrblock"),
])  # fmt: skip
def test_names_are_equal_regardless_of_case_and_plural(names: tuple[str, str], one: str) -> None:
    assert {normal(name) for name in names} == {one}


@pytest.mark.parametrize(
    ("service", "operation", "value", "sent"),
    [
        ("ec2", "CreateVpc", {"Ipv4NetmaskLength": "16", "unheard": 1}, {"Ipv4NetmaskLength": 16}),
        ("eks", "CreateNodegroup", {"labels": {"a": "b"}, "subnets": ["c"]}, {"labels": {"a": "b"}, "subnets": ["c"]}),
        ("kms", "CreateKey", {"MultiRegion": "true"}, {"MultiRegion": True}),
        ("kms", "CreateKey", {"Policy": {"Version": "1"}}, {"Policy": '{"Version": "1"}'}),
        ("eks", "CreateNodegroup", {"scalingConfig": {"minSize": "x"}}, {"scalingConfig": {"minSize": "x"}}),
    ],
)
def test_a_pulumi_value_is_converted_to_the_api_form(
    service: str, operation: str, value: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert to_api(shape(service, operation), value) == sent
