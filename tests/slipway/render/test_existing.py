"""Stack prod in an existing VPC: what uses the network uses that one, and the pack, the bill and the report know."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pytest

from policies.rules import RULES
from slipway.cost.reconciliation import disagreements
from slipway.render.evaluation import check
from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource, Recording
from slipway.report.views.network import network as view
from spec.pricing import services
from spec.pricing.estimate import estimate
from spec.settings import Platform, load, read_stack
from tests.support.day import TODAY
from tests.support.stacks import FOLDER

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
