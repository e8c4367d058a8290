"""Checks of the control plane: supported versions, reach of the API, access entries, add-ons."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final

from spec.catalog import addons, kubernetes
from spec.naming import PROJECT
from spec.settings.checks.base import Context, of_ours, warns
from spec.settings.cluster import AccessPolicy, Addon, AddonName, Cluster
from spec.settings.network import Network
from spec.settings.problems import Problem

WIDEST_PUBLIC_PREFIX: Final = 8
"""An allow-list entry wider than /8 is a mistake in all but special cases."""
DEPLOYER_PREFIX: Final = "slipway-"
"""Beginning of the names that deploy/iam allows; a test compares it with the files."""
NODES_NEED: Final = (AddonName.VPC_CNI, AddonName.KUBE_PROXY, AddonName.COREDNS, AddonName.POD_IDENTITY_AGENT)


def version_supported(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """EKS supports the version."""
    support = kubernetes.support(cluster.version, context.today)
    if support in ("unknown", "ended"):
        offered = [v for v in kubernetes.VERSIONS if kubernetes.support(v, context.today) in ("standard", "extended")]
        rule = "EKS must support the version" if support == "ended" else "the catalog must know the EKS version"
        catalog = "spec/catalog/data/kubernetes.yaml"
        fix = f"Use {', '.join(sorted(offered))}." if offered else f"Add the versions that EKS supports to {catalog}."
        yield Problem("cluster.version", rule, cluster.version, fix)


@warns
def version_ageing(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Standard support has ended, or ends soon (a warning)."""
    version = kubernetes.VERSIONS.get(cluster.version)
    if version is None or kubernetes.support(cluster.version, context.today) == "ended":
        return
    days = (version.standard_until - context.today).days
    if days < 0:
        cost = "EKS bills extended support" if cluster.support_type == "extended" else "EKS upgrades the cluster itself"
        rule = f"standard support ended on {version.standard_until}, and {cost}"
        yield Problem(
            "cluster.version", rule, cluster.version, f"Plan the upgrade to {kubernetes.next_minor(cluster.version)}."
        )
    elif days <= kubernetes.WARN_DAYS:
        rule = f"standard support ends on {version.standard_until}, in {days} days"
        yield Problem(
            "cluster.version", rule, cluster.version, f"Plan the upgrade to {kubernetes.next_minor(cluster.version)}."
        )


