"""Checks of the control plane: supported versions, reach of the API, access entries, add-ons."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final

from spec.catalog import kubernetes
from spec.settings.checks.base import Context
from spec.settings.cluster import AccessPolicy, AddonName, Cluster
from spec.settings.problems import Problem

WIDEST_PUBLIC_PREFIX: Final = 8
"""An allow-list entry wider than /8 is a mistake in all but special cases."""
NODES_NEED: Final = (AddonName.VPC_CNI, AddonName.KUBE_PROXY, AddonName.COREDNS, AddonName.POD_IDENTITY_AGENT)


def version_supported(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """EKS still runs the version."""
    support = kubernetes.support(cluster.version, context.today)
    if support in ("unknown", "ended"):
        offered = [v for v in kubernetes.VERSIONS if kubernetes.support(v, context.today) in ("standard", "extended")]
        rule = (
            "EKS must support the version"
            if support == "ended"
            else "the version must be one of EKS that is known here"
        )
        catalog = "spec/catalog/data/kubernetes.yaml"
        fix = f"Use {', '.join(sorted(offered))}." if offered else f"Add the versions that EKS supports to {catalog}."
        yield Problem("cluster.version", rule, cluster.version, fix)


def version_ageing(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Standard support is over, or soon will be: say so while there is time."""
    version = kubernetes.VERSIONS.get(cluster.version)
    if version is None or kubernetes.support(cluster.version, context.today) == "ended":
        return
    days = (version.standard_until - context.today).days
    if days < 0:
        cost = (
            "EKS bills extended support" if cluster.support_type == "extended" else "EKS upgrades the cluster by itself"
        )
        rule = f"standard support ended on {version.standard_until}, and {cost}"
        yield Problem("cluster.version", rule, cluster.version, f"Plan {kubernetes.next_minor(cluster.version)}.")
    elif days <= kubernetes.WARN_DAYS:
        rule = f"standard support ends on {version.standard_until}, in {days} days"
        yield Problem("cluster.version", rule, cluster.version, f"Plan {kubernetes.next_minor(cluster.version)}.")


def endpoint_closed(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """A public endpoint is for named networks only."""
    endpoint, path = cluster.endpoint, "cluster.endpoint.publicAccessCidrs"
    if endpoint.public_access and not endpoint.public_access_cidrs:
        yield Problem(
            path, "a public endpoint needs a list of networks", [], "List your networks, or set public: false."
        )
    if endpoint.public_access_cidrs and not endpoint.public_access:
        rule = "a list of networks is for a public endpoint"
        yield Problem(
            path, rule, [str(cidr) for cidr in endpoint.public_access_cidrs], "Set public: true, or remove the list."
        )
    for position, cidr in enumerate(endpoint.public_access_cidrs):
        if cidr.prefixlen < WIDEST_PUBLIC_PREFIX or cidr == IPv4Network("0.0.0.0/0"):
            rule = f"the API must not be open to the world: /{WIDEST_PUBLIC_PREFIX} or narrower"
            yield Problem(f"{path}.{position}", rule, str(cidr), "List your offices' and runners' networks.")


def access_entries(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """What EKS would refuse in access entries, or what would grant nothing."""
    seen: dict[str, str] = {}
    for name, access in cluster.access.items():
        path = f"cluster.access.{name}"
        if access.principal_arn in seen:
            rule = f"each principal has one entry, and {seen[access.principal_arn]} has it"
            yield Problem(f"{path}.principalArn", rule, access.principal_arn, "Merge the two.")
        seen.setdefault(access.principal_arn, name)
        if access.policy is None and not access.kubernetes_groups:
            yield Problem(path, "an entry grants something by policy or groups", None, "Add `policy:` or `groups:`.")
        if access.policy is AccessPolicy.CLUSTER_ADMIN and access.namespaces:
            rule = "the cluster administrator's policy is not scoped to namespaces"
            yield Problem(f"{path}.namespaces", rule, list(access.namespaces), f"Use {AccessPolicy.ADMIN}.")
        if access.namespaces and access.policy is None:
            yield Problem(f"{path}.namespaces", "namespaces scope a policy", list(access.namespaces), "Add `policy:`.")
        for group in access.kubernetes_groups:
            # EKS User Guide, "Create access entries": group names can't start with system: (and three more prefixes).
            if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
                yield Problem(
                    f"{path}.groups", "EKS refuses groups with a system prefix", group, "Use a group of yours."
                )


def deployer_admitted(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Nobody gets rights by having created the cluster: without an administrator, nobody can put anything into it."""
    if not any(access.policy is AccessPolicy.CLUSTER_ADMIN for access in cluster.access.values()):
        rule = f"whoever runs `pulumi up` needs an entry with {AccessPolicy.CLUSTER_ADMIN}, and there is none"
        fix = f"Add `deployer: {{principalArn: ..., policy: {AccessPolicy.CLUSTER_ADMIN}}}`."
        yield Problem("cluster.access", rule, sorted(cluster.access), fix)


def addons_needed(context: Context, cluster: Cluster) -> Iterator[Problem]:
    """Add-ons without which no node becomes ready or no pod gets credentials."""
    for name in NODES_NEED:
        addon = cluster.addons.get(name)
        if addon and not addon.enabled:
            path = f"cluster.addons.{name}.enabled"
            yield Problem(path, "nodes and pods can't do without this add-on", False, "Remove the line.")
