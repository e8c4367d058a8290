"""Data sources, by the provider in the account."""

from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.aws.client import Aws
from sandbox.aws.client import World as Shared
from sandbox.aws.moto.tokens import identity
from sandbox.aws.provider import AwsProvider
from sandbox.notes import NoteKind, Notes, load_notes
from sandbox.rpc.errors import ProviderError
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.aws.samples.world import PROCESSES
from tests.support.cases import beside

CASES: Final = beside(__file__)
FOUND = CASES["the type and the arguments of each data source"]
"""The type whose object each finds, and by which of its outputs."""


def invoke(aws: Aws, token: str, args: dict[str, Any]) -> dict[str, Any]:
    return AwsProvider(Shared(aws.clients, processes=PROCESSES)).invoke(aws, token, args)


@pytest.fixture
def aws(world: World) -> Aws:
    """One account, because each has a process of its own."""
    return world.aws


@pytest.mark.parametrize("token", sorted(FOUND))
def test_an_object_is_found_by_its_arguments(token: str, world: World) -> None:
    kind, names = FOUND[token]
    objects = world.objects(kind)
    id, outputs = objects.create(objects.checked(SAMPLES[kind].inputs(world)))
    known = {**outputs, "id": id}
    args = {name: known[own or name] for name, _, own in (each.partition("=") for each in names)}
    answer = invoke(world.aws, token, args)
    type = PROCESSES.types.function(token)
    assert type is not None
    assert set(answer) - set(args) <= set(type.form.properties), "the SDK has all of the answer"
    arns = {key: answer[key] for key in ("arn", "clusterName", "vpcId") if key in answer and key in outputs}
    assert arns == {key: outputs[key] for key in arns}
    with pytest.raises(ProviderError):
        invoke(world.aws, token, {key: f"{value}-not-here" for key, value in args.items()})


def test_a_policy_of_aws_is_found_by_its_name(aws: Aws) -> None:
    found = invoke(aws, "aws:iam/getPolicy:getPolicy", {"name": "AmazonEKSClusterPolicy"})
    assert found["arn"] == "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"


def test_the_default_network_of_an_account_is_found(aws: Aws) -> None:
    network = invoke(aws, "aws:ec2/getVpc:getVpc", {"default": True})
    assert network["default"] is True
    zone = {"vpcId": network["id"], "defaultForAz": True, "availabilityZone": f"{aws.region}a"}
    assert invoke(aws, "aws:ec2/getSubnet:getSubnet", zone)["vpcId"] == network["id"]
    by_name = {"name": "default", "vpcId": network["id"]}
    assert invoke(aws, "aws:ec2/getSecurityGroup:getSecurityGroup", by_name)["vpcId"] == network["id"]


def test_the_token_of_a_cluster_says_who_asks(world: World) -> None:
    kind = "aws:eks/cluster:Cluster"
    name, _ = world.objects(kind).create({**SAMPLES[kind].inputs(world), "name": "asked"})
    found = invoke(world.aws, "aws:eks/getClusterAuth:getClusterAuth", {"name": name})
    assert str(identity(found["token"])).startswith("arn:aws:")
    assert name in invoke(world.aws, "aws:eks/getClusters:getClusters", {})["names"]


def test_a_secret_and_its_version_are_read(aws: Aws) -> None:
    made = aws.call("secretsmanager", "create_secret", Name="team/key", SecretString="hunter2")
    found = invoke(aws, "aws:secretsmanager/getSecret:getSecret", {"name": "team/key"})
    assert found["arn"] == made["ARN"]
    version = invoke(aws, "aws:secretsmanager/getSecretVersion:getSecretVersion", {"secretId": found["id"]})
    assert version["secretString"] == "hunter2"


def test_the_caller_is_the_account(aws: Aws) -> None:
    found = invoke(aws, "aws:index/getCallerIdentity:getCallerIdentity", {})
    assert found["accountId"] == found["id"] == aws.account
    assert aws.account in found["arn"]


def test_a_parameter_is_read(aws: Aws) -> None:
    aws.call("ssm", "put_parameter", Name="/team/token", Value="v", Type="SecureString")
    found = invoke(aws, "aws:ssm/getParameter:getParameter", {"name": "/team/token"})
    assert (found["value"], found["version"]) == ("v", 1)
    listed = invoke(aws, "aws:ssm/getParametersByPath:getParametersByPath", {"path": "/team"})
    assert listed["names"] == ["/team/token"]


def test_a_function_that_nobody_has_is_refused_by_name(aws: Aws) -> None:
    with pytest.raises(ProviderError, match="does not support the function aws:bedrock/getNothing:getNothing"):
        invoke(aws, "aws:bedrock/getNothing:getNothing", {})


def test_a_data_source_of_a_type_that_is_only_recorded_has_made_up_texts_and_is_noted(aws: Aws, tmp_path: Path) -> None:
    token, notes = "aws:cloudfront/getCachePolicy:getCachePolicy", Notes(tmp_path)
    asked = AwsProvider(Shared(aws.clients, notes=notes, processes=PROCESSES))
    by_name = asked.invoke(aws, token, {"name": "cached"})
    assert by_name["name"] == "cached"
    assert by_name["id"]
    assert asked.invoke(aws, token, {"id": "658327ea"})["id"] == "658327ea"
    asked.invoke(aws, "aws:index/getRegion:getRegion", {})
    assert [(one.urn, one.kind, one.text) for one in load_notes(tmp_path)] == [(token, NoteKind.MADE_UP, "2")]
