"""Credentials in plain sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies import patterns
from policies.fixtures import FixtureResource, one
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import ANY, Check, Context, Problem, ResourceRule
from policies.tokens import CONFIG_MAP, LAUNCH_TEMPLATE, RELEASE, SECRET

KEEPERS: Final = frozenset({SECRET, "aws:secretsmanager/secretVersion:SecretVersion", "aws:ssm/parameter:Parameter"})
"""Types whose purpose is to hold a secret; user data has a rule of its own, which decodes it."""
_FAKE_KEY: Final = "AKIA" + "ABCDEFGH23456722"


def _credentials(resource: Resource, _: Context) -> Iterator[Problem]:
    if resource.type in KEEPERS:
        return
    for node in resource.props.walk():
        if isinstance(node.raw, str):
            for form in patterns.credentials(node.raw):
                yield Problem(path=node.path, got=f"a text of the form of a credential ({form})")


NO_PLAINTEXT = ResourceRule(
    name="no-plaintext-secrets",
    title="No property of any resource holds a credential",
    types=ANY,
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="ConfigMaps, Helm values, tags and descriptions are readable to all who may look at the resource.",
    fix="Keep it in Secrets Manager or a Kubernetes Secret, and revoke it, because it has been written down.",
    checks={
        "credential": Check(
            asks="must hold no credential",
            find=_credentials,
            external_ids=("CKV_AWS_41",),
            bad=(
                one({"data": {"config": f"aws_access_key_id={_FAKE_KEY}"}}, type=CONFIG_MAP),
                one(
                    {"values": {"env": [{"name": "AWS", "value": "aws_secret_access_key: " + "a1B/" * 10}]}},
                    type=RELEASE,
                ),
                one({"values": {"env": [{"name": "TOKEN", "value": "hf_" + "x" * 34}]}}, type=RELEASE),
                one({"values": {"token": "ghp_" + "x" * 36}}, type=RELEASE),
                one({"values": {"token": "nvapi-" + "x" * 40}}, type=RELEASE),
                one({"values": {"token": "sk-" + "x" * 40}}, type=RELEASE),
                one({"values": {"token": "xoxb-" + "1" * 12}}, type=RELEASE),
                one({"description": "-----BEGIN RSA PRIVATE KEY-----"}, type=LAUNCH_TEMPLATE),
            ),
        )
    },
    good=(
        one({"data": {"config": "region=us-east-1", "checksum": "sk-learn", "port": 8080}}, type=CONFIG_MAP),
        one({"arn": "arn:aws:iam::111122223333:role/AKIA", "risk-averse": "task-runner-" + "x" * 40}, type=RELEASE),
        {"it": FixtureResource(type=SECRET, props={"stringData": {"key": _FAKE_KEY}})},
    ),
)

RULES = (NO_PLAINTEXT,)
