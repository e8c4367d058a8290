"""Where the pods of add-ons may run. Tolerations are derived from the pools' own taints and never typed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.base.addon import AddOnContext
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role

CRITICAL: Final[Mapping[str, str]] = {"key": "CriticalAddonsOnly", "operator": "Exists"}
"""What the pods of a cluster's own add-ons tolerate by convention (kubernetes.io, "Guaranteed Scheduling For Critical
Add-On Pods"): a system pool may be tainted with it by hand without moving a controller."""


def system_placement(context: AddOnContext) -> dict[str, Any]:
    """`nodeSelector` and `tolerations` of a controller: the system pools, with whatever taints they have."""
    return {"nodeSelector": {keys.ROLE: str(Role.SYSTEM)}, "tolerations": system_tolerations(context)}


def system_tolerations(context: AddOnContext) -> list[dict[str, str]]:
    """What lets a pod onto every system pool."""
    own = _tolerations(spec for spec in context.pools.values() if spec.role is Role.SYSTEM)
    return [dict(CRITICAL), *(each for each in own if each["key"] != CRITICAL["key"])]


def gpu_tolerations(pools: Mapping[str, PoolSpec]) -> list[dict[str, str]]:
    """What lets an agent onto the nodes of every GPU pool; empty where there is none."""
    return _tolerations(spec for spec in pools.values() if spec.gpu is not None)


def pool_tolerations(pools: Mapping[str, PoolSpec], names: Iterable[str]) -> list[dict[str, str]]:
    """What lets a pod onto the nodes of each of the named pools.

    Raises:
        KeyError: For a name that is not a pool's.
    """
    return _tolerations(pools[name] for name in names)


def every_toleration(pools: Mapping[str, PoolSpec]) -> list[dict[str, str]]:
    """What lets an agent onto every node of the platform, as drivers and monitors of nodes need it."""
    return [dict(CRITICAL), *(each for each in _tolerations(pools.values()) if each["key"] != CRITICAL["key"])]


def _tolerations(pools: Iterable[PoolSpec]) -> list[dict[str, str]]:
    """One for each taint, however many pools have it, sorted."""
    return [toleration.manifest for toleration in sorted({each for pool in pools for each in pool.tolerations})]
