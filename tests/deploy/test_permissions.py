"""The deployer's IAM policies allow what the stacks need, and stay within IAM's limits."""

import json
import re
from pathlib import Path

import pytest

from spec.settings.checks.cluster import DEPLOYER_PREFIX
from tests.deploy import operations, policies
from tests.deploy.policies import FILES, allowed, each, statements
from tests.spec.settings.stack import loaded
from tests.support import stacks

FURTHER = {
    # What the provider or a service asks for on the deployer's behalf, which no operation of a type shows.
    "autoscaling:Describe*": "reads a node group's tags",
    "ec2:RunInstances": "EKS checks that the deployer may launch from the template of a node group",
    "ec2:CreateNetworkInterface": "EFS checks it for a mount target",
    "ec2:ModifyNetworkInterfaceAttribute": "EFS checks it for the groups of a mount target",
    "iam:CreateServiceLinkedRole": "the first use of a service in an account",
    "iam:PassRole": "to EKS, EC2, VPC flow logs and RDS",
    "kms:CreateGrant": "EKS, RDS, EFS and FSx use the stack's keys",
    "logs:AssociateKmsKey": "an encrypted log group",
    "secretsmanager:CreateSecret": "RDS keeps the password of its database there",
    "secretsmanager:TagResource": "as above",
    # Service Authorization Reference, "Actions, resources, and condition keys for Amazon EC2": dependent actions of
    # CreateVpcEndpoint (read 2026-11).
    "route53:AssociateVPCWithHostedZone": "an interface endpoint with private DNS",
    "s3:DeleteObjectVersion": "a bucket with forceDestroy is emptied of its versions",
}


def test_there_are_files() -> None:
    assert {path.stem for path in FILES} == {"cluster", "data", "network", "read", "state"}


def test_a_warning_names_the_prefix_that_the_policies_allow_clusters() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    assert set(re.findall(r":cluster/([^\"]*)", text)) == {f"{DEPLOYER_PREFIX}*"}
    (warning,) = loaded({"cluster.name": "ml-prod"}).warnings
    assert (warning.path, f"{DEPLOYER_PREFIX}ml-prod" in warning.fix) == ("cluster.name", True)
    assert loaded({"cluster.name": f"{DEPLOYER_PREFIX}ml-prod"}).warnings == ()


def test_every_operation_of_the_types_of_the_stacks_is_allowed() -> None:
    types = {one.type for name in stacks.NAMES for one in stacks.recorded(name).resources.values()}
    needed = {name: operations.actions(name) for name in types if name.startswith("aws:")}
    assert len(needed) > 50
    missing = {name: sorted(one for one in actions if not allowed(one)) for name, actions in needed.items()}
    assert {name: actions for name, actions in missing.items() if actions} == {}, "allow these in deploy/iam"


@pytest.mark.parametrize("action", FURTHER)
def test_what_services_ask_for_is_allowed(action: str) -> None:
    assert allowed(action)


_SERVICES = {
    "account": "acm ce ec2 efs eks events fsx iam kms rds sns sqs ssm sts",
    "teardown": "ec2 eks elb elbv2 logs",
}
_CALL = re.compile(r"\b(?:delete|describe|get|list|terminate)_[a-z_]+")


@pytest.mark.parametrize("folder", _SERVICES)
def test_what_the_commands_ask_and_remove_is_allowed(folder: str) -> None:
    sources = (policies.ROOT / "slipway" / folder).glob("*.py")
    named = {name for path in sources for name in _CALL.findall(path.read_text(encoding="utf-8"))}
    # A name that several services have counts for each of them.
    services = _SERVICES[folder].split()
    needed = {
        operations.action(one, name) for one in services for name in named & set(operations.known_operations(one))
    }
    assert len(needed) > 10
    assert sorted(action for action in needed if not allowed(action)) == []


def test_a_type_that_no_file_allows_is_found() -> None:
    assert any(not allowed(one) for one in operations.actions("aws:cloudwatch/metricAlarm:MetricAlarm"))


