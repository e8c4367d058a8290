"""Rules for pods that request GPUs."""

from __future__ import annotations

from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Message, Rule
from components.admission.templates import CONTAINERS, JOINED, SPECS
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

MAX_REPORTED: Final = 40
"""Pools that a message lists: a message over 5 KiB isn't shown (k8s.io/apiserver, maxMessageLength)."""


def gpu_pool(context: StackContext) -> Rule:
    """A pod with GPUs must fit a pool of the stack."""
    offers = [_offer(spec) for _, spec in sorted(context.pools.items()) if spec.gpu is not None]
    listed = "; ".join(offers[:MAX_REPORTED]) + (
        f"; and {len(offers) - MAX_REPORTED} more" if len(offers) > MAX_REPORTED else ""
    )
    fits = f"({placement.OFFERS}) && ({placement.SELECTED}) && ({placement.TOLERATED})"
    return Rule(
        name="gpu-pool",
        kinds=kinds.WITH_PODS,
        what="a pod that requests GPUs fits on a node of a pool that it selects, and tolerates the pool's taints",
        why="the scheduler would leave it pending forever, without an error",
        variables={**context.variables, "devices": placement.DEVICES},
        expression=(
            f"variables.specs.all(s, !s.containers.exists({placement.ASKS}) || variables.pools.exists(p, {fits}))"
        ),
        message=Message(
            wrong="no pool fits this pod, it would stay pending forever: it requests ",
            found="variables.devices",
            shown="devices",
            fix=f". Nodes offer: {listed or 'no GPU'}. Select the pool and tolerate its taints: nodeSelector "
            f"{{{keys.POOL}: POOL}}, tolerations [{{key: {keys.POOL}, operator: Equal, value: POOL, effect: "
            f"NoSchedule}}, {{key: {keys.GPU}, operator: Exists, effect: NoSchedule}}]",
        ),
    )


def _offer(spec: PoolSpec) -> str:
    """Devices of a node of a pool, and its taints except those that all GPU pools have."""
    devices = ", ".join(f"{resource} {count}" for resource, count in spec.resources.items())
    own = [taint for taint in spec.taints if taint.key not in (keys.GPU, keys.POOL)]
    part = ", one per container" if spec.sharing else ""
    return f"{spec.name} ({devices}{part}{''.join(f', taint {taint}' for taint in own)})"


_UNEQUAL: Final = (
    "has(c.resources) && has(c.resources.requests) && c.resources.requests.exists(r, r.startsWith('nvidia.com/') && "
    "!(has(c.resources.limits) && r in c.resources.limits && "
    "string(c.resources.limits[r]) == string(c.resources.requests[r])))"
)
GPU_LIMITS: Final = Rule(
    name="gpu-limits",
    kinds=kinds.UNCHECKED,
    what="GPU requests equal the limits",
    why="the API server refuses such pods, Jobs and Deployments itself; for a custom resource it would refuse only the "
    "pods, with nothing but an event to show it",
    variables={"specs": SPECS, "containers": CONTAINERS},
    expression=f"variables.containers.all(l, l.all(c, !({_UNEQUAL})))",
    message=Message(
        wrong="a GPU can't be overcommitted: container ",
        found=f"variables.containers.map(l, l.filter(c, {_UNEQUAL}).map(c, c.name).join(', ')){JOINED}",
        shown="containers",
        fix=" has different request and limit. Set resources.limits and resources.requests to the same number, "
        "or set only limits",
    ),
)
