"""Resolved pools of nodes: labels, taints, devices and allocatable resources, from settings and catalog.

What the package exports is imported on first use: rules of the policy pack need `spec.pools.keys` alone, and the models
of settings behind the rest cost 0.24 s of CPU at every preview (2026-11).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spec.pools.pool_spec import GpuSharing, MigGeometry, PoolSpec, Taint, Toleration
    from spec.pools.resolution import resolve, resolve_all

__all__ = ["GpuSharing", "MigGeometry", "PoolSpec", "Taint", "Toleration", "resolve", "resolve_all"]

_MODULES = {
    **dict.fromkeys(("GpuSharing", "MigGeometry", "PoolSpec", "Taint", "Toleration"), "spec.pools.pool_spec"),
    **dict.fromkeys(("resolve", "resolve_all"), "spec.pools.resolution"),
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_MODULES[name]), name)
