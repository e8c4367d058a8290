"""A cluster that exists as AWS describes it, held against what a stack needs of it; and the subnets of its nodes.

The program fills it from the provider's look-ups at each preview.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from spec.settings.cluster import AddonName, Cluster
from spec.settings.existing import KEYS, Existing, ExistingSubnets, ExistingVpc
from spec.settings.found import PATH as NETWORK
from spec.settings.found import Subnet
from spec.settings.problems import ConfigurationError, Problem

PATH: Final = "cluster.existing"
BY_ENTRIES: Final = ("API", "API_AND_CONFIG_MAP")
"""Authentication modes with access entries (EKS User Guide, "Change authentication mode to use access entries", read
2026-11)."""

Uses = Mapping[AddonName, str]
"""EKS add-ons that a stack uses and leaves to the cluster, each with its use (`Platform.uses`)."""


@dataclass(frozen=True, kw_only=True)
class FoundCluster:
    """A cluster."""

    name: str  # its name
    status: str  # `ACTIVE`, unless it is being made, updated or removed
    version: str  # Kubernetes minor version
    service_cidr: str  # range of its Services; empty for one of IPv6
    authentication: str  # its authentication mode
    auto: bool  # whether it is one of EKS Auto Mode, which has the Pod Identity Agent and drivers without add-ons
    addons: frozenset[str]  # EKS add-ons that it has, of those that were asked for
    vpc: str  # ID of its VPC
    subnets: tuple[str, ...]  # IDs of the subnets of its control plane


def problems(settings: Cluster, uses: Uses, found: FoundCluster) -> Iterator[Problem]:
    """Everything about a cluster that the stack can't use."""
    name = f"`aws eks describe-cluster --name {found.name}`"
    if found.status not in ("ACTIVE", "UPDATING"):
        yield Problem(f"{PATH}.name", "the cluster must be active", found.status, f"Wait; {name} shows its status.")
    if found.version != settings.version:
        rule = f"{found.name} runs Kubernetes {found.version}"
        yield Problem("cluster.version", rule, settings.version, f'Set it to "{found.version}".')
    if found.service_cidr != str(settings.service_ipv4_cidr):
        rule = f"Services of {found.name} have {found.service_cidr or 'addresses of IPv6'}"
        fix = f"Set it to {found.service_cidr}." if found.service_cidr else "Slipway needs a cluster of IPv4."
        yield Problem("cluster.serviceIpv4Cidr", rule, str(settings.service_ipv4_cidr), fix)
    if found.authentication not in BY_ENTRIES:
        rule = "nodes of Karpenter, members of teams and the deployer are admitted by access entries"
        fix = f"aws eks update-cluster-config --name {found.name} --access-config authenticationMode={BY_ENTRIES[1]}"
        yield Problem(f"{PATH}.name", rule, f"authentication mode {found.authentication}", f"Run `{fix}`.")
    if AddonName.POD_IDENTITY_AGENT in missing(uses, found):
        rule = f"roles of pods need the add-on {AddonName.POD_IDENTITY_AGENT}, and {found.name} lacks it"
        yield Problem("cluster.addons", rule, None, f"Add `{AddonName.POD_IDENTITY_AGENT}: {{}}`.")


def warnings(uses: Uses, found: FoundCluster) -> Iterator[Problem]:
    """EKS add-ons that the cluster lacks: their owner may have installed the same with Helm."""
    for name, use in missing(uses, found).items():
        if name != AddonName.POD_IDENTITY_AGENT:
            fix = f"Add `{name}: {{}}`, unless the cluster has the same without the add-on."
            yield Problem("cluster.addons", f"{use} need it, and {found.name} lacks the add-on", str(name), fix)


def missing(uses: Uses, found: FoundCluster) -> Uses:
    """Those that the stack uses and that are not there."""
    return {name: use for name, use in uses.items() if name not in found.addons and not found.auto}


def nodes_in(existing: Existing, vpc: str, subnets: Mapping[str, str]) -> Existing:
    """The network of a stack on a cluster: what the settings leave out are the cluster's VPC, and one of its subnets in
    each zone."""
    named = existing.private_subnets.ids or existing.private_subnets.tags
    return existing.model_copy(
        update={
            "vpc": existing.vpc if existing.vpc.id or existing.vpc.tags else ExistingVpc(id=vpc),
            "private_subnets": existing.private_subnets if named else ExistingSubnets(ids=dict(subnets)),
        }
    )


def private_in(zones: Iterable[str], subnets: Iterable[Subnet]) -> dict[str, str]:
    """Of the subnets of a cluster the one in each zone that has no route to an internet gateway.

    Raises:
        ConfigurationError: For a zone with none or several.
    """
    private = [one for one in subnets if not one.default_route.startswith("igw-")]
    by_zone = {zone: [one.id for one in private if one.zone == zone] for zone in sorted(zones)}
    fix = "Name one subnet for each zone in its `ids`, or other zones in network.zones."
    wrong = [
        Problem(
            f"{NETWORK}.{KEYS['private']}", f"one private subnet of the cluster must be in {zone}", ids or None, fix
        )
        for zone, ids in by_zone.items()
        if len(ids) != 1
    ]
    if wrong:
        raise ConfigurationError(wrong, "existing cluster")
    return {zone: ids[0] for zone, ids in by_zone.items()}
