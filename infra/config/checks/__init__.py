"""All checks across the parts of a stack's settings, in the order in which a reader would ask."""

from typing import Final

from infra.config.checks import addons, cluster, environment, gpus, machines, names, network, pools, storage
from infra.config.checks.base import Check, Context, run

CHECKS: Final = (
    Check(environment.stack_matches, ("environment",)),
    Check(environment.region_known, ("account",)),
    Check(environment.tags_allowed, ("environment",)),
    Check(environment.no_secrets),
    Check(network.ranges_allowed, ("network", "cluster")),
    Check(network.ranges_apart, ("network", "cluster")),
    Check(network.zones_of_region, ("network", "account")),
    Check(network.way_out, ("network",)),
    Check(network.room_for_pods, ("network", "pools")),
    Check(cluster.version_supported, ("cluster",)),
    Check(cluster.version_ageing, ("cluster",), warns=True),
    Check(cluster.endpoint_closed, ("cluster",)),
    Check(cluster.access_entries, ("cluster",)),
    Check(cluster.deployer_admitted, ("cluster",), warns=True),
    Check(cluster.addons_needed, ("cluster",)),
    Check(pools.bounds, ("pools",)),
    Check(pools.settings_in_use, ("pools",)),
    Check(pools.system_pool, ("pools",)),
    Check(pools.zones_of_network, ("pools", "network")),
    Check(pools.versions, ("pools", "cluster")),
    Check(pools.budgets, ("pools",)),
    Check(machines.types_exist, ("pools",)),
    Check(machines.types_offered, ("pools", "account")),
    Check(machines.types_unverified, ("pools", "account"), warns=True),
    Check(machines.types_alike, ("pools",)),
    Check(machines.markets, ("pools",)),
    Check(machines.reservations, ("pools",)),
    Check(machines.efa, ("pools",)),
    Check(machines.managed_types, ("pools",)),
    Check(machines.local_nvme, ("pools",)),
    Check(gpus.mig_fits, ("pools",)),
    Check(gpus.sharing_fits, ("pools",)),
    Check(names.lengths, ("pools",)),
    Check(names.keys_of_managed_pools, ("pools",)),
    Check(names.labels_and_taints, ("pools",)),
    Check(storage.lustre_size, ("storage",)),
    Check(storage.lustre_throughput, ("storage",)),
    Check(storage.lustre_zone, ("storage", "network")),
    Check(storage.lustre_far, ("storage", "network", "pools"), warns=True),
    Check(storage.drivers_installed, ("storage", "cluster")),
    Check(storage.safe_where_protected, ("storage", "environment")),
    Check(addons.relations, ("addons",)),
)

__all__ = ["CHECKS", "Check", "Context", "run"]
