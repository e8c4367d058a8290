"""Log groups of containers: one for each namespace of a team and one for the rest, encrypted, with retention."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any, Final

import pulumi_aws as aws

from components.addons.fluent_bit.addon import to_groups
from tests.components.storage.support import record, statements
from tests.support.mocks import providers, run
from tests.support.outputs import cluster_outputs

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
