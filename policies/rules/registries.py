"""ECR repositories: immutable tags, scanning, encryption, access and lifecycle."""

from collections.abc import Iterator

from pulumi_policy import Severity

from policies.checks.questions import each, has_companion, is_in, listed, true
from policies.evaluation.iam import statements
from policies.resources.resource import Resource
from policies.resources.tokens import PULL_THROUGH_CACHE, REPOSITORY, REPOSITORY_LIFECYCLE, REPOSITORY_POLICY
from policies.rule import Check, Context, Levels, StackRule, Violation, setting, violation
from spec.catalog.regions import CACHES


def _unkeyed(repository: Resource, _: Context) -> Iterator[Violation]:
    configurations = repository["encryptionConfigurations"]
    kinds = [entry["encryptionType"] for entry in configurations.items()]
    if not configurations.unknown and not any(kind.unknown or kind.raw in ("KMS", "KMS_DSSE") for kind in kinds):
        yield violation(configurations, at=repository)


def _public(policy: Resource, _: Context) -> Iterator[Violation]:
    for statement in statements(policy["policy"]):
        if statement.allows and any(who.raw == "*" for who in statement.principals("AWS")):
            yield violation(policy["policy"], "for the principal '*'", policy)


ECR_HARDENED = StackRule(
    name="ecr-hardened",
    types=(REPOSITORY, REPOSITORY_POLICY, REPOSITORY_LIFECYCLE, PULL_THROUGH_CACHE),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    settings={"upstreams": setting("registries that may be cached", [*CACHES.values()])},
    checks={
        "immutable": Check(
            "must be immutable",
            each(REPOSITORY, is_in("imageTagMutability", "IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION")),
            ("CKV_AWS_51", "AVD-AWS-0031"),
        ),
        "scanned": Check(
            "must be true",
            each(REPOSITORY, true("imageScanningConfiguration.scanOnPush")),
            ("CKV_AWS_163", "AVD-AWS-0030", "CIS-5.1.1"),
        ),
        "key": Check("must be of type KMS", each(REPOSITORY, _unkeyed), ("CKV_AWS_136", "AVD-AWS-0033")),
        "public": Check(
            "must name its principals", each(REPOSITORY_POLICY, _public), ("CKV_AWS_32", "AVD-AWS-0032", "CIS-5.1.2")
        ),
        "upstream": Check(
            "must be a listed registry", each(PULL_THROUGH_CACHE, listed("upstreamRegistryUrl", "upstreams"))
        ),
        "lifecycle": Check(
            "must have a lifecycle policy", has_companion(REPOSITORY_LIFECYCLE, "repository", REPOSITORY, "without one")
        ),
    },
)

RULES = (ECR_HARDENED,)
