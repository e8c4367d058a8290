"""Karpenter's IAM policy: everything it needs, only on its own cluster's instances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.addons.karpenter.policy import Scope, controller_policy

ROLE = "arn:aws:iam::111122223333:role/nodes"
QUEUE = "arn:aws:sqs:us-east-1:111122223333:queue"
SCOPE = Scope(
    cluster="ml",
    cluster_arn="arn:aws:eks:us-east-1:111122223333:cluster/ml",
    partition="aws",
    region="us-east-1",
    account_id="111122223333",
)
NOT_USED = {
    "arc-zonal-shift:GetManagedResource",
    "iam:AddRoleToInstanceProfile",
    "iam:CreateInstanceProfile",
    "iam:DeleteInstanceProfile",
    "iam:RemoveRoleFromInstanceProfile",
    "iam:TagInstanceProfile",
}
"""Actions of upstream's template that this platform doesn't use."""


@pytest.fixture(scope="module")
def statements() -> dict[str, Any]:
    body = json.loads(controller_policy(SCOPE, node_role_arn=ROLE, queue_arn=QUEUE))
    return {statement["Sid"]: statement for statement in body["Statement"]}


def test_the_policy_fits_in_a_role() -> None:
    # 10,240 characters without whitespace (IAM User Guide, "IAM and AWS STS quotas", inline policies of a role).
    assert len(controller_policy(SCOPE, node_role_arn=ROLE, queue_arn=QUEUE)) < 10_240


def test_it_can_pass_only_its_own_node_role_to_ec2(statements: dict[str, Any]) -> None:
    statement = statements["PassNodeRole"]
    assert statement["Resource"] == [ROLE]
    assert statement["Condition"]["StringEquals"]["iam:PassedToService"][0] == "ec2.amazonaws.com"


@pytest.mark.parametrize("sid", ["DeleteOwn", "NameOwnMachines", "LaunchFromOwnTemplates"])
def test_it_changes_only_resources_with_its_clusters_tag(statements: dict[str, Any], sid: str) -> None:
    condition = statements[sid]["Condition"]
    assert condition["StringEquals"] == {"aws:ResourceTag/kubernetes.io/cluster/ml": ["owned"]}
    assert condition["StringLike"] == {"aws:ResourceTag/karpenter.sh/nodepool": ["*"]}


@pytest.mark.parametrize("sid", ["LaunchTagged", "TagAtLaunch"])
def test_what_it_creates_is_tagged_at_creation(statements: dict[str, Any], sid: str) -> None:
    condition = statements[sid]["Condition"]
    assert condition["StringEquals"]["aws:RequestTag/kubernetes.io/cluster/ml"] == ["owned"]
    assert condition["StringEquals"]["aws:RequestTag/eks:eks-cluster-name"] == ["ml"]


def test_it_sets_any_tag_at_launch_and_later_only_the_name(statements: dict[str, Any]) -> None:
    assert statements["TagAtLaunch"]["Condition"]["StringEquals"]["ec2:CreateAction"] == [
        "CreateFleet",
        "CreateLaunchTemplate",
        "RunInstances",
    ]
    assert "ec2:CreateAction" not in statements["LaunchTagged"]["Condition"]["StringEquals"]
    assert statements["NameOwnMachines"]["Condition"]["ForAllValues:StringEquals"]["aws:TagKeys"] == [
        "Name",
        "eks:eks-cluster-name",
        "karpenter.sh/nodeclaim",
    ]


def test_actions_on_all_resources_only_read(statements: dict[str, Any]) -> None:
    open_to_all = [action for s in statements.values() if s["Resource"] == ["*"] for action in s["Action"]]
    assert all(action.partition(":")[2].startswith(("Describe", "Get", "List")) for action in open_to_all)


def test_another_partition_has_its_own_arns() -> None:
    china = Scope(
        cluster="ml", cluster_arn="arn:aws-cn:x", partition="aws-cn", region="cn-north-1", account_id="111122223333"
    )
    text = controller_policy(china, node_role_arn="arn:aws-cn:role", queue_arn="arn:aws-cn:queue")
    assert "arn:aws:" not in text


def upstream(shared: Path) -> dict[str, set[str]]:
    """Condition keys by action, in upstream's CloudFormation template."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("!", lambda loader, _, node: loader.construct_scalar(node))
    text = (shared / "charts/karpenter/controller-iam-cloudformation.yaml").read_text()
    resources = yaml.load(text, Loader=Loader)["Resources"]  # noqa: S506 - a SafeLoader
    keys_by_action: dict[str, set[str]] = {}
    for resource in resources.values():
        if resource["Type"] == "AWS::IAM::ManagedPolicy":
            document = resource["Properties"]["PolicyDocument"].replace("${ClusterName}", "ml")
            for statement in json.loads(document)["Statement"]:
                add(keys_by_action, statement)
    return keys_by_action


def add(keys_by_action: dict[str, set[str]], statement: dict[str, Any]) -> None:
    actions = statement["Action"]
    keys = {key for operator in statement.get("Condition", {}).values() for key in operator}
    for action in [actions] if isinstance(actions, str) else actions:
        keys_by_action.setdefault(action, set()).update(keys)


def test_actions_and_conditions_equal_upstreams_without_unused_ones(shared: Path, statements: dict[str, Any]) -> None:
    ours: dict[str, set[str]] = {}
    for statement in statements.values():
        add(ours, statement)
    assert ours == {action: keys for action, keys in upstream(shared).items() if action not in NOT_USED}
