"""What the engine's side of a run answers: look-ups of a network, sample ids and outputs."""

import base64
import re
from functools import cache
from typing import Any, Final

import pytest

from policies.rules import RULES
from slipway.render.evaluation import check
from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource, Recording
from slipway.render.samples import SAMPLES, Facts, answer
from slipway.report.views.layout import network as view
from spec.pricing import services
from spec.pricing.estimate import estimate
from spec.settings import Platform, load, read_stack
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.reconciliation import disagreements
from tests.support.stacks import FOLDER

CASES: Final = beside(__file__)

# Stack prod in an existing VPC: what uses the network uses that one, and the pack, the bill and the report know.


VPC: Final = "vpc-0a1b2c3d4e5f67890"
PRIVATE: Final = {f"us-east-1{letter}": f"subnet-0000000000000000{letter}" for letter in "abc"}
EXISTING: Final = {
    "vpc": {"id": VPC},
    "privateSubnets": {"ids": PRIVATE},
    "publicSubnets": {"tags": {"tier": "public"}},
    "podSubnets": {"tags": {"tier": "pods"}},
}
MADE: Final = ("Vpc", "Subnet", "RouteTable", "Route", "NatGateway", "Eip", "VpcEndpoint", "InternetGateway")


@cache
def prod() -> Platform:
    settings: Any = read_stack("prod", FOLDER)
    del settings["network"]["nat"]
    settings["network"]["existing"] = EXISTING
    return load(settings, stack="prod", today=TODAY).platform


@cache
def recorded(*, preview: bool) -> Recording:
    return record_platform(prod(), stack="prod", preview=preview)


def of(kind: str, *, preview: bool = True) -> list[RecordedResource]:
    return [one for one in recorded(preview=preview).resources.values() if one.type == kind]


@pytest.mark.parametrize("preview", [True, False])
def test_no_part_of_the_vpc_is_made(preview: bool) -> None:
    tokens = {f"aws:ec2/{name[0].lower()}{name[1:]}:{name}" for name in MADE}
    assert tokens.isdisjoint(one.type for one in recorded(preview=preview).resources.values())


def test_all_that_is_in_a_network_is_in_this_one() -> None:
    (cluster,) = of("aws:eks/cluster:Cluster")
    assert cluster.inputs.plain["vpcConfig"]["subnetIds"] == list(PRIVATE.values())
    for group in of("aws:eks/nodeGroup:NodeGroup"):
        assert set(group.inputs.plain["subnetIds"]) <= set(PRIVATE.values())
    (group,) = (one for one in of("aws:eks/nodeGroup:NodeGroup") if "h100" in one.name)
    assert group.inputs.plain["subnetIds"] == [PRIVATE["us-east-1b"]]
    assert {one.inputs.plain["subnetId"] for one in of("aws:efs/mountTarget:MountTarget")} == set(PRIVATE.values())
    (lustre,) = of("aws:fsx/lustreFileSystem:LustreFileSystem")
    assert lustre.inputs.plain["subnetIds"] in PRIVATE.values()
    (database,) = of("aws:rds/subnetGroup:SubnetGroup")
    assert set(database.inputs.plain["subnetIds"]) == set(PRIVATE.values())
    assert {one.inputs.plain["vpcId"] for one in of("aws:ec2/securityGroup:SecurityGroup")} == {VPC}
    (logs,) = of("aws:ec2/flowLog:FlowLog")
    assert logs.inputs.plain["vpcId"] == VPC
    (balancers,) = (one for one in of("kubernetes:helm.sh/v3:Release") if "load-balancer" in one.name)
    assert balancers.inputs.plain["values"]["vpcId"] == VPC
    for machine in of("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"):
        terms = machine.inputs.plain["spec"]["subnetSelectorTerms"]
        assert terms == [{"id": id} for id in PRIVATE.values()]


def test_the_pack_has_nothing_against_it() -> None:
    levels = {rule.name: rule.levels.of("prod").value for rule in RULES}
    found = [one for one in check(recorded(preview=True), TODAY) if one.counts(TODAY)]
    assert [one.id for one in found if levels[one.rule] == "mandatory"] == []


def test_the_bill_has_no_gateway_and_no_endpoint_but_their_data() -> None:
    resources = [(one.type, one.inputs.plain) for one in recorded(preview=False).resources.values()]
    assert disagreements(estimate(prod()), resources) == ()
    lines = {(line.service, line.item) for line in estimate(prod()).lines}
    assert (services.NAT, "gateways") not in lines
    assert (services.ADDRESSES, "of NAT gateways") not in lines
    assert (services.ENDPOINTS, "interface endpoints") not in lines
    assert (services.NAT, "data through NAT gateways") in lines
    assert (services.ENDPOINTS, "data through interface endpoints") in lines


