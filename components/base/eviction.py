"""Annotations of pods that lose work if their node is consolidated, replaced or expires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from spec.pools.pool_spec import PoolSpec

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
"""Annotation: Karpenter neither evicts the pod nor consolidates its node."""
NOT_MOVED: Final[Mapping[str, str]] = {
    # Karpenter 1.14, "Disruption", pod-level controls; Cluster Autoscaler FAQ, "What types of pods can prevent CA from
    # removing a node?".
    DO_NOT_DISRUPT: "true",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}
"""Annotations of a pod that nothing moves."""


def kept(pools: Iterable[PoolSpec]) -> dict[str, str]:
    """Annotations of a job's pods, which may run on some pools.

    On Spot they let Karpenter evict the pod: at an interruption notice its drain waits for pods with do-not-disrupt, so
    the first that they hear is the end of the instance, two minutes later (karpenter v1.14.1, pkg/utils/pod,
    IsEvictable; tests/slipway/sandbox/test_elastic_disruption.py). A job there writes checkpoints anyway.
    """
    on_spot = any(pool.may_be_spot for pool in pools)
    return {key: value for key, value in NOT_MOVED.items() if not (on_spot and key == DO_NOT_DISRUPT)}
