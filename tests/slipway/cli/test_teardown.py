"""`slipway destroy STACK` on AWS: which runs empty the cluster first, and what a user is asked."""

from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from moto import mock_aws

from slipway.account.context import session
from slipway.cli import main, offline, operations
from slipway.engine.invocation import Operation, Request
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.slipway.engine.fake import FakePulumi
from tests.spec.settings.stack import loaded

pytestmark = pytest.mark.usefixtures("user", "checkout")

PLATFORM = loaded({}).platform
REQUEST = Request(operation=Operation.DESTROY, stack="test")


@pytest.fixture
def torn_down(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Request, bool]]:
    calls: list[tuple[Request, bool]] = []

    def destroy(request: Request, _platform: Any, run: Any, _ask: Any, *, delete_volumes: bool) -> int:
        calls.append((request, delete_volumes))
        return int(run(request))

    monkeypatch.setattr(operations, "tear_down", destroy)
    return calls


def test_a_destroy_of_the_whole_stack_on_aws_empties_the_cluster(
    fake: FakePulumi, torn_down: list[tuple[Request, bool]]
) -> None:
    assert main(["destroy", "dev", "--yes", "--delete-volumes"]) == 0
    ((request, volumes),) = torn_down
    assert (request.stack, request.unreachable, volumes) == ("dev", False, True)
    assert fake.calls[-1]["arguments"][:5] == ["destroy", "--stack", "dev", "--yes", "--skip-preview"]


def test_objects_of_a_lost_cluster_are_forgotten_by_the_providers_option(
    fake: FakePulumi, torn_down: list[tuple[Request, bool]]
) -> None:
    assert main(["destroy", "dev", "--yes", "--unreachable"]) == 0
    assert torn_down[0][0].unreachable
    assert fake.calls[-1]["environment"]["PULUMI_K8S_DELETE_UNREACHABLE"] == "true"


@pytest.mark.parametrize(
    "line",
    [
        "destroy dev --yes --except-protected",
        "destroy dev --yes -- --target urn:x",
        "destroy dev --yes -- --preview-only",
        "destroy dev --yes --sandbox",
        "up dev --yes",
    ],
)
def test_a_part_of_a_stack_and_a_rehearsal_leave_the_cluster_alone(
    line: str, fake: FakePulumi, sandbox: offline.Sandbox, torn_down: list[tuple[Request, bool]]
) -> None:
    assert main(line.split()) == 0
    assert torn_down == []


def test_a_user_is_asked_before_anything_is_removed() -> None:
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    assert operations.tear_down(REQUEST, PLATFORM, lambda _: 0, no, delete_volumes=False) == EXIT_REFUSED
    assert "cluster slipway-test" in asked[0]


def test_an_aws_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def session(_: str) -> Any:
        def client(_: str) -> Any:
            raise NoCredentialsError

        return client

    monkeypatch.setattr(operations, "session", session)
    with pytest.raises(SlipwayError, match="Unable to locate credentials"):
        operations.tear_down(REQUEST, PLATFORM, lambda _: 0, lambda _: True, delete_volumes=False)


def test_a_rehearsal_removes_what_is_in_the_way_and_lists_what_remains(
    sandbox: offline.Sandbox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on AWS: what controllers of the cluster left has its tag, and keeps the VPC from being deleted."""
    name, region = PLATFORM.cluster_name, PLATFORM.account.region
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

    def tags(kind: str, **pairs: str) -> list[dict[str, Any]]:
        return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in pairs.items()]}]

    monkeypatch.delenv("AWS_PROFILE")
    with mock_aws():
        client = session(region, keys)
        ec2 = client("ec2")
        account = client("sts").get_caller_identity()["Account"]
        platform = PLATFORM.model_copy(update={"account": PLATFORM.account.model_copy(update={"id": account})})
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
        made = {"TagSpecifications": tags("network-interface", **{"cluster.k8s.amazonaws.com/name": name})}
        ec2.create_network_interface(SubnetId=subnet, **made)
        balancer = client("elbv2").create_load_balancer(
            Name="web", Subnets=[subnet], Type="network", Tags=[{"Key": "elbv2.k8s.aws/cluster", "Value": name}]
        )
        assert balancer["LoadBalancers"]
        owned = {f"kubernetes.io/cluster/{name}": "owned", "kubernetes.io/created-for/pvc/name": "data"}
        zone = ec2.describe_availability_zones()["AvailabilityZones"][0]["ZoneName"]
        volume = ec2.create_volume(AvailabilityZone=zone, Size=1, TagSpecifications=tags("volume", **owned))["VolumeId"]
        monkeypatch.setattr(offline.Sandbox, "client", lambda *_: client)
        codes = []

        def run(_request: Request) -> int:
            # The sandbox's AWS refuses to delete the subnet, where plain moto does not.
            codes.append(int(bool(ec2.describe_network_interfaces()["NetworkInterfaces"])))
            return codes[-1]

        request = Request(operation=Operation.DESTROY, stack="test", yes=True)
        assert operations._sweeping(sandbox, platform, run, delete_volumes=False)(request) == 1
        said = capsys.readouterr().err
        assert codes == [1, 0]
        assert "removing load balancer" in said
        assert "removing network interface" in said
        assert f"these remain, with tags of the cluster (1):\n  - volume {volume} (/data, 1 GiB)" in said
        assert operations._sweeping(sandbox, platform, run, delete_volumes=True)(request) == 0
        assert ec2.describe_volumes()["Volumes"] == []
