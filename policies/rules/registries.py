"""ECR repositories: immutable tags, scanning, encryption, access and lifecycle."""

from collections.abc import Iterator

from policies.checks.questions import each, has_companion, is_in, listed, true
from policies.evaluation.iam import statements
from policies.resources.resource import Resource
from policies.resources.tokens import PULL_THROUGH_CACHE, REPOSITORY, REPOSITORY_LIFECYCLE, REPOSITORY_POLICY
from policies.rule import Context, StackRule, Violation, setting, violation
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
    settings={"upstreams": setting("registries that may be cached", [*CACHES.values()])},
    finds={
        "immutable": each(REPOSITORY, is_in("imageTagMutability", "IMMUTABLE", "IMMUTABLE_WITH_EXCLUSION")),
        "scanned": each(REPOSITORY, true("imageScanningConfiguration.scanOnPush")),
        "key": each(REPOSITORY, _unkeyed),
        "public": each(REPOSITORY_POLICY, _public),
        "upstream": each(PULL_THROUGH_CACHE, listed("upstreamRegistryUrl", "upstreams")),
        "lifecycle": has_companion(REPOSITORY_LIFECYCLE, "repository", REPOSITORY, "without one"),
    },
)
