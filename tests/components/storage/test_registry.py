"""Image repositories and pull-through caches."""

import json
from fnmatch import fnmatchcase
from typing import Any, Final

import pulumi_aws as aws

from components.addons.fluent_bit import to_groups
from components.storage.registry import UPSTREAMS, expiry
from spec.settings.checks.storage import WITH_CREDENTIALS
from spec.settings.storage import Upstream
from tests.components.storage.support import record, statements
from tests.support.mocks import providers, run
from tests.support.outputs import cluster_outputs

IMAGES: dict[str, Any] = {
    "storage.registry": {"repositories": ["training", "serving"], "caches": {"k8s": {}, "quay": {}}, "cachedDays": 9}
}


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


TEAMS: Final = {
    "nlp": {"project": "llm", "costCenter": "research", "cpus": {"cpu": {"nominalQuota": 4}}},
    "ads": {
        "project": "ads",
        "costCenter": "research",
        "namespaces": {"train": {"share": 50}, "serve": {"share": 50}},
        "cpus": {"cpu": {"nominalQuota": 4}},
    },
}


def groups(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = record({"teams": TEAMS, "addons.fluentBit": settings, "pools.cpu": {"preset": "cpu"}})
    return {
        str(each.inputs["name"]): dict(each.inputs)
        for each in found.of(aws.cloudwatch.LogGroup).values()
        if "/containers/" in str(each.inputs["name"])
    }


def test_each_namespace_of_a_team_has_a_group_and_the_rest_has_one() -> None:
    made = groups({"retentionDays": 90})
    names = {name.rpartition("/")[2] for name in made}
    assert names == {"nlp", "ads-train", "ads-serve", "platform"}
    assert {each["retentionInDays"] for each in made.values()} == {90}
    assert all(each["kmsKeyId"] for each in made.values())


def test_nothing_is_declared_for_another_destination() -> None:
    assert groups({"destination": "s3"}) == {}


def test_the_key_and_the_writer_cover_the_groups() -> None:
    found = record({"teams": TEAMS, "addons.fluentBit": {}, "pools.cpu": {"preset": "cpu"}})
    policy = statements(next(iter(found.of(aws.kms.Key).values())).inputs["policy"])
    (context,) = policy["LogEncryption"]["Condition"]["ArnLike"].values()
    document = run(lambda: {"policy": to_groups(cluster_outputs(providers()[0]))}).returned["policy"]
    written = json.loads(document)["Statement"][0]["Resource"]
    for name in groups({}):
        group = f"arn:aws:logs:us-east-1:111122223333:log-group:{name}"
        assert any(fnmatchcase(group, pattern) for pattern in context)
        assert any(fnmatchcase(f"{group}:log-stream:pod.main", pattern) for pattern in written)
