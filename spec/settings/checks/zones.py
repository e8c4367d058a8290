"""Checks of pools against the zones that offer their instance types."""

from __future__ import annotations

from collections.abc import Iterator

from spec.catalog import instances, regions
from spec.settings.checks.base import Context
from spec.settings.checks.network import elsewhere
from spec.settings.environment import Account
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import Problem
from spec.settings.zones import offering, offering_ids


def types_in_zones(context: Context, pools: dict[str, Pool], network: Network, account: Account) -> Iterator[Problem]:
    """A pool has zones that offer its types: all of them for a managed node group, any for Karpenter."""
    if elsewhere(network, account):
        return  # another check asks for the region
    for name, pool in pools.items():
        ids = offering_ids(pool, account.region)
        if ids is None or not _in_region(pool, account.region):
            continue
        if not account.zone_ids:
            yield from _too_many(name, pool, network, account, len(ids))
            continue
        if not set(network.zones) <= set(account.zone_ids):
            continue  # another check asks for the missing ones
        named = [zone for zone in pool.zones if zone in account.zone_ids]
        outside = [zone for zone in named if zone not in offering(pool, named, account)]
        if outside and (pool.provisioner is Provisioner.MANAGED or outside == named):
            rule = f"the zone must offer {_types(pool)}, and {account.zone_ids[outside[0]]} does not"
            yield Problem(f"pools.{name}.zones", rule, outside[0], _where(ids))
        elif not pool.zones and not offering(pool, network.zones, account):
            rule = f"a zone of the network must offer {_types(pool)}"
            given = [account.zone_ids.get(zone, zone) for zone in network.zones]
            yield Problem(f"pools.{name}.instanceTypes", rule, given, _where(ids))


def _in_region(pool: Pool, region: str) -> bool:
    """Whether the region offers every type; otherwise another check reports it."""
    kinds = [kind for name in pool.instance_types if (kind := instances.find(name)) is not None]
    return all(kind.offered_in(region) for kind in kinds)


def _too_many(name: str, pool: Pool, network: Network, account: Account, offered: int) -> Iterator[Problem]:
    """Without zone IDs: more zones than offer the types, so that some don't, whichever they are."""
    zones = pool.zones or network.zones
    if pool.provisioner is Provisioner.MANAGED and len(zones) > offered:
        rule = (
            f"{account.region} offers {_types(pool)} in {offered} zone(s) only, and EKS refuses a node group in others"
        )
        fix = "Declare `account.zoneIds`, and the pool uses those; or name zones that offer the types."
        yield Problem(f"pools.{name}.zones", rule, list(zones), fix)


def _types(pool: Pool) -> str:
    joined = " and " if pool.provisioner is Provisioner.MANAGED else " or "
    return joined.join(pool.instance_types)


def _where(ids: frozenset[str]) -> str:
    if not ids:
        return "No zone offers all types: make a pool of each."
    return f"It is offered in {', '.join(sorted(ids))}: add such a zone to the network, or choose another type."


def zones_unknown(context: Context, pools: dict[str, Pool], network: Network, account: Account) -> Iterator[Problem]:
    """Types that not every zone offers, where the stack declares no zone IDs (a warning)."""
    if account.zone_ids or not regions.is_region(account.region):
        return
    possible = frozenset(regions.get(account.region).zone_ids) - regions.WITHOUT_EKS
    some = [
        name
        for name, pool in pools.items()
        if (ids := offering_ids(pool, account.region)) is not None and possible - ids
    ]
    if some:
        rule = f"not every zone of {account.region} offers the types of {', '.join(some)}, and which do is unknown"
        fix = "Declare the IDs that `aws ec2 describe-availability-zones` prints."
        yield Problem("account.zoneIds", rule, None, fix)
