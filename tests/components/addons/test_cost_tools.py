"""OpenCost and Kubecost on a sample platform."""

from pathlib import Path
from typing import Any, Final

import pulumi_aws as aws
import pytest
import yaml

from components.addons.kubecost import ACCOUNTS, Kubecost, access, sanitized
from components.addons.opencost import Opencost
from components.base.iam import Statement
from components.storage.buckets import ARTIFACTS, COSTS
from sandbox.kubernetes.helm.binary import available, template
from sandbox.kubernetes.helm.text import documents
from spec.settings.addons import cost
from spec.settings.addons.observability import KubePrometheusStack
from tests.components.addons.charts import own_values, unknown_keys
from tests.support.context import Seen, seen_parts
from tests.support.mocks import statements

TEAMS: Final = {
    "nlp": {"project": "llm", "costCenter": "research", "budgetUsd": 100, "cpus": {"cpu": {"nominalQuota": 4}}},
    "ops": {"project": "all", "costCenter": "research", "cpus": {"cpu": {"nominalQuota": 4}}},
}


def opencost(**settings: Any) -> Seen:
    configured = cost.Opencost.model_validate(settings)
    return seen_parts(lambda: Opencost(configured), addons={"kubePrometheusStack": {}, "opencost": {}})


def kubecost(settings: dict[str, Any] | None = None, **parts: Any) -> Seen:
    configured = cost.Kubecost.model_validate(settings or {})
    return seen_parts(lambda: Kubecost(configured), **{"addons": {"kubecost": {}}, **parts})


def test_every_value_exists_in_the_charts(shared: Path) -> None:
    assert list(unknown_keys(opencost().values["opencost"], own_values(shared, "opencost"))) == []
    own = dict(kubecost(teams=TEAMS).values["kubecost"])
    agent = own.pop("finopsagent")
    assert list(unknown_keys(own, own_values(shared, "kubecost-v3"))) == []
    chart = yaml.safe_load((shared / "charts" / "kubecost-v3" / "Chart.yaml").read_text())
    assert {each["alias"] for each in chart["dependencies"]} == {"finopsagent"}
    assert set(agent) == {"nodeSelector", "tolerations", "resources", "serviceAccount", "agent"}


def test_the_two_exclude_each_other_and_opencost_needs_prometheus() -> None:
    assert cost.Kubecost.excludes == (cost.Opencost,)
    assert cost.Opencost.requires == (KubePrometheusStack,)


def test_the_agent_of_kubecost_mounts_no_secret_that_nobody_creates(shared: Path) -> None:
    helm = available()
    if helm is None:
        pytest.skip("helm is missing: run `python -m sandbox.toolchain ensure helm`")
    arguments = ["kubecost", str(shared / "charts-full" / "kubecost-v3")]
    objects = list(documents(template(helm, arguments, kubecost(teams=TEAMS).values["kubecost"]), "kubecost"))
    present = {obj["metadata"]["name"] for obj in objects if obj["kind"] == "Secret"}
    pods = [obj["spec"]["template"]["spec"] for obj in objects if obj["kind"] == "Deployment"]
    mounted = {volume["secret"]["secretName"] for pod in pods for volume in pod["volumes"] if "secret" in volume}
    assert mounted
    assert mounted <= present


def test_kubecost_stores_costs_in_the_bucket_with_pod_identity() -> None:
    result = kubecost()
    store = yaml.safe_load(result.values["kubecost"]["global"]["federatedStorage"]["config"])
    assert store == {"type": "S3", "prefix": "costs", "config": {"bucket": "slipway-test-state-0a1b2c3",
            "endpoint": "s3.us-east-1.amazonaws.com", "region": "us-east-1"}}  # fmt: skip
    associations = result.recording.of(aws.eks.PodIdentityAssociation).values()
    assert {each.inputs["serviceAccount"] for each in associations} == set(ACCOUNTS)
    for policy in result.recording.of(aws.iam.RolePolicy).values():
        actions = {action for each in statements(policy.inputs["policy"]).values() for action in each["Action"]}
        assert {"s3:GetObject", "s3:PutObject", "s3:ListBucket", "kms:GenerateDataKey"} <= actions
        assert not any("*" in action for action in actions)


def test_kubecost_has_access_only_to_its_prefix() -> None:
    arn = "arn:aws:s3:::state"
    key = Statement("DataKey", ["kms:Decrypt"], ["*"])
    by_sid = statements(access(arn, key))
    assert by_sid["Objects"]["Resource"] == [f"{arn}/costs/*"]
    assert by_sid["List"]["Condition"] == {"StringLike": {"s3:prefix": ["costs/*"]}}
    unbounded = [each["Action"] for each in by_sid.values() if arn in each["Resource"] and "Condition" not in each]
    assert unbounded == [["s3:GetBucketLocation"]]
    assert not COSTS.startswith(ARTIFACTS)
    assert not ARTIFACTS.startswith(COSTS)


def test_kubecost_runs_on_the_system_pool_with_limits() -> None:
    chart_values = kubecost().values["kubecost"]
    for part in ("aggregator", "frontend", "forecasting", "finopsagent"):
        assert chart_values[part]["resources"]["limits"]["memory"]
        assert chart_values[part]["nodeSelector"] == {"platform.slipway/role": "system"}


def test_team_budgets_become_kubecost_budgets_with_the_stacks_thresholds() -> None:
    result = kubecost(teams=TEAMS, notifications={"emails": ["ml@example.com"]}, cost={"thresholds": [80, 120]})
    (budget,) = result.values["kubecost"]["kubecostProductConfigs"]["budgets"]["budgetsConfig"]
    assert (budget["spendLimit"], budget["interval"]) == (100, "monthly")
    assert budget["values"] == {"label": ["platform_slipway_team:nlp"]}
    assert budget["actions"] == [
        {"percentage": 80, "emails": ["ml@example.com"]},
        {"percentage": 120, "emails": ["ml@example.com"]},
    ]


def test_names_of_labels_are_those_of_metrics() -> None:
    assert sanitized("a.b/c-d") == "a_b_c_d"
