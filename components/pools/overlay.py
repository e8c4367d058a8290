"""The NodeOverlay of an elastic pool whose GPUs are cut or shared (karpenter.sh/v1alpha1, Karpenter v1.14.1, gate
`nodeOverlay`).

Karpenter knows how many GPUs a type has and nothing of MIG or of sharing: a pod that asks for `nvidia.com/mig-1g.5gb`
would wait for ever, and four pods that may share a GPU would be given four machines. The overlay tells it what a node
of the pool will offer.
"""

from __future__ import annotations

from typing import Any, Final

from components.base.kubernetes import ManifestKind
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

KIND: Final = ManifestKind("karpenter.sh/v1alpha1", "NodeOverlay")


def wants_overlay(spec: PoolSpec) -> bool:
    """Whether nodes of the pool offer what Karpenter can't know from their type."""
    return bool(_extra(spec))


def node_overlay(spec: PoolSpec) -> dict[str, Any]:
    """`spec` of the NodeOverlay.

    A resource that the type has is replaced (kubernetes-sigs/karpenter, pkg/cloudprovider/types.go,
    ApplyCapacityOverlay; the CRD's description speaks of new ones alone). Of cut GPUs nothing is taken away: in the
    simulation a node still has whole ones, and the pool's own taint keeps pods away that ask for one.
    """
    return {
        "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": [spec.name]}],
        "capacity": {name: str(count) for name, count in _extra(spec).items()},
    }


def _extra(spec: PoolSpec) -> dict[str, int]:
    known = {keys.GPU: spec.gpu_count, keys.EFA: spec.efa_count}
    return {name: count for name, count in spec.resources.items() if known.get(name) != count}
