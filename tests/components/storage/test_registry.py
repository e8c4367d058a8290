"""Image repositories and pull-through caches."""

from __future__ import annotations

import json
from typing import Any

import pulumi_aws as aws

from components.storage.registry import UPSTREAMS, expiry
from spec.settings.checks.storage import WITH_CREDENTIALS
from spec.settings.registry import Upstream
from tests.components.storage.support import record

IMAGES: dict[str, Any] = {
    "storage.registry": {"repositories": ["training", "serving"], "caches": {"k8s": {}, "quay": {}}, "cachedDays": 9}
}


def test_without_settings_there_is_nothing() -> None:
    assert not record().of(aws.ecr.Repository)


def test_tags_are_immutable_and_images_are_scanned_and_encrypted() -> None:
    recording = record(IMAGES)
    key = recording.one(aws.kms.Key).outputs["arn"]
    repositories = recording.of(aws.ecr.Repository)
    assert {resource.inputs["name"] for resource in repositories.values()} == {
        "slipway-test/training",
        "slipway-test/serving",
    }
    for repository in repositories.values():
        assert repository.inputs["imageTagMutability"] == "IMMUTABLE"
        assert repository.inputs["imageScanningConfiguration"] == {"scanOnPush": True}
        assert repository.inputs["encryptionConfigurations"] == [{"encryptionType": "KMS", "kmsKey": key}]
        assert repository.inputs["forceDelete"] is False


def test_every_repository_has_a_lifecycle() -> None:
    policies = record(IMAGES).of(aws.ecr.LifecyclePolicy)
    assert {resource.inputs["repository"] for resource in policies.values()} == {
        "slipway-test/training",
        "slipway-test/serving",
    }


def test_the_rule_for_any_image_is_the_last() -> None:
    rules = json.loads(expiry(untagged_days=3, keep=5))["rules"]
    assert [rule["selection"]["tagStatus"] for rule in rules] == ["untagged", "any"]
    assert [rule["rulePriority"] for rule in rules] == [1, 2]


def test_a_cache_has_the_clusters_prefix_and_depends_on_its_template() -> None:
    recording = record(IMAGES)
    rules = recording.of(aws.ecr.PullThroughCacheRule)
    assert {each.inputs["ecrRepositoryPrefix"]: each.inputs["upstreamRegistryUrl"] for each in rules.values()} == {
        "slipway-test/k8s": "registry.k8s.io",
        "slipway-test/quay": "quay.io",
    }
    for name, rule in rules.items():
        template = recording.of(aws.ecr.RepositoryCreationTemplate)[f"{name}-template"]
        assert template.inputs["prefix"] == rule.inputs["ecrRepositoryPrefix"]
        assert json.loads(template.inputs["lifecyclePolicy"])["rules"][0]["selection"]["countNumber"] == 9
        assert recording.waits(rule, template)


def test_every_upstream_has_a_url_and_those_with_credentials_are_known() -> None:
    assert set(UPSTREAMS) == set(Upstream) >= WITH_CREDENTIALS


def test_the_cache_prefix_fits_ecrs_30_characters() -> None:
    assert all(len(f"slipway-staging/{upstream}") <= 30 for upstream in Upstream)
