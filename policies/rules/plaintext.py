"""Credentials in plain sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies import patterns
from policies.levels import Levels
from policies.resource import Resource
from policies.rule import ANY, Check, Context, ResourceRule, Violation
from policies.tokens import SECRET

KEEPERS: Final = frozenset({SECRET, "aws:secretsmanager/secretVersion:SecretVersion", "aws:ssm/parameter:Parameter"})
"""Types whose purpose is to hold a secret; user data has a rule of its own, which decodes it."""


def _credentials(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in KEEPERS:
        return
    for node in resource.props.walk():
        if isinstance(node.raw, str):
            for form in patterns.credentials(node.raw):
                yield Violation(path=node.path, got=f"a text of the form of a credential ({form})")


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
        )
    },
)

RULES = (NO_PLAINTEXT,)
