"""Cluster Autoscaler: permissions only on groups of its own cluster."""

import pulumi_aws as aws
from pulumi_kubernetes.helm.v3 import Release

from components.addons.cluster_autoscaler import policy, values
from components.pools.managed import group_tags
from tests.components.pools.samples import SYSTEM, record_fleet, spec
from tests.support.mocks import statements

STATEMENTS = statements(policy("ml", "aws", "us-east-1", "111122223333"))


def test_it_scales_only_groups_with_both_tags_of_its_cluster() -> None:
    statement = STATEMENTS["ScaleOwn"]
    assert statement["Action"] == ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:ResourceTag/k8s.io/cluster-autoscaler/enabled": ["true"],
            "aws:ResourceTag/k8s.io/cluster-autoscaler/ml": ["owned"],
        }
    }
    assert statement["Resource"] == ["arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:*"]


def test_groups_have_the_tags_that_the_policy_requires() -> None:
    tags = {f"aws:ResourceTag/{tag.key}": [tag.value] for tag in group_tags(spec(**SYSTEM), "ml")}
    required = STATEMENTS["ScaleOwn"]["Condition"]["StringEquals"]
    assert required.items() <= tags.items()


def test_actions_on_all_groups_only_read() -> None:
    actions = [action for s in STATEMENTS.values() if "*" in s["Resource"] for action in s["Action"]]
    assert actions
    assert all(action.partition(":")[2].startswith(("Describe", "Get")) for action in actions)


def test_its_image_matches_the_clusters_version() -> None:
    assert values(cluster="ml", region="us-east-1", version="1.34")["image"] == {"tag": "v1.34.2"}
    assert "image" not in values(cluster="ml", region="us-east-1", version="1.99")


def test_it_runs_on_the_system_pool_with_the_role_of_its_service_account() -> None:
    recording = record_fleet({})
    chart_values = values(cluster="ml", region="us-east-1", version="1.35")
    released = recording.of(Release)["cluster-autoscaler-release"].inputs["values"]
    assert released["nodeSelector"] == {"platform.slipway/role": "system"}
    association = recording.of(aws.eks.PodIdentityAssociation)["cluster-autoscaler-association"].inputs
    assert association["serviceAccount"] == chart_values["rbac"]["serviceAccount"]["name"]
    assert association["namespace"] == "kube-system"
