"""Where the pods of add-ons may run. Tolerations are derived from the taints of the pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.base.addon import AddOnContext
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role

CRITICAL: Final[Mapping[str, str]] = {"key": "CriticalAddonsOnly", "operator": "Exists"}
"""Tolerated by the pods of cluster add-ons by convention (kubernetes.io, "Guaranteed Scheduling For Critical Add-On
Pods"): a system pool can be tainted with it manually without evicting a controller."""


def system_placement(context: AddOnContext) -> dict[str, Any]:
    """`nodeSelector` and `tolerations` of a controller: the system pools and all their taints."""
    return {"nodeSelector": {keys.ROLE: str(Role.SYSTEM)}, "tolerations": system_tolerations(context)}


def system_tolerations(context: AddOnContext) -> list[dict[str, str]]:
    """Tolerations for the nodes of every system pool."""
    own = _tolerations(spec for spec in context.pools.values() if spec.role is Role.SYSTEM)
    return [dict(CRITICAL), *(each for each in own if each["key"] != CRITICAL["key"])]


def zone_spread(labels: Mapping[str, str]) -> dict[str, Any]:
    """`topologySpreadConstraints` of a controller: its replicas are in different zones if possible.

    Args:
        labels: Labels of its pods.
    """
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(labels)},
    }
    return {"topologySpreadConstraints": [constraint]}


def gpu_tolerations(pools: Mapping[str, PoolSpec]) -> list[dict[str, str]]:
    """Tolerations for the nodes of every GPU pool; empty if there is none."""
    return _tolerations(spec for spec in pools.values() if spec.gpu is not None)


def pool_tolerations(pools: Mapping[str, PoolSpec], names: Iterable[str]) -> list[dict[str, str]]:
    """Tolerations for the nodes of each of the named pools.

    Raises:
        KeyError: For a name that isn't a pool.
    """
    return _tolerations(pools[name] for name in names)


def every_toleration(pools: Mapping[str, PoolSpec]) -> list[dict[str, str]]:
    """Tolerations for every node of the platform, for CSI drivers and node monitoring."""
    return [dict(CRITICAL), *(each for each in _tolerations(pools.values()) if each["key"] != CRITICAL["key"])]


def _tolerations(pools: Iterable[PoolSpec]) -> list[dict[str, str]]:
    """One for each distinct taint, sorted."""
    return [toleration.manifest for toleration in sorted({each for pool in pools for each in pool.tolerations})]
