"""Every finding of an account: what is asked, and what is reported for each answer."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slipway.account import services
from slipway.account.context import AccountContext, Diagnosis, Level
from slipway.account.examination import CHECKS, examine
from slipway.cli import main
from slipway.engine.backend import Backend
from spec.settings.platform import Platform
from tests.slipway.account import ready
from tests.slipway.account.ready import Answer, FakeAws
from tests.support.stacks import platform_of

# `slipway doctor --aws`: what an account lacks for a stack is found, each thing by its own line.


BACKEND = Backend("s3://ml-pulumi-state", "awskms://alias/pulumi-prod?region=us-east-1")
OPT_IN: Answer = {"Regions": [{"RegionName": "us-east-1", "OptInStatus": "not-opted-in"}]}


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
        if each.what == "add-on eks-pod-identity-agent"
    ]
    assert found.level is level
    assert found.fix.endswith(fix)


def served(status: str, version: str = "") -> Answer:
    wanted = version or platform_of("prod").cluster.version
    return {"clusterVersions": [{"clusterVersion": wanted, "versionStatus": status}]}


def reserved(changes: Mapping[str, Any]) -> Mapping[str, Answer]:
    return {"ec2.DescribeCapacityReservations": {"CapacityReservations": [{**ready.RESERVED, **changes}]}}


def certificate(**changes: Any) -> Mapping[str, Answer]:
    return {"acm.DescribeCertificate": {"Certificate": {**ready.CERTIFICATE, **changes}}}


def role_of_teams(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    name = arguments["RoleName"]
    return {"Role": ready.role_of(f"arn:aws:iam::444455556666:role/teams/{name}", name)}


MONITOR = {"MonitorName": "Default", "MonitorArn": "arn:m", "MonitorType": "DIMENSIONAL", "MonitorDimension": "SERVICE"}

CASES: dict[str, tuple[Mapping[str, Answer], Level, str, str]] = {
    "another account": (
        {"sts.GetCallerIdentity": {"Account": "1" * 12, "Arn": f"arn:aws:sts::{'1' * 12}:assumed-role/a/b"}},
        Level.FAILED, "the stack is for account 444455556666", "log in to account 444455556666",
    ),
    "the root user": (
        {"sts.GetCallerIdentity": {"Account": "444455556666", "Arn": "arn:aws:iam::444455556666:root"}},
        Level.FAILED, "arn:aws:iam::444455556666:root", "use a role",
    ),
    "a caller without an access entry": (
        {"sts.GetCallerIdentity": {"Account": "444455556666", "Arn": "arn:aws:sts::444455556666:assumed-role/dba/x"}},
        Level.NOTE, "dba is not in cluster.access", "add their role to cluster.access",
    ),
    "a policy that allows everything": (
        {"iam.ListAttachedRolePolicies": {"AttachedPolicies": [{"PolicyName": "AdministratorAccess"}]}},
        Level.NOTE, "has AdministratorAccess", "",
    ),
    "a region that is not enabled": (
        {"ec2.DescribeRegions": OPT_IN}, Level.FAILED, "us-east-1 is not enabled", "aws account enable-region",
    ),
    "a zone that the account does not have": (
        {"ec2.DescribeAvailabilityZones": {"AvailabilityZones": [ready.zone("us-east-1a"), ready.zone("us-east-1b")]}},
        Level.FAILED, "has no zone us-east-1c", "use some of us-east-1a, us-east-1b",
    ),
    "a zone with another ID than declared": (
        {
            "ec2.DescribeAvailabilityZones": {
                "AvailabilityZones": [
                    {**ready.zone(name), "ZoneId": "use1-az5"} if name == "us-east-1a" else ready.zone(name)
                    for name in ready.ZONE_IDS
                ]
            }
        },
        Level.FAILED, "us-east-1a is use1-az5 in this account, not use1-az6", "account.zoneIds.us-east-1a: use1-az5",
    ),
    "a type that a managed pool's zone lacks": (
        {"ec2.DescribeInstanceTypeOfferings": offered_without("us-east-1a", "m7i.2xlarge")},
        Level.FAILED, "m7i.2xlarge is not offered in us-east-1a", "set pools.system.zones: [us-east-1b, us-east-1c]",
    ),
    "a quota of zero": (
        {"service-quotas.GetServiceQuota": ready.granted("p", 0)},
        Level.FAILED, "0 vCPUs, 384 needed (a100 384)", "--quota-code L-417A185B --desired-value 384",
    ),
    "a quota that was never changed": (
        {
            "service-quotas.GetServiceQuota": ready.refused("NoSuchResourceException"),
            "service-quotas.GetAWSDefaultServiceQuota": {"Quota": {"Value": 5.0}},
        },
        Level.FAILED, "5 vCPUs, ", "--desired-value",
    ),
    "no address left": (
        {"ec2.DescribeAddresses": {"Addresses": [{}] * 4999}},
        Level.FAILED, "5000, 4999 in use and 3 needed", "--quota-code L-0263D0A3 --desired-value 5002",
    ),
    "a reservation of another type": (
        reserved({"InstanceType": "p4d.24xlarge"}),
        Level.FAILED, "it is for p4d.24xlarge, and the pool is p5.48xlarge", "correct pools.h100",
    ),
    "a reservation smaller than its pool": (
        reserved({"TotalInstanceCount": 2}),
        Level.FAILED, "it has 2 instances, and the pool's max is 4", "correct pools.h100",
    ),
    "a reservation in another zone": (
        reserved({"AvailabilityZone": "us-east-1c"}),
        Level.FAILED, "it is in us-east-1c, and the pool is in us-east-1b", "correct pools.h100",
    ),
    "a reservation that has not begun": (
        reserved({"State": "scheduled"}),
        Level.FAILED, "cr-0a1b2c3d4e5f67890 is scheduled", "reservation.active: false until then",
    ),
    "a reservation of other days": (
        reserved({"StartDate": datetime(2026, 10, 12, 11, 30, tzinfo=UTC)}),
        Level.FAILED, "its StartDate is 2026-10-12, and that of the pool is 2026-10-05", "correct pools.h100",
    ),
    "a reservation that has ended": (
        reserved({"State": "expired"}),
        Level.FAILED, "cr-0a1b2c3d4e5f67890 is expired", "buy another",
    ),
    "a reservation that does not exist": (
        {"ec2.DescribeCapacityReservations": ready.refused("InvalidCapacityReservationId.NotFound")},
        Level.FAILED, "does not exist in us-east-1", "capacity.reservation.id",
    ),
    "a Kubernetes version that is not served": (
        {"eks.DescribeClusterVersions": served("STANDARD_SUPPORT", "1.99")},
        Level.FAILED, "EKS does not serve", "use one of 1.99",
    ),
    "a Kubernetes version in extended support": (
        {"eks.DescribeClusterVersions": served("EXTENDED_SUPPORT")}, Level.NOTE, "is in extended support", "upgrade",
    ),
    "an add-on version that is not served": (
        {"eks.DescribeAddonVersions": {"addons": [{"addonVersions": [{"addonVersion": "v9.9.9-eksbuild.1"}]}]}},
        Level.FAILED, "is not served for", "v9.9.9-eksbuild.1",
    ),
    "no AMI": (
        {"ssm.GetParameter": ready.refused("ParameterNotFound")},
        Level.FAILED, "has no /aws/service/eks/optimized-ami/", "use another os",
    ),
    "a second anomaly monitor": (
        {"ce.GetAnomalyMonitors": {"AnomalyMonitors": [MONITOR]}},
        Level.FAILED, "allows no second", "set cost.anomalyMonitorArn: arn:m",
    ),
    "no Spot role": (
        {"iam.GetRole": ready.refused("NoSuchEntity")},
        Level.FAILED, "AWSServiceRoleForEC2Spot does not exist", "aws iam create-service-linked-role",
    ),
    "a principal that does not exist": (
        {"iam.GetRole": ready.refused("NoSuchEntity")},
        Level.FAILED, "cluster.access.on-call.principalArn: arn:aws:iam::444455556666:role/ml-on-call does not exist",
        "create it",
    ),
    "a principal with another path": (
        {"iam.GetRole": role_of_teams}, Level.FAILED, "role/ml-vision does not exist", "",
    ),
    "a certificate that does not exist": (
        {"acm.DescribeCertificate": ready.refused("ResourceNotFoundException")},
        Level.FAILED, "5f6f0c3e-8a4d-4b0e-9a43-1f2d7c9b6e10 does not exist", "addons.kserve.certificateArn",
    ),
    "a certificate that is not issued": (
        certificate(Status="PENDING_VALIDATION"), Level.FAILED, "is PENDING_VALIDATION", "DNS",
    ),
    "a certificate for another domain": (
        certificate(DomainName="a.example.com", SubjectAlternativeNames=["a.example.com"]),
        Level.FAILED, "is for a.example.com", "*.models.example.com",
    ),
    "a state bucket that does not exist": (
        {"s3.HeadBucket": ready.refused("404")}, Level.FAILED, "bucket ml-pulumi-state does not exist", "create it",
    ),
    "a state bucket without versions": (
        {"s3.GetBucketVersioning": {}}, Level.NOTE, "keeps no versions", "aws s3api put-bucket-versioning",
    ),
    "a key that is to be deleted": (
        {"kms.DescribeKey": {"KeyMetadata": {"KeyId": "1", "KeyState": "PendingDeletion"}}},
        Level.FAILED, "key alias/pulumi-prod is PendingDeletion", "cancel its deletion",
    ),
    "a key that does not exist": (
        {"kms.DescribeKey": ready.refused("NotFoundException")},
        Level.FAILED, "key alias/pulumi-prod does not exist", "create it",
    ),
    "a question that is not allowed": (
        {"ssm.GetParameter": ready.refused("AccessDeniedException")},
        Level.NOTE, "not checked: GetParameter is not allowed", "allow GetParameter",
    ),
    "a service that fails": (
        {"ce.GetAnomalyMonitors": ready.refused("InternalServerError")}, Level.NOTE, "not checked:", "",
    ),
}  # fmt: skip


def test_a_page_of_html_is_not_shown() -> None:
    def proxy(_: Mapping[str, Any]) -> Mapping[str, Any]:
        error = {"Code": "405", "Message": "<!DOCTYPE HTML><html><head><title>405</title></head></html>"}
        raise ClientError({"Error": error}, "GetAnomalyMonitors")

    shown = [finding.state for finding in lacking(ask({"ce.GetAnomalyMonitors": proxy}))]
    assert [state for state in shown if "<" in state] == []
    assert any(state.endswith("operation: a page of HTML, as proxies answer") for state in shown)


@pytest.mark.parametrize("case", CASES)
def test_what_an_account_lacks_is_reported_with_its_fix(case: str) -> None:
    changes, level, state, fix = CASES[case]
    matching = [finding for finding in lacking(ask(changes)) if state in finding.state]
    assert {finding.level for finding in matching} == {level}
    assert all(fix in finding.fix for finding in matching)


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
    assert len(ask(CASES["another account"][0])) == 1


def test_the_stack_s_own_anomaly_monitor_is_no_second() -> None:
    own = {**MONITOR, "MonitorName": "slipway-prod-cost-anomaly-monitor-1a2b3c4"}
    assert lacking(ask({"ce.GetAnomalyMonitors": {"AnomalyMonitors": [own]}})) == []


def test_quotas_of_the_network_do_not_matter_to_a_stack_that_exists() -> None:
    exists: dict[str, Answer] = {"eks.DescribeCluster": {"cluster": {"name": "slipway-prod"}}}
    assert lacking(ask({**CASES["no address left"][0], **exists})) == []


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


@pytest.mark.parametrize(("changes", "code"), [({}, 0), (CASES["a quota of zero"][0], 1)])
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
