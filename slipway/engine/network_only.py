"""`--network-only`: the first of two steps to a cluster whose API server has only a private endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from slipway.engine.invocation import Request
from slipway.engine.state import StackState
from spec.errors import EXIT_REFUSED, SlipwayError

CLUSTER: Final = "aws:eks/cluster:Cluster"


def refuse_network_only(request: Request, state: Callable[[], StackState]) -> None:
    """Refuse a run of the network alone once the cluster exists: the whole stack is to be updated then.

    Raises:
        SlipwayError: The state has a cluster.
    """
    if request.network_only and any(resource.type == CLUSTER for resource in state().resources):
        msg = (
            f"stack {request.stack} has a cluster, and --network-only is the first step before there is one: "
            f"run `slipway {request.operation} {request.stack}`"
        )
        raise SlipwayError(msg, EXIT_REFUSED)
