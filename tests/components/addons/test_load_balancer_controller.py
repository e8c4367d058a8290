"""Values of the load balancer controller."""

import fnmatch
import json
from pathlib import Path
from typing import Any

import pytest

from components.addons.load_balancer_controller import TAG, policy

LEFT_OUT = {
    "cognito-idp:*", "shield:*", "waf-regional:*", "iam:*ServerCertificate*", "ec2:*Coip*", "ec2:DescribeIpamPools",
    "elasticloadbalancing:*CapacityReservation", "elasticloadbalancing:ModifyIpPools",
}  # fmt: skip
"""Features of the controller that the platform doesn't use; the module's docstring lists them."""


def statements(*, web_acl: bool = True) -> dict[str, dict[str, Any]]:
    text = policy(cluster="ml", partition="aws", region="us-east-1", account_id="111122223333", web_acl=web_acl)
    return {each["Sid"]: each for each in json.loads(text)["Statement"]}


def changes(statement: dict[str, Any]) -> list[str]:
    reads = ("Describe", "Get", "List")
    return [action for action in statement["Action"] if not action.partition(":")[2].startswith(reads)]


def test_it_changes_only_resources_with_the_clusters_tag() -> None:
    keys = {f"aws:ResourceTag/{TAG}", f"aws:RequestTag/{TAG}"}
    own = "aws:ResourceTag/kubernetes.io/cluster/ml"
    free = {"MakeServiceLinkedRole", "MakeSecurityGroupsInVpc", "AttachWebAcls"}
    for sid, statement in statements().items():
        if changes(statement) and sid not in free:
            condition = statement["Condition"]["StringEquals"]
            bound = {key: value for key, value in condition.items() if key in keys}
            assert bound == {key: ["ml"] for key in bound}, sid
            assert bound or condition == {own: ["owned"]}, sid


def test_actions_on_all_resources_only_read() -> None:
    for sid, statement in statements(web_acl=False).items():
        if "*" in statement["Resource"]:
            assert changes(statement) == [], sid


def test_it_stays_in_its_account_and_region() -> None:
    for statement in statements(web_acl=False).values():
        for arn in statement["Resource"]:
            assert arn == "*" or ":111122223333:" in arn


def test_the_owner_tag_cannot_be_changed() -> None:
    for sid in ("TagOwn", "TagOwnSecurityGroups"):
        assert statements()[sid]["Condition"]["Null"] == {f"aws:RequestTag/{TAG}": ["true"]}


def test_the_document_is_within_the_size_limit_of_inline_policies() -> None:
    text = policy(cluster="c" * 40, partition="aws-us-gov", region="us-gov-east-1", account_id="1" * 12, web_acl=True)
    assert len(text) < 10240, "inline policies of a role have 10,240 characters in all (IAM quotas)"


@pytest.fixture(scope="module")
def upstream(shared: Path) -> set[str]:
    document = json.loads((shared / "charts/aws-load-balancer-controller/iam_policy.json").read_text())
    return {
        action
        for each in document["Statement"]
        for action in (each["Action"] if isinstance(each["Action"], list) else [each["Action"]])
    }


def test_it_allows_upstreams_actions_except_the_excluded_ones(upstream: set[str]) -> None:
    ours = {action for each in statements().values() for action in each["Action"]}
    missing = {action for action in upstream - ours if not any(fnmatch.fnmatch(action, left) for left in LEFT_OUT)}
    assert missing == set()
    assert ours - upstream == set()
