"""Zones in which the instance types of a pool are offered, and the addresses that pools need there. EC2 offers types by
zone ID, a stack file names zones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from spec.catalog import instances
from spec.naming import zone_letter
from spec.settings.environment import Account
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.storage import Lustre
from spec.subnets import addresses_per_node

UPGRADE_ADDRESSES: Final = 5
"""Free addresses that a control plane upgrade may need in each subnet (EKS User Guide, "Update existing cluster")."""


def offering_ids(pool: Pool, region: str) -> frozenset[str] | None:
    """IDs of the zones that a pool can use; None where the catalog knows nothing about the region, or
    about one of its types.

    A managed node group uses zones that offer all its types, because EKS refuses a subnet whose zone lacks one
    (eksctl-io/eksctl#6461: InvalidRequestException, "not supported in your requested Availability Zone"). Karpenter
    uses a zone that offers any of them.
    """
    kinds = [kind for name in pool.instance_types if (kind := instances.find(name)) is not None]
    if not kinds or any(kind.offered_in(region) is None for kind in kinds):
        return None
    ids: list[frozenset[str]] = [frozenset(kind.zone_ids.get(region, ())) for kind in kinds]
    return frozenset.intersection(*ids) if pool.provisioner is Provisioner.MANAGED else frozenset[str]().union(*ids)


def offering(pool: Pool, zones: Iterable[str], account: Account) -> tuple[str, ...]:
    """Those of the zones that a pool can use; all where the stack declares no zone IDs."""
    ids = offering_ids(pool, account.region)
    if ids is None or not account.zone_ids:
        return tuple(zones)
    return tuple(zone for zone in zones if account.zone_ids.get(zone) in ids)


def zones_of(pool: Pool, network: Network, account: Account) -> tuple[str, ...]:
    """Zones of a pool: those that it names, else those of the network that it can use."""
    return pool.zones or offering(pool, network.zones, account)


@dataclass(frozen=True, kw_only=True)
class Place:
    """What pools take from the cluster and the network that they are in."""

    zones: Sequence[str]  # zones of the subnets of nodes
    version: str  # Kubernetes minor version of the control plane
    ami_release: str | None = None  # release of the AMIs of its nodes; None for the latest
    account: Account | None = None
    """Region and zone IDs, by which a pool uses only zones that offer its types; all of them where None."""

    def zones_of(self, pool: Pool) -> tuple[str, ...]:
        """Zones of a pool: those that it names, else those that it can use."""
        return pool.zones or (offering(pool, self.zones, self.account) if self.account else tuple(self.zones))


def addresses_needed(letter: str, network: Network, pools: Mapping[str, Pool], account: Account) -> int:
    """Addresses of nodes and pods in a zone with all pools at their maximum, each pool spread over its zones."""
    needed = UPGRADE_ADDRESSES
    for pool in (each for one in pools.values() for each in (one, *one.fallbacks.values())):
        zones = [zone_letter(zone) for zone in zones_of(pool, network, account)]
        if letter in zones:
            needed += ceil(pool.max / len(zones)) * addresses_per_node(pool)
    return needed


def training_zones(network: Network, pools: Mapping[str, Pool], account: Account) -> dict[str, tuple[str, ...]]:
    """Zones of the training pools, by pool."""
    training = {name: pool for name, pool in pools.items() if pool.role is Role.TRAINING}
    return {name: zones_of(pool, network, account) for name, pool in training.items()}


def zone_of(lustre: Lustre, network: Network, pools: Mapping[str, Pool], account: Account) -> str:
    """Zone of the file system: the configured one, else the first that all training pools share, else the network's
    first."""
    if lustre.zone is not None:
        return lustre.zone
    zones = training_zones(network, pools, account).values()
    common = [zone for zone in network.zones if zones and all(zone in some for some in zones)]
    return (common or list(network.zones))[0]
