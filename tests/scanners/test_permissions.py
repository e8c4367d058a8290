"""cloudsplaining finds nothing in the policies of the shipped stacks, and what it can't see is on a positive list.

It reports permissions without a resource, and leaves alone those on one of somebody else. So actions that take over,
expose or read are compared with `granted.yaml`, each on its resources: those that AWS calls management of permissions
(policy_sentry), and cloudsplaining's lists.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.render.recording import Recording
from spec import strict_yaml
from tests.support.stacks import NAMES, platform_of, recorded
from tools import scanners

_SCAN: Final = """
import json, sys
from cloudsplaining.scan.policy_document import PolicyDocument
from cloudsplaining.shared import constants
from policy_sentry.querying.actions import get_actions_with_access_level
lists = [get_actions_with_access_level("all", "Permissions management"), constants.ACTIONS_THAT_RETURN_CREDENTIALS,
         constants.READ_ONLY_DATA_EXFILTRATION_ACTIONS, *constants.PRIVILEGE_ESCALATION_METHODS.values()]
severe = {action.lower() for each in lists for action in each}
severe |= {"eks:" + action for action in ("associateaccesspolicy", "createaccessentry", "updateaccessentry")}
for name, document in json.load(sys.stdin).items():
    policy = PolicyDocument(document)
    found = {"escalates": policy.allows_privilege_escalation, "reads": policy.allows_data_exfiltration_actions,
             "manages": policy.permissions_management_without_constraints, "reveals": policy.credentials_exposure}
    grants = [[action, statement.resources] for statement in policy.statements if statement.effect_allow
              for action in statement.expanded_actions if action.lower() in severe]
    print(json.dumps([name, {key: value for key, value in found.items() if value}, grants]))
"""
GRANTED: Final[dict[str, list[str]]] = strict_yaml.beside(__file__, "granted")
RANDOM: Final = "[0-9a-f]{7}"
OF_DEPLOYER: Final = (
    "kms:PutKeyPolicy",
    "elasticfilesystem:PutFileSystemPolicy",
    "elasticfilesystem:DeleteFileSystemPolicy",
)
"""What it does to what it creates itself: a tag in the conditions, which cloudsplaining doesn't read, says so."""


def scan(documents: dict[str, Any]) -> list[tuple[str, dict[str, Any], list[tuple[str, list[str]]]]]:
    """By policy: findings of cloudsplaining, and severe actions with their resources. Skips without it."""
    python = scanners.find("python")
    if python is None:
        pytest.skip("cloudsplaining is not installed here: run `make scanners`")
    done = subprocess.run(
        [python, "-c", _SCAN], input=json.dumps(documents), capture_output=True, text=True, check=True
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def documents(recording: Recording) -> Iterator[tuple[str, Any]]:
    """The policies of roles."""
    for one in recording:
        inputs = one.inputs.plain
        inline = inputs.get("inlinePolicies", []) if one.type == "aws:iam/role:Role" else []
        mine = [inputs] if one.type in ("aws:iam/policy:Policy", "aws:iam/rolePolicy:RolePolicy") else inline
        for index, each in enumerate(mine):
            yield f"{one.name}/{index}", json.loads(each["policy"])


def unexpected(stack: str, action: str, resources: list[str]) -> list[str]:
    """Resources of an action that are not on the list."""
    platform = platform_of(stack)
    words = {
        "STACK": f"slipway-{stack}",
        "RANDOM": RANDOM,
        "REGION": platform.account.region,
        "ACCOUNT": str(platform.account.id),
    }
    allowed = [re.sub("|".join(words), lambda word: words[word[0]], text) for text in GRANTED.get(action, ())]
    return [one for one in resources if not any(re.fullmatch(pattern, one) for pattern in allowed)]


@pytest.mark.parametrize("stack", NAMES)
def test_policies_of_a_stack_allow_nothing_severe_that_is_not_listed(stack: str) -> None:
    found = scan(dict(documents(recorded(stack))))
    assert len(found) > 10
    assert {name: findings for name, findings, _ in found if findings} == {}
    left = {(name, action): unexpected(stack, action, on) for name, _, grants in found for action, on in grants}
    assert {key: on for key, on in left.items() if on} == {}, "tests/scanners/granted.yaml"


def test_nothing_is_listed_that_no_stack_grants() -> None:
    found = [grants for stack in NAMES for _, _, grants in scan(dict(documents(recorded(stack))))]
    assert {action for grants in found for action, _ in grants} == {*GRANTED}


def test_the_deployer_escalates_and_reads_nothing_beyond_what_it_makes() -> None:
    policies = Path(__file__).parents[2] / "deploy" / "iam"
    found = scan({path.name: json.loads(path.read_text()) for path in policies.glob("*.json")})
    assert {key for _, findings, _ in found for key in findings} <= {"manages"}
    assert {action for _, findings, _ in found for action in findings.get("manages", ())} == {*OF_DEPLOYER}


@pytest.mark.parametrize(("action", "resource"), [
    ("eks:AssociateAccessPolicy", "arn:aws:eks:us-east-1:444455556666:cluster/slipway-prod"),
    ("sts:AssumeRole", "arn:aws:iam::444455556666:role/admin"),
    ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:444455556666:secret:other"),
    ("s3:GetObject", "arn:aws:s3:::slipway-prod-storage-logs-1234567/*"),
    ("iam:PassRole", "arn:aws:iam::444455556666:role/slipway-prod-*"),
    ("kms:CreateGrant", "arn:aws:kms:us-east-1:111122223333:key/*"),
])  # fmt: skip
def test_what_cloudsplaining_does_not_see_is_on_no_list(action: str, resource: str) -> None:
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    ((_, findings, grants),) = scan({"it": {"Version": "2012-10-17", "Statement": [statement]}})
    assert (findings, [unexpected("prod", *grant) for grant in grants]) == ({}, [[resource]])