def test_the_report_names_the_vpc_and_its_subnets() -> None:
    drawn = view(prod().network)
    assert (drawn.vpc, drawn.out) == (VPC, "by the routes of the existing VPC")
    assert drawn.zones[0].subnets == (
        ("private", PRIVATE["us-east-1a"]), ("public", "tier=public"), ("pods", "tier=pods"),
    )  # fmt: skip
    assert not any(zone.nat for zone in drawn.zones)


# Samples have the form of real values, and follow from names only.


def facts(type_: str, name: str = "thing", region: str = "eu-west-1", **inputs: Any) -> Facts:
    return Facts(
        urn=f"urn:pulumi:dev::slipway::{type_}::{name}",
        type=type_,
        logical_name=name,
        inputs=inputs,
        project="slipway",
        stack="dev",
        account="111122223333",
        region=region,
    )


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value] if isinstance(value, str) else []


def test_every_sample_is_for_a_type_of_the_sdk_and_fills_its_templates() -> None:
    inputs = {"clusterName": "c", "role": "r", "policyArn": "p", "principalArn": "u", "addonName": "a", "rule": "e"}
    for type_ in SAMPLES:
        identity, outputs = answer(facts(type_, namespace="ns", **inputs))
        assert re.fullmatch(r"aws:[a-z0-9]+/[a-zA-Z0-9]+:[A-Z]\w+|kubernetes:[a-z.0-9/]+:[A-Z]\w+", type_)
        for text in [identity, *leaves(outputs)]:
            assert text, f"{type_}: a sample must not be empty"
            assert not set(text) & set("{}"), (type_, text)


@pytest.mark.parametrize(("type_", "key", "form"), CASES["samples have the form of aws values"])
def test_samples_have_the_form_of_aws_values(type_: str, key: str, form: str) -> None:
    assert re.fullmatch(form, answer(facts(type_))[1][key])


def test_a_cluster_has_the_outputs_that_a_program_reads() -> None:
    _, outputs = answer(facts("aws:eks/cluster:Cluster", name="cluster"))
    assert base64.b64decode(outputs["certificateAuthority"]["data"]).startswith(b"-----BEGIN CERTIFICATE-----")
    assert re.fullmatch(
        r"https://oidc\.eks\.eu-west-1\.amazonaws\.com/id/[0-9A-F]{32}", outputs["identities"][0]["oidcs"][0]["issuer"]
    )
    assert outputs["vpcConfig"]["clusterSecurityGroupId"].startswith("sg-")


def test_a_node_group_has_an_auto_scaling_group_name() -> None:
    identity, outputs = answer(facts("aws:eks/nodeGroup:NodeGroup", clusterName="slipway-dev"))
    assert identity.startswith("slipway-dev:slipway-dev-thing-")
    assert outputs["resources"][0]["autoscalingGroups"][0]["name"].startswith("eks-slipway-dev-thing-")


@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_arns_are_in_the_partition_of_their_region(region: str, partition: str) -> None:
    assert answer(facts("aws:iam/role:Role", region=region))[1]["arn"].startswith(f"arn:{partition}:iam::")


def test_an_explicit_name_is_the_physical_name() -> None:
    assert answer(facts("aws:iam/role:Role", name_="x"))[0] != "mine"
    named = Facts(**{**vars(facts("aws:iam/role:Role")), "inputs": {"name": "mine"}})
    assert answer(named)[1]["arn"] == "arn:aws:iam::111122223333:role/mine"


def test_ids_depend_only_on_the_urn() -> None:
    first, again, other = (answer(facts("aws:ec2/vpc:Vpc", name=name))[0] for name in ("a", "a", "b"))
    assert first == again != other


def test_the_id_of_a_kubernetes_object_is_its_namespace_and_name() -> None:
    token = "kubernetes:core/v1:ConfigMap"
    assert answer(facts(token, metadata={"name": "n", "namespace": "ns"}))[0] == "ns/n"
    assert answer(facts(token, metadata={"name": "n"}))[0] == "n"
    identity, outputs = answer(facts(token))
    assert re.fullmatch(r"thing-[0-9a-f]{8}", identity)
    assert outputs == {"metadata": {"name": identity}}


def test_a_type_without_a_sample_has_a_name_and_no_outputs() -> None:
    identity, outputs = answer(facts("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"))
    assert re.fullmatch(r"slipway-dev-thing-[0-9a-f]{7}", identity)
    assert outputs == {}
