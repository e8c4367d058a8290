"""The facts of a stack that rules depend on."""

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
    """The facts of a stack that rules depend on.

    Attributes:
        pools: Pools by name.
        queues: Whether Kueue queues jobs.
        max_replicas: Maximum number of pods of one workload.
    """

    pools: Mapping[str, PoolSpec]
    queues: bool
    max_replicas: int

    @property
    def variables(self) -> dict[str, str]:
        """CEL variables of placement rules: `specs` of an object, whether it is `queued`, and the `pools`."""
        queued = f"{literal(QUEUE)} in ({LABELS})" if self.queues else "false"
        return {"specs": SPECS, "queued": queued, "pools": placement.pools(self.pools)}
