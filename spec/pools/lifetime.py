"""How long a job may run on a node of a pool: from the pool's settings of expiry and drain.

Karpenter deletes a node at `expireAfter`, and replaces it when its NodeClass or AMI changes; both begin with a drain.
The drain waits for pods with the annotation `karpenter.sh/do-not-disrupt`, but not longer than `terminationGracePeriod`
(kubernetes-sigs/karpenter v1.14.1, pkg/controllers/disruption/types.go, EventualDisruptionClass;
pkg/controllers/node/termination/terminator/terminator.go). A node's age is not that of the job: a job may start a
minute before the drain. So only the drain bounds what a job can rely on.
"""

from __future__ import annotations

from spec.durations import seconds
from spec.pools.pool_spec import PoolSpec
from spec.settings.capacity import Market


def guaranteed_seconds(spec: PoolSpec) -> int | None:
    """Seconds that a drain of the pool's nodes waits for a running job; None where no drain ends it by itself.

    A managed node group replaces nodes only when it is updated. Spot nodes are not guaranteed for any time: their jobs
    checkpoint.
    """
    if spec.managed or spec.market is Market.SPOT:
        return None
    return seconds(spec.settings.disruption.termination_grace_period)
