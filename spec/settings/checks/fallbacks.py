"""Checks of what a pool tries when EC2 has none of its capacity, and of its idle nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from spec.settings.checks import machines
from spec.settings.checks.base import Context
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import Problem

_OWN: Final = re.compile(r"(\.fallbacks\.\d+)\.capacity\.")
"""Part of a path in a pool that a fallback does not have."""


def usable(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Fallbacks and idle nodes are Karpenter's, and a fallback's name is not that of a pool or of another one."""
    for name, pool in pools.items():
        managed = pool.provisioner is Provisioner.MANAGED
        path = f"pools.{name}.capacity.fallbacks"
        if managed and pool.capacity.fallbacks:
            fix = "Use `provisioner: karpenter`, or make a pool of each and let queues try them (`queues.poolOrder`)."
            yield Problem(path, "a managed pool has one kind of capacity", [*pool.fallbacks], fix)
        if managed and pool.capacity_buffer:
            fix = "Raise min, or use `provisioner: karpenter`."
            yield Problem(
                f"pools.{name}.capacityBuffer", "only Karpenter keeps idle nodes ready", pool.capacity_buffer, fix
            )
        if pool.efa and pool.capacity.fallbacks:
            rule = "nodes of an EFA pool are in one place, which another capacity is not"
            yield Problem(path, rule, [*pool.fallbacks], "Make a pool of each, and name them in queues.poolOrder.")
        if pool.capacity_buffer > pool.max:
            rule = f"idle nodes count towards max ({pool.max})"
            yield Problem(f"pools.{name}.capacityBuffer", rule, pool.capacity_buffer, "Use less, or raise max.")
        names = [one.name for one in pool.capacity.fallbacks]
        for position, given in enumerate(names):
            if given in names[:position] or f"{name}-{given}" in context.named("pools"):
                rule = f"the NodePool {name}-{given} would exist twice"
                yield Problem(f"{path}.{position}.name", rule, given, "Use another name.")


def machines_fit(context: Context, pools: dict[str, Pool], network: Network) -> Iterator[Problem]:
    """A fallback's types, zones and market follow the rules of a pool's, and its types have the pool's GPUs."""
    for name, pool in pools.items():
        for position, (given, one) in enumerate(zip(pool.capacity.fallbacks, pool.fallbacks.values(), strict=False)):
            path = f"{name}.capacity.fallbacks.{position}"
            problems = list(machines.markets(context, {path: one}))
            if given.instance_types:
                both = one.model_copy(update={"instance_types": (*pool.instance_types, *given.instance_types)})
                problems += [*machines.types_exist(context, {path: one}), *machines.types_alike(context, {path: both})]
            yield from (replace(problem, path=_OWN.sub(r"\1.", problem.path)) for problem in problems)
            for zone in given.zones:
                if zone not in network.zones:
                    rule, fix = "the zone must be one of the network's", f"Use {', '.join(network.zones)}."
                    yield Problem(f"pools.{path}.zones", rule, zone, fix)
