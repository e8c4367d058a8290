"""Zones in which the instance types of a pool are offered: EC2 offers types by zone ID, a stack file names zones."""

from __future__ import annotations

from collections.abc import Iterable

from spec.catalog import instances
from spec.settings.environment import Account
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner


def offering_ids(pool: Pool, region: str) -> frozenset[str] | None:
    """IDs of the zones that a pool can use; None where the catalog knows nothing about the region.

    A managed node group uses zones that offer all its types, because EKS refuses a subnet whose zone lacks one
    (eksctl-io/eksctl#6461: InvalidRequestException, "not supported in your requested Availability Zone"). Karpenter
    uses a zone that offers any of them.
    """
    kinds = [kind for name in pool.instance_types if (kind := instances.find(name)) is not None]
    if region not in instances.OFFERING_REGIONS or not kinds:
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
