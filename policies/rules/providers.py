"""Providers of the program: the account, the endpoints and the cluster that they work in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.evaluation.documents import listed, parsed
from policies.levels import Levels
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import AWS_PROVIDER, CLUSTER, KUBERNETES_PROVIDER
from policies.rule import Check, Context, ResourceRule, StackRule, Violation, violation

_AWS: Final = frozenset(
    {"allowedAccountIds", "defaultTags", "ignoreTags", "region", "skipCredentialsValidation", "skipRegionValidation"}
    | {"maxRetries", "retryMode", "version"}
)
"""Arguments that don't say where requests go, with whose credentials, or what the provider skips; the last two of the
line above are set by the SDK, with `false` and `true` (pulumi-aws 7.51.1)."""


def _argument(provider: Resource, _: Context) -> Iterator[Violation]:
    for key, node in provider.props.fields().items():
        value = parsed(node).raw if isinstance(node.raw, str) and node.raw[:1] in ("[", "{") else node.raw
        if key not in _AWS and node.known and value not in ([], {}, False, "false"):
            yield violation(node, "set")
    if provider["skipCredentialsValidation"].raw in (True, "true"):
        yield violation(provider["skipCredentialsValidation"])


def _any_account(provider: Resource, _: Context) -> Iterator[Violation]:
    accounts = parsed(provider["allowedAccountIds"])
    if accounts.missing or (accounts.known and not listed(accounts)):
        yield violation(provider["allowedAccountIds"])


PROVIDER_PLAIN = ResourceRule(
    name="provider-plain",
    title="The AWS provider works in a named account, with AWS's endpoints and the deployment's own identity",
    types=(AWS_PROVIDER,),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="An endpoint gets the requests and what is in them, a role assumed by the provider is in no review of the "
    "stack's resources, and without an account any credentials are used.",
    fix="Use the provider of infra/providers.py, and give the pipeline another role.",
    checks={
        "argument": Check(asks="must not be set", find=_argument),
        "account": Check(asks="must name the account", find=_any_account),
    },
    program_only=True,
)


def _other_cluster(stack: Stack, _: Context) -> Iterator[Violation]:
    """By the ARN that the provider declares: a preview knows it, but not the kubeconfig."""
    clusters = [cluster["name"] for cluster in stack.of(CLUSTER)]
    names = texts(clusters)
    for provider in stack.of(KUBERNETES_PROVIDER):
        identifier = provider["clusterIdentifier"]
        named = str(identifier.raw).rpartition(":cluster/")[2]
        if not (identifier.unknown or unknowns(clusters)) and named not in names:
            yield violation(identifier, at=provider)
        for key in _ELSEWHERE:
            if provider[key].known:
                yield violation(provider[key], at=provider)


_ELSEWHERE: Final = ("context", "cluster", "renderYamlToDirectory")
"""Arguments that choose another cluster of the kubeconfig, or none (pulumi-kubernetes 4.34, Provider)."""

PROVIDER_CLUSTER = StackRule(
    name="provider-of-the-cluster",
    title="The Kubernetes provider works in the stack's cluster",
    types=(KUBERNETES_PROVIDER,),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="With another kubeconfig or context, objects go to a cluster that this program does not describe.",
    fix="Take kubeconfig and cluster_identifier from the cluster's outputs (infra/providers.py).",
    checks={"cluster": Check(asks="must be of the stack's cluster", find=_other_cluster)},
)

RULES = (PROVIDER_PLAIN, PROVIDER_CLUSTER)
