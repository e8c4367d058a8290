"""Pools of nodes: what each one is (`spec`), how each is made (`managed`, `karpenter`), and all of them (`fleet`)."""

from components.pools.spec import GpuSharing, MigGeometry, PoolSpec, resolve, resolve_all
from components.pools.taints import Taint, Toleration

__all__ = ["GpuSharing", "MigGeometry", "PoolSpec", "Taint", "Toleration", "resolve", "resolve_all"]
