"""A cluster that exists: what a stack file leaves out there, and the cluster as AWS describes it."""

from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any, Final

import pytest

from spec.settings import ConfigurationError, Platform
from spec.settings.cluster import AddonName
from spec.settings.existing import Existing
from spec.settings.found import Subnet
from spec.settings.found_cluster import FoundCluster, nodes_in, private_in, problems, warnings
from tests.spec.settings.stack import DELETE, ON_A_CLUSTER, changed, loaded
from tests.spec.settings.stack import problems as refused

VPC: Final = "vpc-0a1b2c3d4e5f67890"
FOUND: Final = FoundCluster(
    name="ml-prod",
    status="ACTIVE",
    version="1.35",
    service_cidr="172.20.0.0/16",
    authentication="API_AND_CONFIG_MAP",
    auto=False,
    addons=frozenset(map(str, AddonName)),
    vpc=VPC,
    subnets=("subnet-1",),
)

PLAIN: Final = {"addons": DELETE, "pools.a100": {"preset": "a100"}}


def platform(**more: Any) -> Platform:
    return loaded({**ON_A_CLUSTER, **more}).platform


def installed(stack: Platform) -> list[str]:
    return [name for name, addon in stack.cluster.addons.items() if addon.enabled]


def test_nothing_is_made_that_the_file_does_not_name() -> None:
    stack = platform()
    assert (stack.cluster_name, stack.prefix) == ("ml-prod", "slipway-test")
    assert installed(stack) == []
    assert not stack.storage.enabled
    assert not stack.network.flow_logs.enabled
    assert not stack.shares
    named = platform(**{"cluster.addons": {"vpc-cni": {}}, "storage": {}, "network.flowLogs.enabled": True})
    assert installed(named) == ["vpc-cni"]
    assert named.storage.enabled
    assert named.network.flow_logs.enabled


def test_parts_stand_alone_there() -> None:
    assert refused(changed({**ON_A_CLUSTER, "pools": DELETE, "addons": DELETE})) == ()
    assert platform(**{"cluster.existing.installed": ["kueue"]}).addons.kueue is not None


@pytest.mark.parametrize(
    ("more", "uses"),
    [
        ({"pools": DELETE, "addons": DELETE}, set()),
        ({"pools": DELETE}, {"eks-pod-identity-agent"}),
        ({"pools": DELETE, "cluster.existing.installed": ["gpuOperator", "efaDevicePlugin"]}, set()),
        ({}, {"eks-pod-identity-agent", "eks-node-monitoring-agent"}),
        ({**PLAIN, "cluster.existing.instanceProfile": "nodes"}, {"eks-node-monitoring-agent"}),
        ({"cluster.addons": {"eks-pod-identity-agent": {}, "eks-node-monitoring-agent": {}}}, set()),
    ],
    ids=["nothing", "add-ons", "those of the cluster", "Karpenter", "Karpenter of the cluster", "its own"],
)
def test_the_cluster_is_asked_for_what_the_stack_uses(more: dict[str, Any], uses: set[str]) -> None:
    assert set(platform(**more).uses) == uses


@pytest.mark.parametrize(
    ("wrong", "path", "fix"),
    [
        ({"status": "CREATING"}, "cluster.existing.name", "describe-cluster"),
        ({"version": "1.34"}, "cluster.version", '"1.34"'),
        ({"service_cidr": "10.100.0.0/16"}, "cluster.serviceIpv4Cidr", "10.100.0.0/16"),
        ({"service_cidr": ""}, "cluster.serviceIpv4Cidr", "IPv4"),
        ({"authentication": "CONFIG_MAP"}, "cluster.existing.name", "authenticationMode=API_AND_CONFIG_MAP"),
        ({"addons": frozenset({"eks-node-monitoring-agent"})}, "cluster.addons", "eks-pod-identity-agent: {}"),
    ],
)
def test_what_the_stack_can_not_use_is_one_problem(wrong: dict[str, Any], path: str, fix: str) -> None:
    stack = platform()
    assert list(problems(stack.cluster, stack.uses, FOUND)) == []
    assert list(warnings(stack.uses, FOUND)) == []
    (problem,) = problems(stack.cluster, stack.uses, replace(FOUND, **wrong))
    assert problem.path == path
    assert fix in problem.fix


def test_what_may_be_there_without_the_add_on_is_a_warning() -> None:
    stack = platform(storage={})
    without = replace(FOUND, addons=frozenset({"eks-pod-identity-agent"}))
    assert {warning.value for warning in warnings(stack.uses, without)} == {
        "aws-ebs-csi-driver",
        "aws-mountpoint-s3-csi-driver",
        "eks-node-monitoring-agent",
    }
    assert list(warnings(stack.uses, replace(without, auto=True))) == []


def subnet(id: str, zone: str, route: str) -> Subnet:
    return Subnet(
        id=id, vpc=VPC, zone=zone, cidr=IPv4Network("10.0.0.0/24"), free=9, tags={}, table="t", default_route=route
    )


def test_nodes_are_in_the_private_subnets_of_the_cluster() -> None:
    given = [
        subnet("subnet-00000001", "us-east-1a", "igw-1"),
        subnet("subnet-00000002", "us-east-1a", "nat-1"),
        subnet("subnet-00000003", "us-east-1b", ""),
    ]
    assert private_in(["us-east-1a", "us-east-1b"], given) == {
        "us-east-1a": "subnet-00000002",
        "us-east-1b": "subnet-00000003",
    }
    for zone, more in (("us-east-1c", []), ("us-east-1b", [subnet("subnet-00000004", "us-east-1b", "nat-1")])):
        with pytest.raises(ConfigurationError, match=f"one private subnet of the cluster must be in {zone}"):
            private_in(["us-east-1a", zone], [*given, *more])
    found = nodes_in(Existing(), VPC, {"us-east-1a": "subnet-00000002"})
    assert (found.vpc.id, found.private_subnets.ids) == (VPC, {"us-east-1a": "subnet-00000002"})
    named = Existing.model_validate({"vpc": {"tags": {"a": "b"}}, "privateSubnets": {"tags": {"tier": "private"}}})
    assert nodes_in(named, VPC, {"us-east-1a": "subnet-00000002"}) == named
