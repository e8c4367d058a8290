"""Data sources of objects that the sandbox keeps, against moto and the SDK's own classes."""

import importlib
import inspect
import re
import warnings
from string import Formatter
from typing import Any

import pytest
from pulumi._types import _py_properties
from sandbox.aws.lookups import LOOKUPS

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.invokes import FUNCTIONS, invoke
from sandbox.aws.moto.tokens import identity
from sandbox.rpc.errors import ProviderError
from tests.sandbox.aws.samples import SAMPLES, World

EACH = pytest.mark.parametrize("token", sorted(LOOKUPS))
BY_OTHER_NAMES = {"accessPointId": "id", "fileSystemId": "id", "internetGatewayId": "id", "keyId": "id",
    "dbInstanceIdentifier": "id"}  # fmt: skip
"""Arguments that are outputs of their types under another name."""


def function(token: str) -> tuple[Any, set[str]]:
    """A function of the SDK, and the names in its answer."""
    _, module, name = re.split(r"[:/]", token)[:3]
    python = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    with warnings.catch_warnings():
        # A service package imports all its types, deprecated ones, too.
        warnings.simplefilter("ignore", DeprecationWarning)
        package = importlib.import_module(f"pulumi_aws.{module}")
        found = getattr(package, python)
        result = getattr(package, f"{name[0].upper()}{name[1:]}Result")
    return found, {wire_name for _, wire_name, _ in _py_properties(result)}


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


@EACH
def test_a_lookup_takes_and_gives_what_the_sdk_names(token: str) -> None:
    lookup = LOOKUPS[token]
    found, answered = function(token)
    taken = {camel(name) for name in inspect.signature(found).parameters}
    names = {name for template in lookup.id for _, name, _, _ in Formatter().parse(template) if name}
    named = names | set(lookup.find.filters.values() if lookup.find else ())
    assert named - {"account", "partition", "region"} <= taken
    assert set(lookup.lists) <= answered


@EACH
def test_an_object_is_found_by_its_arguments(token: str, world: World) -> None:
    lookup = LOOKUPS[token]
    lifecycle = world.lifecycle(lookup.type)
    id, outputs = lifecycle.create(SAMPLES[lookup.type].inputs(world))
    known = {**outputs, "id": id, **{name: id if own == "id" else outputs[own] for name, own in BY_OTHER_NAMES.items()}}
    names = [name for _, name, _, _ in Formatter().parse(lookup.id[0]) if name]
    args = {name: known[name] for name in names if name in known}
    answer = invoke(world.aws, token, args)
    _, answered = function(token)
    own = (answered & set(outputs)) - {"id", "url"}
    assert own - set(answer) <= {"tags"}, "moto has no tags of node groups"
    # Objects within objects are compared where types are read: tests/sandbox/aws/test_mappings.py.
    plain = {key for key in own & set(answer) if not isinstance(outputs[key], list | dict)}
    assert {key: answer[key] for key in plain} == {key: outputs[key] for key in plain}
    assert all(answer[name] == [answer[value]] for name, value in lookup.lists.items() if outputs.get(value))
    with pytest.raises((ProviderError, AwsError)):
        invoke(world.aws, token, {key: f"{value}-not-here" for key, value in args.items()})


def test_what_is_missing_says_how_it_is_made(aws: Aws) -> None:
    with pytest.raises(ProviderError, match=r"no Cluster with name='prod' .*slipway sandbox run -- aws"):
        invoke(aws, "aws:eks/getCluster:getCluster", {"name": "prod"})


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
    name, _ = world.lifecycle(kind).create({**SAMPLES[kind].inputs(world), "name": "asked"})
    found = invoke(world.aws, "aws:eks/getClusterAuth:getClusterAuth", {"name": name})
    assert str(identity(found["token"])).startswith("arn:aws:")
    assert name in invoke(world.aws, "aws:eks/getClusters:getClusters", {})["names"]


def test_a_secret_and_its_version_are_read(aws: Aws) -> None:
    made = aws.call("secretsmanager", "create_secret", Name="team/key", SecretString="hunter2")
    found = invoke(aws, "aws:secretsmanager/getSecret:getSecret", {"name": "team/key"})
    assert found["arn"] == made["ARN"]
    version = invoke(aws, "aws:secretsmanager/getSecretVersion:getSecretVersion", {"secretId": found["id"]})
    assert version["secretString"] == "hunter2"


def test_a_registry_has_a_user_and_a_password(aws: Aws) -> None:
    found = invoke(aws, "aws:ecr/getAuthorizationToken:getAuthorizationToken", {})
    assert found["userName"] == "AWS"
    assert found["password"]


def test_every_lookup_is_a_function() -> None:
    assert set(LOOKUPS) <= set(FUNCTIONS)
