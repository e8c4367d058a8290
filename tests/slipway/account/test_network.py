"""`slipway doctor --aws` and an existing network: EC2 is moto, and the network is the one that the sandbox makes."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from sandbox.aws.client import credentials
from sandbox.aws.existing_network import make
from sandbox.aws.moto import server as moto_server
from slipway.account import network as checks
from slipway.account.context import AccountContext, Client, Level, session
from slipway.engine.backend import Backend
from spec.settings.platform import Platform
from tests.support.settings import network
from tests.support.stacks import platform_of

VPC: Final = "vpc-0a1b2c3d4e5f67890"
PRIVATE: Final = {
    "us-east-1a": "subnet-0000000000000000a", "us-east-1b": "subnet-0000000000000000b",
    "us-east-1c": "subnet-0000000000000000c",
}  # fmt: skip


def platform(**more: Any) -> Platform:
    """Prod in an existing VPC."""
    given = {"vpc": {"id": VPC}, "privateSubnets": {"ids": PRIVATE}, "podSubnets": {"tags": {"tier": "pods"}}, **more}
    settings = network("abc", existing=given, podCidr="100.64.0.0/16", endpoints=["sts"])
    return platform_of("prod").model_copy(update={"network": settings})


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = moto_server.start()
    yield server.endpoint
    server.stop()


@pytest.fixture
def client(endpoint: str) -> Client:
    """An account of its own, with the network."""
    account = f"5{len(_USED):011d}"
    _USED.append(account)
    client = session("us-east-1", credentials(endpoint, account, "us-east-1"), endpoint)
    make(client("ec2"), platform().network, "us-east-1")
    return client


_USED: Final[list[str]] = []


def found(client: Client, stack: Platform | None = None) -> list[tuple[Level, str]]:
    owner = client("sts").get_caller_identity()["Account"]
    stack = stack or platform()
    account = stack.account.model_copy(update={"id": owner})
    context = AccountContext(stack.model_copy(update={"account": account}), client, Backend("file://~", ""))
    return [(finding.level, f"{finding.state} {finding.fix}") for finding in checks.existing(context)]


def test_a_network_in_which_all_is_right_is_one_line(client: Client) -> None:
    ((level, state),) = found(client)
    assert level is Level.OK
    assert VPC in state
    assert all(id in state for id in PRIVATE.values())


def test_a_stack_that_makes_its_vpc_has_no_line(client: Client) -> None:
    assert found(client, platform_of("prod")) == []


def untag(ec2: Any) -> None:
    ec2.delete_tags(Resources=[PRIVATE["us-east-1a"]], Tags=[{"Key": "kubernetes.io/role/internal-elb"}])


def without_dns(ec2: Any) -> None:
    ec2.modify_vpc_attribute(VpcId=VPC, EnableDnsHostnames={"Value": False})


def without_default_route(ec2: Any) -> None:
    filters = [{"Name": "association.subnet-id", "Values": [PRIVATE["us-east-1a"]]}]
    (table,) = ec2.describe_route_tables(Filters=filters)["RouteTables"]
    ec2.delete_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0")


def without_endpoint(ec2: Any) -> None:
    filters = [{"Name": "vpc-id", "Values": [VPC]}]
    ids = [one["VpcEndpointId"] for one in ec2.describe_vpc_endpoints(Filters=filters)["VpcEndpoints"]]
    ec2.delete_vpc_endpoints(VpcEndpointIds=ids)


def on_the_main_table(ec2: Any) -> None:
    """Without an association of its own, a subnet has the routes of the main table, which has none."""
    filters = [{"Name": "association.subnet-id", "Values": [PRIVATE["us-east-1b"]]}]
    (table,) = ec2.describe_route_tables(Filters=filters)["RouteTables"]
    for one in table["Associations"]:
        if one.get("SubnetId") == PRIVATE["us-east-1b"]:
            ec2.disassociate_route_table(AssociationId=one["RouteTableAssociationId"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (untag, "aws ec2 create-tags --resources subnet-0000000000000000a"),
        (without_dns, "enableDnsHostnames of vpc-0a1b2c3d4e5f67890 is false"),
        (without_default_route, "subnet-0000000000000000a has none"),
        (on_the_main_table, "subnet-0000000000000000b has none"),
        (without_endpoint, "network.endpoints.0"),
    ],
)
def test_what_is_wrong_is_a_failed_line_with_its_fix(client: Client, change: Callable[[Any], None], said: str) -> None:
    change(client("ec2"))
    lines = found(client)
    assert any(level is Level.FAILED and said in text for level, text in lines), lines


def test_a_vpc_or_a_subnet_that_does_not_exist_is_one_line(client: Client) -> None:
    ((level, state),) = found(client, platform(vpc={"id": "vpc-00000000"}))
    assert (level, "0 VPCs" in state) == (Level.FAILED, True)
    lines = found(client, platform(podSubnets={"tags": {"tier": "other"}}))
    assert [level for level, _ in lines] == [Level.FAILED] * 3
    assert all("podSubnets" in text for _, text in lines)
