"""Credentials in plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation import patterns
from policies.levels import Levels
from policies.resources.resource import Resource
from policies.resources.tokens import AWS_PROVIDER, SECRET
from policies.rule import ANY, Check, Context, ResourceRule, Violation

SECRET_TYPES: Final = frozenset(
    {SECRET, "aws:secretsmanager/secretVersion:SecretVersion", "aws:ssm/parameter:Parameter"}
)
"""Types whose purpose is to hold a secret. User data has its own rule, which decodes it."""


_PROVIDER_KEYS: Final = ("accessKey", "secretKey", "token")


def _credentials(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in SECRET_TYPES:
        return
    if resource.type == AWS_PROVIDER:
        keys = (resource[key] for key in _PROVIDER_KEYS)
        yield from (Violation(path=node.path, got="a credential of the provider") for node in keys if node.known)
        return
    for node in resource.props.walk():
        if isinstance(node.raw, str):
            for form in patterns.credentials(node.raw):
                yield Violation(path=node.path, got=f"a text that looks like a credential ({form})")


NO_PLAINTEXT = ResourceRule(
    name="no-plaintext-secrets",
    title="No resource property contains a credential in plain text",
    types=ANY,
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="ConfigMaps, Helm values, tags and descriptions are readable by everyone who can read the resource.",
    fix="Store it in Secrets Manager or a Kubernetes Secret, and revoke the exposed one.",
    checks={
        "credential": Check(
            asks="must not contain a credential",
            find=_credentials,
            external_ids=("CKV_AWS_41",),
        )
    },
)

RULES = (NO_PLAINTEXT,)