def endpoint_closed(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """A public endpoint is for named networks only."""
    endpoint, path = cluster.endpoint, "cluster.endpoint.publicAccessCidrs"
    if endpoint.public_access and not endpoint.public_access_cidrs:
        yield Problem(
            path, "a public endpoint needs a list of networks", [], "List your networks, or set `publicAccess: false`."
        )
    if endpoint.public_access_cidrs and not endpoint.public_access:
        rule = "only a public endpoint has a list of networks"
        yield Problem(
            path,
            rule,
            [str(cidr) for cidr in endpoint.public_access_cidrs],
            "Set `publicAccess: true`, or remove the list.",
        )
    for position, cidr in enumerate(endpoint.public_access_cidrs):
        if cidr.prefixlen < WIDEST_PUBLIC_PREFIX or cidr == IPv4Network("0.0.0.0/0"):
            rule = f"the API must not be open to the internet: use /{WIDEST_PUBLIC_PREFIX} or narrower"
            yield Problem(f"{path}.{position}", rule, str(cidr), "List the networks of your offices and CI runners.")


@of_ours
def way_in(context: Context, cluster: Cluster, network: Network) -> Iterator[Problem]:
    """Someone outside the cluster reaches the API server; otherwise `up` stops at the first resource in the cluster."""
    endpoint = cluster.endpoint
    if not (endpoint.public_access or endpoint.private_access_cidrs or network.peers):
        rule = "a private endpoint needs a network that reaches it, the one from which Pulumi runs"
        fix = "Add it to `network.peers` if it is routed to this one, or to `privateAccessCidrs` if it is in the VPC."
        yield Problem("cluster.endpoint.privateAccessCidrs", rule, [], fix)
    for position, cidr in enumerate(endpoint.private_access_cidrs):
        if cidr.prefixlen < WIDEST_PUBLIC_PREFIX:
            rule = f"the API must not be open to every network: use /{WIDEST_PUBLIC_PREFIX} or narrower"
            path = f"cluster.endpoint.privateAccessCidrs.{position}"
            yield Problem(path, rule, str(cidr), "List the networks of your runners and administrators.")


def access_entries(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Access entries that EKS would refuse, or that would grant nothing."""
    seen: dict[str, str] = {}
    for name, access in cluster.access.items():
        path = f"cluster.access.{name}"
        if access.principal_arn in seen:
            rule = f"each principal has one entry, and {seen[access.principal_arn]} already has it"
            yield Problem(f"{path}.principalArn", rule, access.principal_arn, "Merge the two entries.")
        seen.setdefault(access.principal_arn, name)
        if access.policy is None and not access.kubernetes_groups:
            yield Problem(
                path, "an entry must grant access by policy or groups", None, "Add `policy:` or `kubernetesGroups:`."
            )
        if access.policy is AccessPolicy.CLUSTER_ADMIN and access.namespaces:
            rule = "the cluster administrator policy can't be scoped to namespaces"
            yield Problem(f"{path}.namespaces", rule, list(access.namespaces), f"Use {AccessPolicy.ADMIN}.")
        if access.namespaces and access.policy is None:
            yield Problem(
                f"{path}.namespaces",
                "namespaces need a policy that they scope",
                list(access.namespaces),
                "Add `policy:`.",
            )
        for position, group in enumerate(access.kubernetes_groups):
            # EKS User Guide, "Create access entries": group names can't start with system: (and three more prefixes).
            if group.startswith((f"{PROJECT}:", "system:", "eks:", "aws:", "amazon:", "iam:")):
                rule = f"EKS refuses groups with a system prefix, and those with {PROJECT}: are of teams' members"
                fix = "Use a group of your own; a member of a team is in `teams.X.members`."
                yield Problem(f"{path}.kubernetesGroups.{position}", rule, group, fix)


@warns
@of_ours
def deployer_admitted(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """The creator of the cluster gets no permissions in it: without an administrator, nothing can be deployed."""
    if not any(access.policy is AccessPolicy.CLUSTER_ADMIN for access in cluster.access.values()):
        rule = f"the identity that runs `pulumi up` needs an entry with {AccessPolicy.CLUSTER_ADMIN}, and none exists"
        fix = f"Add `deployer: {{principalArn: ..., policy: {AccessPolicy.CLUSTER_ADMIN}}}`."
        yield Problem("cluster.access", rule, sorted(cluster.access), fix)


@warns
def named_for_the_deployer(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """The deployer's IAM policies allow clusters whose names begin with the project's (a warning: they can differ)."""
    path, name = ("existing.", cluster.existing.name) if cluster.existing else ("", cluster.name)
    if name is not None and not name.startswith(DEPLOYER_PREFIX):
        rule = f"the deployer's policies in deploy/iam allow only clusters named {DEPLOYER_PREFIX}..."
        fix = f"Remove it, use {DEPLOYER_PREFIX}{name}, or change cluster.json where the policies are yours."
        if path:
            fix = "Name it in cluster.json, where the policies are yours."
        yield Problem(f"cluster.{path}name", rule, name, fix)


@of_ours
def addons_needed(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Add-ons without which no node becomes ready or no pod gets credentials."""
    for name in NODES_NEED:
        addon = cluster.addons.get(name)
        if addon and not addon.enabled:
            path = f"cluster.addons.{name}.enabled"
            yield Problem(path, "nodes and pods need this add-on", False, "Remove the line.")


@warns
def addons_unpinned(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Add-ons without a version known for the cluster's Kubernetes: EKS chooses one on the day (a warning)."""
    wanted = {name: cluster.addons.get(AddonName(name), Addon()) for name in addons.ADDONS}
    unknown = [
        f"{name} ({facts.minimum} or newer)" if facts.minimum else name
        for name, facts in addons.ADDONS.items()
        if wanted[name].enabled and not wanted[name].version and facts.version(cluster.version) is None
    ]
    if unknown:
        rule = f"no version of these is known for Kubernetes {cluster.version}, so EKS installs its default of the day"
        fix = "Set cluster.addons.NAME.version, as `slipway doctor --aws STACK` names it."
        yield Problem("cluster.addons", rule, unknown, fix)


def addons_recent(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Versions with the settings and tags that the platform's configuration and permissions need."""
    for name, addon in cluster.addons.items():
        facts = addons.get(name)
        if addon.version is not None and facts.too_old(addon.version):
            rule = f"the platform's configuration needs {facts.minimum} or newer"
            yield Problem(f"cluster.addons.{name}.version", rule, addon.version, "Use a newer version, or remove it.")
