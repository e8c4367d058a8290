"""The deployer's IAM policies allow what any setting makes the program ask of AWS, and stay within IAM's limits."""

import fnmatch
import json
import re
from functools import cache
from pathlib import Path
from typing import Final

import botocore.session
import pytest
from botocore import xform_name

from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource
from spec.settings import load, read_stack, stacks_in
from spec.settings.checks.cluster import DEPLOYER_PREFIX
from tests.deploy import operations, policies
from tests.deploy.policies import FILES, allowed, each, statements
from tests.spec.settings.stack import loaded
from tests.support import stacks
from tests.support.cases import beside
from tests.support.day import TODAY

CASES: Final = beside(__file__)
FURTHER: Final[dict[str, str]] = CASES["further"]
NOT_USED: Final[list[str]] = CASES["not used"]
LINKED: Final[dict[str, list[str]]] = CASES["linked"]


@cache
def rendered() -> tuple[RecordedResource, ...]:
    """The resources in AWS of every stack file, and of one with what no stack file sets."""
    shipped = [(stack, stacks.platform_of(stack)) for stack in stacks.NAMES]
    for folder in (operations.ROOT / "examples/stacks", operations.ROOT / "templates/platform/stacks"):
        shipped += [(one, load(read_stack(one, folder), stack=one, today=TODAY).platform) for one in stacks_in(folder)]
    schedule = {"stop": "0 20 * * *", "start": "0 7 * * *", "pools": ["h100"]}
    more = loaded({"cost.allocationTags": ["team"], "cost.schedules.nights": schedule})
    recordings = (record_platform(platform, stack=stack) for stack, platform in [*shipped, ("test", more.platform)])
    return tuple(one for each in recordings for one in each.resources.values() if one.type.startswith("aws:"))


def test_there_are_files() -> None:
    assert {path.stem for path in FILES} == {"cluster", "data", "network", "read", "state"}


def test_a_warning_names_the_prefix_that_the_policies_allow_clusters() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    assert set(re.findall(r":cluster/([^\"]*)", text)) == {f"{DEPLOYER_PREFIX}*"}
    (warning,) = loaded({"cluster.name": "ml-prod"}).warnings
    assert (warning.path, f"{DEPLOYER_PREFIX}ml-prod" in warning.fix) == ("cluster.name", True)
    assert loaded({"cluster.name": f"{DEPLOYER_PREFIX}ml-prod"}).warnings == ()


def test_every_action_of_a_type_is_allowed_on_what_the_stack_files_make() -> None:
    made = {one.type for one in rendered()}
    assert made == operations.constructed().keys(), "add the setting that asks for the type to `rendered`"
    needed = {(str(one.outputs.plain.get("arn")), act) for one in rendered() for act in operations.actions(one.type)}
    named = {(arn, act) for arn, act in needed if any(re.fullmatch(pattern, arn) for pattern in policies.arns(act))}
    assert len({act for _, act in named}) > 100
    refused = {one for one in needed if not allowed(one[1], one[0] if one in named else None)}
    assert refused == set(), "allow these in deploy/iam"


def test_what_cloudformation_asks_for_the_types_is_allowed() -> None:
    """Another source for what the operations show, and the only one for what a type asks of other services."""
    missing = {one for name in operations.constructed() for one in operations.asked(name) if not allowed(one)}
    patterns = {one: {each for each in NOT_USED if fnmatch.fnmatchcase(one, each)} for one in missing}
    assert [one for one, found in patterns.items() if not found] == []
    assert set(NOT_USED) == set().union(*patterns.values())


def test_the_roles_that_services_make_for_themselves_are_allowed() -> None:
    wanting = {name for name in operations.constructed() if "iam:CreateServiceLinkedRole" in operations.asked(name)}
    assert wanting <= LINKED.keys() <= operations.constructed().keys()
    (making,) = [one for one in statements() if "iam:CreateServiceLinkedRole" in each(one["Action"])]
    services = {f"{one}.amazonaws.com" for found in LINKED.values() for one in found}
    assert set(making["Condition"]["StringEquals"]["iam:AWSServiceName"]) == services


@pytest.mark.parametrize("asked", FURTHER)
def test_what_services_ask_for_is_allowed(asked: str) -> None:
    assert allowed(*asked.split())


def test_what_can_not_be_limited_to_a_resource_is_not() -> None:
    """IAM User Guide, "IAM JSON policy elements: Resource": such an action needs the resource `*`."""
    for one in statements():
        for action in (found for pattern in each(one["Action"]) for found in policies.matching(pattern)):
            assert policies.arns(action) or one["Resource"] == "*", (one["Sid"], action)


@pytest.mark.parametrize("folder", ["account", "teardown"])
def test_what_the_commands_ask_and_remove_is_allowed(folder: str) -> None:
    """A name that several of the services have counts for each of them."""
    text = "".join(path.read_text(encoding="utf-8") for path in (operations.ROOT / "slipway" / folder).glob("*.py"))
    services = {*re.findall(r'"([a-z0-9-]+)"', text)} & {*botocore.session.get_session().get_available_services()}
    named = set(re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", text))
    needed = {
        operations.action(one, name) for one in services for name in named & set(operations.known_operations(one))
    }
    assert len(needed) > 20
    assert sorted(action for action in needed if not allowed(action)) == []


@pytest.mark.parametrize("type_token", operations.NOT_SENT)
def test_operations_that_are_left_out_are_not_sent(type_token: str) -> None:
    """`**` would be an input of the name None."""
    inputs = {xform_name(name) for _, name in operations.NOT_SENT[type_token]} | {"None"}
    assert inputs.isdisjoint(operations.constructed()[type_token])


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
    for one in rendered():
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
