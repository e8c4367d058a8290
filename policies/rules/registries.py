"""Image repositories (ECR): what was tested is what runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.documents import statements
from policies.fixtures import Fixture, FixtureResource, with_, without
from policies.levels import Levels
from policies.questions import each, has_companion, is_in, true
from policies.resource import Resource
from policies.rule import Check, Context, Problem, StackRule, problem
from policies.tokens import REPOSITORY, REPOSITORY_LIFECYCLE, REPOSITORY_POLICY


def _unkeyed(repository: Resource, _: Context) -> Iterator[Problem]:
    configurations = repository["encryptionConfigurations"]
    kinds = [entry["encryptionType"] for entry in configurations.items()]
    if not configurations.unknown and not any(kind.unknown or kind.raw in ("KMS", "KMS_DSSE") for kind in kinds):
        yield problem(configurations, at=repository)


def _public(policy: Resource, _: Context) -> Iterator[Problem]:
    for statement in statements(policy["policy"]):
        if statement.allows and any(who.raw == "*" for who in statement.principals("AWS")):
            yield problem(policy["policy"], "for the principal '*'", policy)


def _document(effect: str, principal: Any) -> str:
    return json.dumps({"Statement": [{"Effect": effect, "Principal": principal, "Action": "ecr:BatchGetImage"}]})


_ACCOUNT: Final = {"AWS": "arn:aws:iam::111122223333:root"}
_TAKES: Final = {"repository": ("images",)}
_HARDENED: Final[Fixture] = {
    "images": FixtureResource(
        type=REPOSITORY,
        props={
            "name": "training",
            "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True},
            "encryptionConfigurations": [{"encryptionType": "KMS"}],
        },
    ),
    "policy": FixtureResource(type=REPOSITORY_POLICY, props={"policy": _document("Allow", _ACCOUNT)}, takes=_TAKES),
    "lifecycle": FixtureResource(type=REPOSITORY_LIFECYCLE, props={"policy": "{}"}, takes=_TAKES),
}

ECR_HARDENED = StackRule(
    name="ecr-hardened",
    title="An image keeps its tag, is scanned, encrypted, not public, and goes when nobody needs it",
    types=(REPOSITORY, REPOSITORY_POLICY, REPOSITORY_LIFECYCLE),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="With a mutable tag, what passed staging is not what production pulls.",
    fix="Set imageTagMutability IMMUTABLE, scanOnPush, KMS encryption, and a lifecycle policy.",
    checks={
        "immutable": Check(
            asks="must be immutable",
            find=each(REPOSITORY, is_in("imageTagMutability", "IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION")),
            external_ids=("CKV_AWS_51", "AVD-AWS-0031"),
            bad=(
                with_(_HARDENED, "images", "imageTagMutability", "MUTABLE"),
                with_(_HARDENED, "images", "imageTagMutability"),
            ),
        ),
        "scanned": Check(
            asks="must be true",
            find=each(REPOSITORY, true("imageScanningConfiguration.scanOnPush")),
            external_ids=("CKV_AWS_163", "AVD-AWS-0030", "CIS-5.1.1"),
            bad=(
                with_(_HARDENED, "images", "imageScanningConfiguration.scanOnPush", False),
                with_(_HARDENED, "images", "imageScanningConfiguration"),
            ),
        ),
        "key": Check(
            asks="must be of type KMS",
            find=each(REPOSITORY, _unkeyed),
            external_ids=("CKV_AWS_136", "AVD-AWS-0033"),
            bad=(
                with_(_HARDENED, "images", "encryptionConfigurations"),
                with_(_HARDENED, "images", "encryptionConfigurations.0.encryptionType", "AES256"),
            ),
        ),
        "public": Check(
            asks="must name who may pull",
            find=each(REPOSITORY_POLICY, _public),
            external_ids=("CKV_AWS_32", "AVD-AWS-0032", "CIS-5.1.2"),
            bad=(with_(_HARDENED, "policy", "policy", _document("Allow", "*")),),
        ),
        "lifecycle": Check(
            asks="must have a lifecycle policy",
            find=has_companion(REPOSITORY_LIFECYCLE, "repository", REPOSITORY, "without one"),
            bad=(without(_HARDENED, "lifecycle"),),
        ),
    },
    good=(_HARDENED, with_(_HARDENED, "policy", "policy", _document("Deny", "*"))),
)

RULES = (ECR_HARDENED,)