@pytest.mark.parametrize("type_token", operations.NOT_SENT)
def test_operations_that_are_left_out_are_not_sent(type_token: str) -> None:
    inputs = {name for _, name in operations.NOT_SENT[type_token]}
    for stack in stacks.NAMES:
        for one in stacks.recorded(stack).resources.values():
            assert one.type != type_token or inputs.isdisjoint(one.inputs.plain), one.urn


def test_every_action_exists() -> None:
    named = {pattern for one in [*statements(), *statements("Deny")] for pattern in each(one["Action"])}
    assert [pattern for pattern in sorted(named) if not list(policies.matching(pattern))] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_policy_fits_into_a_managed_policy(path: Path) -> None:
    # 6,144 characters without white space, and 10 policies to a role (IAM User Guide, "IAM and AWS STS quotas").
    assert len(re.sub(r"\s", "", path.read_text(encoding="utf-8"))) <= 6144
    assert len(FILES) <= 10
    sids = [one["Sid"] for one in policies.document(path)["Statement"]]
    assert len(sids) == len(set(sids))
    assert all(re.fullmatch(r"[A-Za-z0-9]+", sid) for sid in sids)


def test_no_statement_allows_everything() -> None:
    for one in statements():
        assert not [pattern for pattern in each(one["Action"]) if pattern == "*" or pattern.endswith(":*")], one["Sid"]


def test_roles_are_passed_to_the_services_that_they_trust() -> None:
    (passing,) = [one for one in statements() if "iam:PassRole" in each(one["Action"])]
    assert passing["Resource"] == "arn:aws:iam::*:role/slipway-*"
    services = set()
    for stack in stacks.NAMES:
        for one in stacks.recorded(stack).resources.values():
            if one.type == "aws:iam/role:Role":
                trust = json.loads(str(one.inputs.plain["assumeRolePolicy"]))
                services |= {name for rule in trust["Statement"] for name in each(rule["Principal"]["Service"])}
    assert set(passing["Condition"]["StringEquals"]["iam:PassedToService"]) == services


def test_the_deployer_changes_neither_itself_nor_other_roles() -> None:
    for role in ("platform-deployer", "admin", "aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS"):
        for action in ("iam:PutRolePolicy", "iam:AttachRolePolicy", "iam:UpdateAssumeRolePolicy", "iam:PassRole"):
            assert not allowed(action, f"arn:aws:iam::111122223333:role/{role}"), (role, action)
    assert not allowed("s3:DeleteBucket", "arn:aws:s3:::pulumi-state-111122223333")
    assert not allowed("s3:GetObject", "arn:aws:s3:::someone-elses/key")


_ARNS = {
    "aws:cloudwatch/logGroup:LogGroup": "logs:CreateLogGroup",
    "aws:ecr/repository:Repository": "ecr:CreateRepository",
    "aws:eks/addon:Addon": "eks:CreateAddon",
    "aws:eks/cluster:Cluster": "eks:CreateCluster",
    "aws:eks/nodeGroup:NodeGroup": "eks:CreateNodegroup",
    "aws:iam/instanceProfile:InstanceProfile": "iam:CreateInstanceProfile",
    "aws:iam/role:Role": "iam:CreateRole",
    "aws:rds/instance:Instance": "rds:CreateDBInstance",
    "aws:s3/bucket:Bucket": "s3:CreateBucket",
    "aws:sns/topic:Topic": "sns:CreateTopic",
}


@pytest.mark.parametrize("type_token", _ARNS)
def test_names_of_the_stacks_fit_the_patterns(type_token: str) -> None:
    found = 0
    for stack in stacks.NAMES:
        for one in stacks.recorded(stack).resources.values():
            if one.type == type_token:
                arn = str(one.outputs.plain["arn"])
                assert allowed(_ARNS[type_token], arn), arn
                found += 1
    assert found
