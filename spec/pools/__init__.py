"""Resolved pools of nodes: labels, taints, devices and allocatable resources, from settings and catalog."""

from spec.pools.pool_spec import GpuSharing, MigGeometry, PoolSpec
from spec.pools.resolution import resolve, resolve_all
from spec.pools.taints import Taint, Toleration

__all__ = ["GpuSharing", "MigGeometry", "PoolSpec", "Taint", "Toleration", "resolve", "resolve_all"]
