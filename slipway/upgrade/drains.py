"""What holds nodes while they are replaced: budgets and running jobs; and what the replacement of each pool takes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, Final

from slipway.upgrade.checks import Finding, found, selected, subject
from slipway.upgrade.world import Object, World
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.pricing.pools import node_hourly
from spec.quantities import seconds
from spec.subnets import addresses_per_node

CONTROL_PLANE: Final = 5  # addresses that the update of a control plane takes (EKS User Guide, update-cluster.html)
_KEEP: Final = "karpenter.sh/do-not-disrupt"
_MADE_ANEW: Final = frozenset({"DaemonSet", "Node", "ReplicaSet", "StatefulSet"})
"""Owners whose pods begin again elsewhere without a loss; those of jobs begin at their last checkpoint."""


def findings(world: World) -> Iterator[Finding]:
    """Budgets that let no pod go, pods that hold a node or lose their work, subnets without addresses."""
    if world.free is not None and sum(world.free.values()) < CONTROL_PLANE:
        yield found("addresses", f"subnets {', '.join(sorted(world.free))}", free=sum(world.free.values()))
    pools = {one["metadata"]["name"]: subject(one) for one in world.of_kind("Node")}
    for budget in world.of_kind("PodDisruptionBudget"):
        allowed, wanted = (budget.get("status") or {}).get("disruptionsAllowed"), budget["spec"].get("selector") or {}
        held = {
            pools.get(pod["spec"].get("nodeName"), "a pool") for pod in world.pods()
            if _space(pod) == _space(budget) and selected(pod, wanted.get("matchLabels"))
        }  # fmt: skip
        if allowed == 0 and held:
            how = "add a replica, or allow one disruption; EKS gives up on a node group after 15 minutes"
            yield found("budget", subject(budget), pools=", ".join(sorted(held)), how=how)
    for pod in world.pods():
        pool = pools.get(pod["spec"].get("nodeName"), "")
        owners = {one["kind"] for one in pod["metadata"].get("ownerReferences") or ()}
        kept = (pod["metadata"].get("annotations") or {}).get(_KEEP) == "true" and pool.startswith("NodePool ")
        if pool and (kept or not owners & _MADE_ANEW):
            ends = [_end(world, pod), _drained(world, pool) if kept else None]
            end = min(filter(None, ends), default=None)
            until = f", at the latest until {end:%Y-%m-%d %H:%M} UTC" if end else ", without a deadline"
            # What has not ended when Karpenter has drained long enough, is ended.
            waits = kept and (ends[1] is None or end != ends[1])
            yield found("held" if waits else "evicted", subject(pod), pool=pool, until=until)


def _space(one: Object) -> Any:
    return one["metadata"].get("namespace")


def _end(world: World, pod: Object) -> datetime | None:
    """The deadline of a pod, or of its job."""
    name, ends = (pod["metadata"].get("labels") or {}).get("batch.kubernetes.io/job-name"), []
    jobs = [one for one in world.of_kind("Job") if _space(one) == _space(pod) and one["metadata"]["name"] == name]
    for one in (pod, *jobs):
        limit, start = one["spec"].get("activeDeadlineSeconds"), (one.get("status") or {}).get("startTime")
        ends += [datetime.fromisoformat(start).astimezone(UTC) + timedelta(seconds=limit)] if limit and start else []
    return min(ends, default=None)


def _drained(world: World, pool: str) -> datetime | None:
    """When Karpenter has drained a node of a pool for as long as it may, if it begins now."""
    for one in world.of_kind("NodePool"):
        if subject(one) == pool and (grace := one["spec"]["template"]["spec"].get("terminationGracePeriod")):
            return world.now + timedelta(seconds=seconds(grace))
    return None


def replaced(world: World, spec: PoolSpec) -> dict[str, Any]:
    """How the nodes of a pool are replaced: those that run, or the most that may if none is known; further ones
    meanwhile, with their price in USD an hour and the addresses that they take; and what replaces them."""
    there = [one for one in world.of_kind("Node") if (one["metadata"].get("labels") or {}).get(keys.POOL) == spec.name]
    nodes = len(there) if any(world.of_kind("Node")) else spec.settings.max
    # karpenter.sh, Disruption: without budgets of its own a NodePool has 10 %.
    surge, how = (
        ceil(nodes / 10),
        "Karpenter replaces them by drift, within the pool's budgets, when their jobs have ended",
    )
    if spec.capacity_block:
        # EKS User Guide, capacity-blocks-mng.html: a group there is scaled to 0 for an update.
        surge, how = 0, "a Capacity Block has no further nodes: scale the pool to 0 when its jobs have ended"
    elif spec.managed:
        once = max(1, nodes * spec.settings.update.max_unavailable_percentage // 100)
        # EKS User Guide, managed-node-update-behavior.html, scale up phase and upgrade phase.
        surge, minutes = max(2 * len(spec.zones), once), ceil(nodes / once) * 16
        how = f"EKS drains {once} at a time, at most 15 min each: at most {minutes} min"
    price = node_hourly(spec)
    return {
        "nodes": nodes,
        "surge": surge,
        "usdPerHour": None if price is None else float(price * surge),
        "addresses": surge * addresses_per_node(spec.settings),
        "how": how,
    }
