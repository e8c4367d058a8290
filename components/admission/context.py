"""What rules know of the stack that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.admission import placement
from components.admission.kinds import LABELS, SPECS
from components.admission.rule import literal
from components.workloads.metadata import QUEUE
from spec.pools.pool_spec import PoolSpec


@dataclass(frozen=True, kw_only=True)
class StackContext:
    """A stack, as far as rules depend on it.

    Attributes:
        pools: Pools by name.
        queues: Whether jobs are queued.
        max_replicas: Pods of one workload at most.
    """

    pools: Mapping[str, PoolSpec]
    queues: bool
    max_replicas: int

    @property
    def variables(self) -> dict[str, str]:
        """`specs` of an object, whether it is `queued`, and the `pools`: what rules of placement use."""
        queued = f"{literal(QUEUE)} in ({LABELS})" if self.queues else "false"
        return {"specs": SPECS, "queued": queued, "pools": placement.pools(self.pools)}
