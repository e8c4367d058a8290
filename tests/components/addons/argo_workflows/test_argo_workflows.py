"""Argo Workflows: artifacts without access keys."""

from __future__ import annotations

import json
from typing import Any

import pulumi_aws as aws

from components.addons.argo_workflows import ArgoWorkflows
from components.addons.argo_workflows.addon import reading_policy
from spec.settings.addons.batch import ArgoWorkflows as Settings
from tests.support.context import seen_parts


def values(**settings: int) -> dict[str, Any]:
    chart_values: dict[str, Any] = seen_parts(lambda: ArgoWorkflows(Settings(**settings))).values["argo-workflows"]
    return chart_values


def test_artifacts_go_to_the_state_bucket_with_pod_identity() -> None:
    chart_values = values()
    store = chart_values["artifactRepository"]["s3"]
    assert store["bucket"] == "slipway-test-state-0a1b2c3"
    assert store["useSDKCreds"] is True
    assert chart_values["useStaticCredentials"] is False
    assert "accessKeySecret" not in json.dumps(chart_values)


def test_each_namespace_has_its_own_prefix() -> None:
    assert values()["artifactRepository"]["s3"]["keyFormat"].startswith("argo/{{workflow.namespace}}/")


def test_the_server_can_only_read_artifacts() -> None:
    statements = json.loads(reading_policy("arn:aws:s3:::state", "arn:aws:kms:us-east-1:1:key/k"))["Statement"]
    actions = {action for each in statements for action in each["Action"]}
    assert actions == {"s3:ListBucket", "s3:GetObject", "kms:Decrypt"}
    assert {arn for each in statements for arn in each["Resource"]} == {
        "arn:aws:s3:::state",
        "arn:aws:s3:::state/argo/*",
        "arn:aws:kms:us-east-1:1:key/k",
    }


def test_the_role_is_for_the_service_account_of_the_server() -> None:
    seen = seen_parts(lambda: ArgoWorkflows(Settings()))
    association = seen.recording.one(aws.eks.PodIdentityAssociation).inputs
    assert (association["namespace"], association["serviceAccount"]) == ("argo", "argo-workflows-server")


def test_no_job_downloads_crds_from_the_internet() -> None:
    assert values()["crds"] == {"install": True, "keep": True, "full": False}


def test_steps_run_as_the_workload_service_account() -> None:
    spec = values(keepDays=2)["controller"]["workflowDefaults"]["spec"]
    assert spec["serviceAccountName"] == "workload"
    assert spec["ttlStrategy"] == {"secondsAfterCompletion": 172800}


def test_users_see_workflows_with_their_own_permissions() -> None:
    assert values()["server"]["authModes"] == ["client"]
