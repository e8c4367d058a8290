"""`slipway doctor --aws`: what is asked of an account and an existing network, and what is reported for each answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError

from sandbox.aws import existing_cluster
from sandbox.aws.client import credentials
from sandbox.aws.existing_network import make
from sandbox.aws.moto import server as moto_server
from slipway.account import cluster as clusters
from slipway.account import network as checks
from slipway.account import services
from slipway.account.context import AccountContext, Client, Diagnosis, Level, session
from slipway.account.examination import CHECKS, examine
from slipway.cli import main
from slipway.engine.backend import Backend
from spec.settings import load, read_stack
from spec.settings.platform import Platform
from spec.strict_yaml import read
from tests.slipway.account import ready
from tests.slipway.account.ready import Answer, FakeAws
from tests.support.settings import network
from tests.support.stacks import platform_of

# `slipway doctor --aws`: what an account lacks for a stack is found, each thing by its own line.


BACKEND = Backend("s3://ml-pulumi-state", "awskms://alias/pulumi-prod?region=us-east-1")


def ask(changes: Mapping[str, Answer] | None = None, backend: Backend = BACKEND, **more: Any) -> list[Diagnosis]:
    """The findings for prod in a ready account with some answers changed; `more` replaces settings."""
    platform = platform_of("prod").model_copy(update=more)
    return examine(context(platform, changes, backend)[0])


def context(
    platform: Platform, changes: Mapping[str, Answer] | None = None, backend: Backend = BACKEND
) -> tuple[AccountContext, FakeAws]:
    aws = FakeAws(platform.account.region, {**ready.answers(platform), **(changes or {})})
    return AccountContext(platform, aws, backend), aws


def lacking(findings: list[Diagnosis]) -> list[Diagnosis]:
    return [finding for finding in findings if finding.level is not Level.OK]


def test_a_ready_account_has_no_finding_and_every_check_says_what_it_saw() -> None:
    examined, aws = context(platform_of("prod"))
    findings = examine(examined)
    assert lacking(findings) == []
    assert len(findings) > len(CHECKS)
    # Nothing that could change the account is asked.
    operations = {name.partition(".")[2] for name in aws.asked}
    assert [name for name in operations if not name.startswith(("Get", "Describe", "Head", "List"))] == []


def offered_without(zone: str, kind: str) -> Answer:
    def answer(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        places = [
            {"InstanceType": each, "Location": place}
            for each in arguments["Filters"][0]["Values"]
            for place in ("us-east-1a", "us-east-1b", "us-east-1c")
            if (each, place) != (kind, zone)
        ]
        return {"InstanceTypeOfferings": places}

    return answer


@pytest.mark.parametrize(
    ("versions", "level", "fix"),
    [
        (["v9.9.9-eksbuild.1", "v9.9.8-eksbuild.1"], Level.NOTE, "version: v9.9.9-eksbuild.1"),
        ([], Level.FAILED, "disable it"),
    ],
)
def test_an_add_on_without_a_known_version_has_one_to_pin(versions: list[str], level: Level, fix: str) -> None:
    cluster = platform_of("prod").cluster.model_copy(update={"version": "1.36", "addons": {}})
    answer = {"addons": [{"addonVersions": [{"addonVersion": each} for each in versions]}]}
    (found,) = [
        each
        for each in ask({"eks.DescribeAddonVersions": answer}, cluster=cluster)
        if each.what == "add-on aws-fsx-csi-driver"
    ]
    assert found.level is level
    assert found.fix.endswith(fix)


def served(status: str, version: str = "") -> Answer:
    wanted = version or platform_of("prod").cluster.version
    return {"clusterVersions": [{"clusterVersion": wanted, "versionStatus": status}]}


def reserved(changes: Mapping[str, Any]) -> Mapping[str, Answer]:
    return {"ec2.DescribeCapacityReservations": {"CapacityReservations": [{**ready.RESERVED, **changes}]}}


def zones(names: Iterable[str], ids: Mapping[str, str]) -> Answer:
    every = [ready.zone(name) for name in names]
    return {"AvailabilityZones": [{**one, "ZoneId": ids.get(one["ZoneName"], one["ZoneId"])} for one in every]}


def roles_at(path: str) -> Answer:
    def role(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name = arguments["RoleName"]
        return {"Role": ready.role_of(f"arn:aws:iam::444455556666:role{path}{name}", name)}

    return role


KINDS: Mapping[str, Callable[[Any], Mapping[str, Answer]]] = {
    "answers": dict,
    "refused": lambda given: {name: ready.refused(code) for name, code in given.items()},
    "vcpus": lambda given: {"service-quotas.GetServiceQuota": ready.granted(*next(iter(given.items())))},
    "addresses": lambda given: {"ec2.DescribeAddresses": {"Addresses": [{}] * given}},
    "zones": lambda given: {"ec2.DescribeAvailabilityZones": zones(given, {})},
    "zone-ids": lambda given: {"ec2.DescribeAvailabilityZones": zones(ready.ZONE_IDS, given)},
    "unoffered": lambda given: {"ec2.DescribeInstanceTypeOfferings": offered_without(*given)},
    "reserved": reserved,
    "certificate": lambda given: {"acm.DescribeCertificate": {"Certificate": {**ready.CERTIFICATE, **given}}},
    "served": lambda given: {"eks.DescribeClusterVersions": served(*given)},
    "path": lambda given: {"iam.GetRole": roles_at(given)},
}
ROWS = read(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
CASES = {
    row["what"]: {name: each for key in KINDS.keys() & row.keys() for name, each in KINDS[key](row[key]).items()}
    for row in ROWS
}
MONITOR = {"MonitorName": "Default", "MonitorArn": "arn:m", "MonitorType": "DIMENSIONAL", "MonitorDimension": "SERVICE"}


def test_a_page_of_html_is_not_shown() -> None:
    def proxy(_: Mapping[str, Any]) -> Mapping[str, Any]:
        error = {"Code": "405", "Message": "<!DOCTYPE HTML><html><head><title>405</title></head></html>"}
        raise ClientError({"Error": error}, "GetAnomalyMonitors")

    shown = [finding.state for finding in lacking(ask({"ce.GetAnomalyMonitors": proxy}))]
    assert [state for state in shown if "<" in state] == []
    assert any(state.endswith("operation: a page of HTML, as proxies answer") for state in shown)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["what"]) for row in ROWS])
def test_what_an_account_lacks_is_reported_with_its_fix(row: dict[str, Any]) -> None:
    matching = [finding for finding in lacking(ask(CASES[row["what"]])) if row["state"] in finding.state]
    assert {finding.level.value for finding in matching} == {row["level"]}
    assert all(row.get("fix", "") in finding.fix for finding in matching)


def test_a_pinned_ami_release_is_shown_beside_the_newest() -> None:
    pools = platform_of("prod").pools
    pinned = {**pools, "system": pools["system"].model_copy(update={"ami_release": "1.35.0-20260101"})}
    (finding,) = lacking(ask(pools=pinned))
    assert (finding.what, finding.state) == ("AMI releases", "1.35.0-20260101 is pinned, for pools system")


def test_a_block_whose_pool_has_no_nodes_is_shown_until_the_stack_says_that_it_is_active() -> None:
    pools = platform_of("prod").pools
    capacity = pools["h100"].capacity
    assert capacity.reservation is not None
    idle = capacity.model_copy(update={"reservation": capacity.reservation.model_copy(update={"active": False})})
    waiting = {**pools, "h100": pools["h100"].model_copy(update={"capacity": idle})}
    (finding,) = lacking(ask(pools=waiting))
    assert finding.level is Level.NOTE
    assert "is active until 2027-04-05 11:30 UTC, and the pool has no nodes" in finding.state
    (scheduled,) = lacking(ask(reserved({"State": "scheduled"}), pools=waiting))
    assert (scheduled.level, scheduled.fix) == (Level.NOTE, "the pool has no nodes until it is active")


def test_another_account_is_not_asked_anything_else() -> None:
    assert len(ask(CASES["another account"])) == 1


def test_the_stack_s_own_anomaly_monitor_is_no_second() -> None:
    own = {**MONITOR, "MonitorName": "slipway-prod-cost-anomaly-monitor-1a2b3c4"}
    assert lacking(ask({"ce.GetAnomalyMonitors": {"AnomalyMonitors": [own]}})) == []


def test_quotas_of_the_network_do_not_matter_to_a_stack_that_exists() -> None:
    exists: dict[str, Answer] = {"eks.DescribeCluster": {"cluster": {"name": "slipway-prod"}}}
    assert lacking(ask({**CASES["no address left"], **exists})) == []


@pytest.mark.parametrize(
    ("backend", "state"),
    [
        (replace(BACKEND, url=""), "nobody is logged in"),
        (replace(BACKEND, url="file:///home/me"), "file:///home/me"),
        (replace(BACKEND, secrets_provider="passphrase"), "passphrase"),
    ],
)
def test_a_backend_without_bucket_or_key_is_a_note(backend: Backend, state: str) -> None:
    (finding,) = lacking(ask(backend=backend))
    assert finding.level is Level.NOTE
    assert state in finding.state


def test_tags_that_are_not_active_matter_where_budgets_count_by_them() -> None:
    inactive: dict[str, Answer] = {"ce.ListCostAllocationTags": {"CostAllocationTags": []}}
    assert lacking(ask(inactive)) == []
    cost = platform_of("prod").cost.model_copy(update={"budget_covers": "environment", "team_budgets": True})
    (finding,) = lacking(ask(inactive, cost=cost))
    assert finding.state == "environment, team: not active, so budgets by it read 0"
    assert "TagKey=environment,Status=Active TagKey=team,Status=Active" in finding.fix


@pytest.mark.parametrize(("changes", "code"), [({}, 0), (CASES["a quota of zero"], 1)])
def test_the_command_fails_where_the_up_would_fail(
    changes: Mapping[str, Answer], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    platform = platform_of("prod")
    aws = FakeAws(platform.account.region, {**ready.answers(platform), **changes})
    monkeypatch.setattr("slipway.cli.doctor.session", lambda region: aws)
    monkeypatch.setenv("PULUMI_BACKEND_URL", BACKEND.url)
    assert main(["doctor", "--aws", "prod"]) == code
    output = capsys.readouterr().out
    assert output.count("FAILED") == code
    assert ("request-service-quota-increase" in output) == bool(code)


def test_a_certificate_for_the_domain_is_one_line() -> None:
    (found,) = services.check(context(platform_of("prod"))[0])
    assert (found.level, found.state) == (Level.OK, "*.models.example.com until 2027-11-01")


# An existing network: EC2 is moto, and the network is the one that the sandbox makes.


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
def account(endpoint: str) -> Client:
    """One of its own."""
    account = f"5{len(_USED):011d}"
    _USED.append(account)
    return session("us-east-1", credentials(endpoint, account, "us-east-1"), endpoint)


@pytest.fixture
def client(account: Client) -> Client:
    """An account with the network."""
    make(account("ec2"), platform().network, "us-east-1")
    return account


_USED: Final[list[str]] = []


def found(
    client: Client,
    stack: Platform | None = None,
    check: Callable[[AccountContext], Iterator[Diagnosis]] = checks.existing,
) -> list[tuple[Level, str]]:
    owner = client("sts").get_caller_identity()["Account"]
    stack = stack or platform()
    account = stack.account.model_copy(update={"id": owner})
    context = AccountContext(stack.model_copy(update={"account": account}), client, Backend("file://~", ""))
    return [(finding.level, f"{finding.state} {finding.fix}") for finding in check(context)]


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


# An existing cluster: EKS is the sandbox's, and the cluster is the one that it makes.


EXAMPLE: Final = load(
    read_stack("existing", Path(__file__).resolve().parents[3] / "examples" / "stacks"), stack="existing"
).platform


def with_cluster(**more: Any) -> Platform:
    """The example with other settings of its cluster."""
    return EXAMPLE.model_copy(update={"cluster": EXAMPLE.cluster.model_copy(update=more)})


def test_a_cluster_is_held_against_the_stack_and_so_are_its_subnets(account: Client) -> None:
    assert found(account, platform_of("prod"), clusters.existing) == []
    ((level, state),) = found(account, EXAMPLE, clusters.existing)
    assert (level, state) == (Level.FAILED, "EKS has none in us-east-1 of this name correct cluster.existing.name")
    assert found(account, EXAMPLE) == []

    made = existing_cluster.make(account, EXAMPLE.network, EXAMPLE.cluster, "us-east-1")
    right = found(account, EXAMPLE, clusters.existing)
    assert (Level.OK, f"ml-prod, Kubernetes 1.35, in {made.vpc} ") in right
    assert not [one for one in right if one[0] is Level.FAILED]
    ((level, state),) = found(account, EXAMPLE)
    assert (level, made.vpc in state) == (Level.OK, True)
    other = [
        text for level, text in found(account, with_cluster(version="1.34"), clusters.existing) if level is Level.FAILED
    ]
    assert other == ['cluster.version: ml-prod runs Kubernetes 1.35 (1.34) Set it to "1.35".']
