"""The program as a whole: reviewed resource types, resource options and providers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from policies.checks.sameness import HIDDEN, Comparison
from policies.evaluation.iam import listed, parsed
from policies.resources import tokens
from policies.resources.access import texts, unknowns
from policies.resources.resource import Resource, Stack
from policies.reviewed import REVIEWED
from policies.rule import ANY, Context, ResourceRule, StackRule, Violation, setting, violation
from spec.kubeconfig import document


def _unreviewed(resource: Resource, context: Context) -> Iterator[Violation]:
    if resource.type not in REVIEWED and resource.type not in context.settings["types"]:
        yield Violation(path="", got=f"a {resource.type}")


TYPE_REVIEWED = ResourceRule(
    name="resource-type-reviewed",
    types=ANY,
    settings={"types": setting("further types that the environment's stacks may declare", [])},
    finds={"type": _unreviewed},
    program_only=True,
)


def _other_kind(one: Resource, _: Context) -> Iterator[Violation]:
    """The provider creates what `apiVersion` and `kind` say, and the type only names the class of the program
    (pulumi-kubernetes v4.34.2, provider/pkg/provider/provider.go, Create)."""
    provider, _sep, rest = one.type.partition(":")
    version, _sep, kind = rest.rpartition(":")
    if provider != "kubernetes" or version.startswith("helm.sh/"):
        return
    for key, named in (("apiVersion", version.removeprefix("core/")), ("kind", kind)):
        node = one[key]
        if node.known and node.raw != named:
            yield violation(node, f"{node.shown} in a resource of type {one.type}")


KIND_OF_TYPE = ResourceRule(
    name="kubernetes-kind-of-type",
    types=ANY,
    finds={"kind": _other_kind},
    program_only=True,
)


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
    types=(tokens.AWS_PROVIDER,),
    finds={"argument": _argument, "account": _any_account},
    program_only=True,
)


def _other_cluster(stack: Stack, context: Context) -> Iterator[Violation]:
    """By the ARN that the provider declares, which a preview knows, and by the kubeconfig; of a cluster that exists
    `program-as-given` compares the kubeconfig."""
    clusters = [cluster["name"] for cluster in stack.of(tokens.CLUSTER)]
    names = [*texts(clusters), *(context.existing or ())[:1]]
    for provider in stack.of(tokens.KUBERNETES_PROVIDER):
        identifier = provider["clusterIdentifier"]
        named = str(identifier.raw).rpartition(":cluster/")[2]
        if not (identifier.unknown or unknowns(clusters)) and named not in names:
            yield violation(identifier, at=provider)
        for key, node in provider.props.fields().items():
            if key not in _OF_CLUSTER and node.known and node.raw not in ([], {}, False, "", "false"):
                yield violation(node, at=provider)
        for cluster in stack.of(tokens.CLUSTER):
            if cluster["name"].raw == named:
                yield from _other_kubeconfig(provider, cluster, region=str(identifier.raw).split(":")[3])


def _other_kubeconfig(provider: Resource, cluster: Resource, region: str) -> Iterator[Violation]:
    """Where a kubeconfig is another than the platform's: it can run commands, and choose a server and a proxy."""
    text, outputs = provider["kubeconfig"], (cluster["endpoint"], cluster["certificateAuthority"]["data"])
    server, authority = (HIDDEN if one.unknown else one.raw for one in outputs)
    given = document(str(cluster["name"].raw), region, server, authority)
    for other in Comparison().maps(given, parsed(text)) if not text.missing else (violation(text),):
        yield replace(other, at=provider)


_OF_CLUSTER: Final = (
    "clusterIdentifier", "enableConfigMapMutable", "enablePatchForce", "enableServerSideApply", "kubeconfig", "version",
)  # fmt: skip
"""Arguments that neither choose another cluster of the kubeconfig, or none, nor a namespace for objects that name none
(pulumi-kubernetes 4.34, Provider)."""

PROVIDER_CLUSTER = StackRule(
    name="provider-of-the-cluster",
    types=(tokens.KUBERNETES_PROVIDER,),
    finds={"cluster": _other_cluster},
)
