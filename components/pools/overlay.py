"""The NodeOverlay of an elastic pool whose GPUs are partitioned or shared (karpenter.sh/v1alpha1, Karpenter v1.14.1,
feature gate `nodeOverlay`).

Karpenter knows how many GPUs an instance type has, but nothing about MIG or sharing: a pod that requests
`nvidia.com/mig-1g.5gb` would stay pending forever, and four pods that can share a GPU would get four nodes. The overlay
declares the resources of the pool's nodes.
"""

from __future__ import annotations

from typing import Any, Final

from components.base.kubernetes import ManifestKind
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

KIND: Final = ManifestKind("karpenter.sh/v1alpha1", "NodeOverlay")


def wants_overlay(spec: PoolSpec) -> bool:
    """Whether nodes of the pool have resources that Karpenter can't derive from their instance type."""
    return bool(_extra(spec))


def node_overlay(spec: PoolSpec) -> dict[str, Any]:
    """`spec` of the NodeOverlay.

    A resource that the instance type has is replaced (kubernetes-sigs/karpenter, pkg/cloudprovider/types.go,
    ApplyCapacityOverlay; the CRD's description mentions only new ones). Whole GPUs aren't removed for partitioned ones:
    in Karpenter's simulation the node still has them, and the pool's taint repels pods that request one.
    """
    return {
        "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": [spec.name]}],
        "capacity": {name: str(count) for name, count in _extra(spec).items()},
    }


def _extra(spec: PoolSpec) -> dict[str, int]:
    known = {keys.GPU: spec.gpu_count, keys.EFA: spec.efa_count}
    return {name: count for name, count in spec.resources.items() if known.get(name) != count}
