from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from components.addons.argo_workflows.addon import KEYS
from components.tenancy.workload_permissions import service_account_manifest, workload_document

BUCKETS = {purpose: f"arn:aws:s3:::slipway-{purpose}" for purpose in ("raw", "checkpoints", "models", "state")}
KEY = "arn:aws:kms:us-east-1:111122223333:key/00000000-0000-4000-8000-000000000000"


def statements(team: str = "vision", workflows_in: str | None = None) -> list[dict[str, Any]]:
    text = workload_document(team, BUCKETS, KEY, "s3.us-east-1.amazonaws.com", workflows_in=workflows_in)
    document: list[dict[str, Any]] = json.loads(text)["Statement"]
    return document


def allowed(action: str, resource: str, team: str = "vision", workflows_in: str | None = None) -> bool:
    return any(
        action in each["Action"] and any(fnmatchcase(resource, pattern) for pattern in each["Resource"])
        for each in statements(team, workflows_in)
    )


@pytest.mark.parametrize(
    ("action", "resource", "expected"),
    [
        ("s3:GetObject", f"{BUCKETS['raw']}/vision/images/1", True),
        ("s3:PutObject", f"{BUCKETS['raw']}/vision/images/1", False),
        ("s3:PutObject", f"{BUCKETS['checkpoints']}/vision/run/1", True),
        ("s3:DeleteObject", f"{BUCKETS['models']}/vision/m", True),
        ("s3:GetObject", f"{BUCKETS['models']}/language/m", False),
        ("s3:GetObject", f"{BUCKETS['models']}/vision2/m", False),
        ("s3:GetObject", BUCKETS["models"], False),
        ("s3:DeleteBucket", BUCKETS["models"], False),
    ],
)
def test_pods_of_a_team_have_access_only_to_its_prefix(action: str, resource: str, expected: bool) -> None:
    assert allowed(action, resource) is expected


def test_listing_is_limited_to_the_prefix() -> None:
    (listing,) = [each for each in statements() if "s3:ListBucket" in each["Action"]]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["vision/", "vision/*"]}}
    assert sorted(listing["Resource"]) == sorted(arn for name, arn in BUCKETS.items() if name != "state")


@pytest.mark.parametrize(
    ("resource", "workflows_in", "expected"),
    [
        ("argo/vision-train/run/step/main.log", "vision-train", True),
        ("argo/vision-train/run/step/main.log", None, False),
        ("argo/vision-serve/run/step/main.log", "vision-train", False),
        ("argo/vision-train2/run/step/main.log", "vision-train", False),
        ("federated/costs", "vision-train", False),
        ("vision/x", "vision-train", False),
    ],
)
@pytest.mark.parametrize("action", ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"])
def test_steps_write_the_artifacts_of_their_own_namespace(
    action: str, resource: str, workflows_in: str | None, expected: bool
) -> None:
    assert allowed(action, f"{BUCKETS['state']}/{resource}", workflows_in=workflows_in) is expected


def test_argo_writes_artifacts_to_an_allowed_prefix() -> None:
    key = KEYS.replace("{{workflow.namespace}}", "vision-train")
    assert allowed("s3:PutObject", f"{BUCKETS['state']}/{key}", workflows_in="vision-train")


def test_steps_can_list_only_their_own_artifacts() -> None:
    (listing,) = [each for each in statements(workflows_in="vision-train") if each["Sid"] == "ListArtifacts"]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["argo/vision-train/*"]}}
    assert listing["Resource"] == [BUCKETS["state"]]


def test_the_key_can_only_be_used_through_s3() -> None:
    (key,) = [each for each in statements() if any(action.startswith("kms:") for action in each["Action"])]
    assert key["Resource"] == [KEY]
    assert key["Condition"] == {"StringEquals": {"kms:ViaService": ["s3.us-east-1.amazonaws.com"]}}
    assert key["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]


def test_the_service_account_mounts_no_api_token() -> None:
    assert service_account_manifest("vision")["automountServiceAccountToken"] is False
