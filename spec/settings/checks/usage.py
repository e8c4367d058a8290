"""Checks of declared use: it names existing parts, within the sizes of the pools."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.addons import Addons
from spec.settings.checks.base import Context
from spec.settings.cost import Cost
from spec.settings.network import Nat, Network
from spec.settings.pools import Pool
from spec.settings.problems import Problem
from spec.settings.storage import Storage
from spec.settings.usage import PoolUse


def use_of_pools(context: Context, cost: Cost, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A pool's use is between its minimum and its maximum, on one of its types."""
    for name, use in cost.usage.pools.items():
        path = f"cost.usage.pools.{name}"
        if name not in context.named("pools"):
            fix = f"Name one of {', '.join(sorted(context.named('pools')))}, or remove the entry."
            yield Problem(path, "must be a pool of this stack", name, fix)
        elif name in pools:
            yield from _fits(path, use, pools[name])


def use_of_what_is_there(
    _context: Context, cost: Cost, network: Network, storage: Storage, addons: Addons
) -> Iterator[Problem]:
    """Use of a part that the stack does not have is an error: it would be priced."""
    usage = cost.usage
    shipped = addons.fluent_bit is not None and addons.fluent_bit.destination == "cloudwatch"
    absent = {
        "natGib": (usage.nat_gib, network.nat is Nat.NONE, "network.nat is `none`"),
        "endpointsGib": (usage.endpoints_gib, not network.endpoints, "network.endpoints is empty"),
        "flowLogsGib": (usage.flow_logs_gib, not network.flow_logs.enabled, "network.flowLogs is off"),
        "containerLogsGib": (usage.container_logs_gib, not shipped, "addons.fluentBit does not write to CloudWatch"),
        "efs": (usage.efs, storage.efs is None, "storage.efs is not set"),
    }
    for key, (given, missing, why) in absent.items():
        if given and missing:
            shown = given if isinstance(given, float) else "settings"
            yield Problem(f"cost.usage.{key}", f"must not be set while {why}", shown, "Remove it.")


def _fits(path: str, use: PoolUse, pool: Pool) -> Iterator[Problem]:
    if not pool.min <= use.nodes <= pool.max:
        rule = f"must be from the pool's min to its max, {pool.min} to {pool.max}"
        yield Problem(f"{path}.nodes", rule, use.nodes, "Change it, or the pool.")
    if use.instance_type is not None and use.instance_type not in pool.instance_types:
        fix = f"Use {', '.join(pool.instance_types)}."
        yield Problem(f"{path}.instanceType", "must be a type of the pool", use.instance_type, fix)
