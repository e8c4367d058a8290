"""Settings of an existing VPC, and the VPC as AWS describes it: each thing that is wrong is one problem."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any, Final

import pytest

from spec.settings.existing import KEYS
from spec.settings.found import Needs, Subnet, Vpc, problems, warnings
from spec.settings.network import Network
from tests.spec.settings.stack import EXISTING, changed, loaded
from tests.spec.settings.stack import problems as refused
from tests.support.mocks import ACCOUNT
from tests.support.settings import network

VPC: Final[str] = EXISTING["network.existing.vpc.id"]
IDS: Final[Mapping[str, str]] = EXISTING["network.existing.privateSubnets.ids"]
PUBLIC: Final = {"us-east-1a": "subnet-0000000000000001a", "us-east-1b": "subnet-0000000000000001b"}
PODS: Final = {"us-east-1a": "subnet-0000000000000002a", "us-east-1b": "subnet-0000000000000002b"}
NEEDS: Final = Needs(account=ACCOUNT, addresses={"a": 500, "b": 500}, balancers=True)


@pytest.mark.parametrize("more", [
    {},
    {"network.existing.vpc": {"tags": {"Name": "shared"}}},
    {"network.existing.privateSubnets": {"tags": {"tier": "private"}}},
    {"network.existing.publicSubnets.ids": PUBLIC},
    {"network.cidr": "100.64.0.0/22"},
    {"network.existing.podSubnets.ids": PODS, "network.podCidr": "100.64.0.0/16"},
], ids=["by IDs", "VPC by tags", "subnets by tags", "public", "a small range", "pods"])  # fmt: skip
def test_an_existing_vpc_is_accepted(more: Mapping[str, Any]) -> None:
    assert refused(changed({**EXISTING, **more})) == ()


def test_no_nat_gateway_and_no_address_of_its_own_is_needed() -> None:
    assert loaded({**EXISTING}).platform.network.nat_gateways == 0


def settings(**more: Any) -> Network:
    existing = {"vpc": {"id": VPC}, "privateSubnets": {"ids": IDS}, "publicSubnets": {"ids": PUBLIC}}
    if "podCidr" in more:
        existing["podSubnets"] = {"ids": PODS}
    return network(existing=existing, **more)


def subnet(kind: str, place: str, **more: Any) -> Subnet:
    letter = "ab".index(place[-1])
    ranges = {"private": f"10.16.{64 * letter}.0/18", "public": f"10.16.{192 + letter}.0/24"}
    ranges["pods"] = f"100.64.{128 * letter}.0/17"
    given: dict[str, Any] = {
        "id": {"private": IDS, "public": PUBLIC, "pods": PODS}[kind][place],
        "vpc": VPC,
        "zone": place,
        "cidr": IPv4Network(ranges[kind]),
        "free": 16000,
        "tags": {
            "private": {"kubernetes.io/role/internal-elb": "1", "kubernetes.io/role/cni": "0"},
            "public": {"kubernetes.io/role/elb": ""},
            "pods": {"kubernetes.io/role/cni": "1"},
        }[kind],
        "table": "rtb-public" if kind == "public" else "rtb-private",
        "default_route": "igw-1" if kind == "public" else "nat-1",
    }
    return Subnet(**{**given, **more})


def vpc(*kinds: str, **of_first: Any) -> Vpc:
    """A VPC in which all is right, but for the first subnet of the last kind."""
    kinds = kinds or ("private", "public")
    subnets = {kind: {zone: subnet(kind, zone) for zone in IDS} for kind in ("private", "public", *kinds)}
    if of_first:
        subnets[kinds[-1]]["us-east-1a"] = subnet(kinds[-1], "us-east-1a", **of_first)
    return Vpc(
        id=VPC,
        owner=ACCOUNT,
        ranges=(IPv4Network("10.16.0.0/16"), IPv4Network("100.64.0.0/16")),
        dns_support=True,
        dns_hostnames=True,
        subnets=subnets,
        endpoints={"ecr.api": True},
        s3_tables=frozenset({"rtb-private"}),
    )


@pytest.mark.parametrize(
    "more", [{}, {"podCidr": "100.64.0.0/16"}, {"endpoints": ["ecr.api"]}], ids=["plain", "pods", "endpoints"]
)
def test_a_vpc_in_which_all_is_right_has_no_problem_and_no_warning(more: Mapping[str, Any]) -> None:
    one = vpc("pods") if "podCidr" in more else vpc()
    assert list(problems(settings(**more), one, NEEDS)) == []
    assert list(warnings(settings(**more), one, NEEDS)) == []


PRIVATE: Final = f"network.existing.{KEYS['private']}"
ISOLATED: Final = {
    "nat": "none", "endpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "path", "rule"),
    [
        (replace(vpc(), ranges=(IPv4Network("10.0.0.0/16"),)), "network.cidr", "within those of"),
        (replace(vpc(), dns_support=False), "network.existing.vpc", "DNS"),
        (replace(vpc(), dns_hostnames=False), "network.existing.vpc", "DNS"),
        (replace(vpc(), owner="444455556666"), "network.flowLogs.enabled", "shared VPC"),
        (vpc("private", vpc="vpc-1"), PRIVATE, f"must be in {VPC}"),
        (vpc("private", zone="us-east-1c"), PRIVATE, "must be in us-east-1a"),
        (vpc("private", cidr=IPv4Network("10.17.0.0/18")), PRIVATE, "within network.cidr"),
        (vpc("private", cidr=IPv4Network("10.16.0.0/25")), PRIVATE, "needs 500 pod addresses"),
        (vpc("private", free=5), PRIVATE, "6 free addresses"),
        (vpc("private", tags={}), PRIVATE, "load balancers find subnets by tags"),
        (vpc("public", tags={}), "network.existing.publicSubnets", "load balancers find subnets by tags"),
        (vpc("public", default_route="nat-1"), "network.existing.publicSubnets", "internet gateway"),
        (vpc("private", default_route=""), PRIVATE, "need a default route"),
        (vpc("private", default_route="igw-1"), PRIVATE, "no public addresses"),
        (replace(vpc(), pods_elsewhere=("subnet-9",)), PRIVATE, "addresses of other subnets"),
    ],
)
def test_what_a_cluster_can_not_use_is_one_problem(wrong: Vpc, path: str, rule: str) -> None:
    (problem,) = problems(settings(), wrong, NEEDS)
    assert problem.path == path
    assert rule in problem.rule


def test_subnets_for_pods_are_tagged_for_the_cni_and_large_enough() -> None:
    with_pods = settings(podCidr="100.64.0.0/16")
    path = "network.existing.podSubnets"
    for wrong, rule in (
        ({"tags": {}}, "finds subnets for pods by tags"),
        ({"cidr": IPv4Network("10.16.0.0/17")}, "within network.podCidr"),
        ({"cidr": IPv4Network("100.64.0.0/25")}, "needs 500 pod addresses"),
        ({"default_route": ""}, "need a default route"),
    ):
        (problem,) = problems(with_pods, vpc("pods", **wrong), NEEDS)
        assert problem.path == path
        assert rule in problem.rule
    only_there = vpc("pods", "private", tags={"kubernetes.io/role/internal-elb": "1"})
    assert [problem.path for problem in problems(with_pods, only_there, NEEDS)] == [PRIVATE]


def test_without_nat_nodes_reach_s3_by_its_endpoint_and_others_by_private_dns() -> None:
    subnets = {kind: dict(by_zone) for kind, by_zone in vpc().subnets.items()}
    subnets["private"] = {zone: replace(one, default_route="") for zone, one in subnets["private"].items()}
    there = dict.fromkeys(ISOLATED["endpoints"], True)
    isolated = replace(vpc(), subnets=subnets, endpoints=there)
    assert list(problems(settings(**ISOLATED), isolated, NEEDS)) == []
    without = replace(isolated, s3_tables=frozenset())
    assert {problem.path for problem in problems(settings(**ISOLATED), without, NEEDS)} == {PRIVATE}
    for wrong in ({**there, "sts": False}, {name: True for name in there if name != "sts"}):
        (problem,) = problems(settings(**ISOLATED), replace(isolated, endpoints=wrong), NEEDS)
        assert problem.path == "network.endpoints.6"


def test_flow_logs_of_a_shared_vpc_are_its_owners() -> None:
    shared = replace(vpc(), owner="444455556666")
    assert list(problems(settings(flowLogs={"enabled": False}), shared, NEEDS)) == []


def test_data_through_a_nat_gateway_and_addresses_in_use_are_warnings() -> None:
    (costly,) = warnings(settings(), replace(vpc(), s3_tables=frozenset()), NEEDS)
    assert "gateway endpoint of S3" in costly.rule
    (full,) = warnings(settings(), vpc("private", free=100), NEEDS)
    assert "500 addresses" in full.rule
