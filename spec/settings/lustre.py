"""Zone of the Lustre file system: reads from another zone are billed as traffic between zones."""

from __future__ import annotations

from collections.abc import Mapping

from spec.settings.environment import Account
from spec.settings.network import Network
from spec.settings.pools import Pool, Role
from spec.settings.storage import Lustre
from spec.settings.zones import zones_of


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
