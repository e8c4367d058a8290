"""Queues: what they promise is there, and one team's is not another's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.access import Node
from policies.levels import Levels
from policies.pools import facts, names
from policies.resource import Resource, Stack
from policies.rule import Check, Context, ResourceRule, StackRule, Violation, violation
from policies.tokens import CLUSTER_QUEUE, KARPENTER_POOL, MANAGED_POOL, RESOURCE_FLAVOR
from spec.pools.keys import POOL

_DEVICE: Final = "nvidia.com/"


def _pools(stack: Stack) -> dict[str, Node]:
    return {str(pool["name"].raw): pool for _, pool in facts(stack)}


def _flavors(queue: Resource) -> Iterator[Node]:
    for group in queue["spec"]["resourceGroups"].items():
        yield from group["flavors"].items()


def _homeless(stack: Stack, _: Context) -> Iterator[Violation]:
    pools = names(stack)
    for flavor in stack.of(RESOURCE_FLAVOR):
        label = flavor["spec"]["nodeLabels"][POOL]
        led = label.unknown or any(name.unknown or name.raw == label.raw for name in pools)
        if pools and not led:
            yield violation(label, at=flavor)


def _unqueued(stack: Stack, _: Context) -> Iterator[Violation]:
    labels = [flavor["spec"]["nodeLabels"][POOL] for flavor in stack.of(RESOURCE_FLAVOR)]
    if not labels or any(label.unknown for label in labels):
        return
    queued = [label.raw for label in labels]
    for component, pool in facts(stack):
        if pool["gpu"].known and pool["name"].text() not in (None, *queued):
            yield violation(pool["name"], "one of GPUs that no ResourceFlavor leads to", component)


FLAVOR_HAS_POOL = StackRule(
    name="kueue-flavor-has-pool",
    title="Every flavor leads to a pool, and every GPU pool has a flavor",
    types=(RESOURCE_FLAVOR, MANAGED_POOL, KARPENTER_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Work that is admitted to a flavor without nodes waits for ever, and looks as if it ran.",
    fix="Name the pool in nodeLabels of the flavor, as components.queues does for each pool.",
    checks={
        "pool": Check(
            asks="must be a pool of the stack",
            find=_homeless,
        ),
        "flavor": Check(
            asks="must have a flavor",
            find=_unqueued,
        ),
    },
)


def _promised(stack: Stack) -> Iterator[tuple[str, str, float]]:
    """Flavor, resource and amount of every known nominal quota of a device."""
    for queue in stack.of(CLUSTER_QUEUE):
        for flavor in _flavors(queue):
            for share in flavor["resources"].items():
                name, amount = share["name"].text(), share["nominalQuota"].number() if _device(share) else None
                if name and amount is not None:
                    yield str(flavor["name"].raw), name, amount


def _device(share: Node) -> bool:
    return str(share["name"].raw).startswith(_DEVICE)


def _too_much(stack: Stack, _: Context) -> Iterator[Violation]:
    sums: dict[tuple[str, str], float] = {}
    for where, what, amount in _promised(stack):
        sums[where, what] = sums.get((where, what), 0) + amount
    pools = _pools(stack)
    for (flavor, resource), total in sorted(sums.items()):
        pool = pools.get(flavor)
        if pool is None or pool["max"].unknown or pool["resources"].unknown or pool["resources"][resource].unknown:
            continue
        there = (pool["max"].number() or 0) * (pool["resources"][resource].number() or 0)
        if total > there:
            at = next(one for one in stack.of(CLUSTER_QUEUE))
            got = f"{total:g} {resource} of flavor {flavor} in all, and pool {flavor} has {there:g} at its largest"
            yield Violation(path="spec.resourceGroups", got=got, at=at)


QUOTA_FITS = StackRule(
    name="kueue-quota-fits-pool",
    title="Queues promise no more GPUs than the pools have",
    types=(CLUSTER_QUEUE, MANAGED_POOL, KARPENTER_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A pod that is admitted beyond what there is waits for a node that never comes, and holds its quota.",
    fix="Lower the shares of teams in the stack file, or raise max of the pool.",
    checks={
        "sum": Check(
            asks="must fit the pool",
            find=_too_much,
        )
    },
)


def _lendable(queue: Resource, _: Context) -> Iterator[Violation]:
    for flavor in _flavors(queue):
        for share in flavor["resources"].items():
            device = _device(share)
            lends, has = (share[key].number() if device else None for key in ("lendingLimit", "nominalQuota"))
            if lends is not None and has is not None and lends > has:
                yield violation(share["lendingLimit"], f"{lends:g}, of {has:g}")


def _alone(queue: Resource, _: Context) -> Iterator[Violation]:
    for flavor in _flavors(queue) if queue["spec"]["cohortName"].missing else ():
        for share in flavor["resources"].items():
            yield from (violation(share[key]) for key in ("lendingLimit", "borrowingLimit") if share[key].known)


def _one_sided(queue: Resource, _: Context) -> Iterator[Violation]:
    preemption = queue["spec"]["preemption"]
    policy, never = preemption["borrowWithinCohort"]["policy"], preemption["reclaimWithinCohort"]
    if policy.raw == "LowerPriority" and (never.missing or never.raw == "Never"):
        yield violation(never)


LIMITS_SANE = ResourceRule(
    name="kueue-limits-sane",
    title="What a queue lends and borrows is what Kueue's webhook takes",
    types=(CLUSTER_QUEUE,),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="The webhook refuses it in the middle of an update (kueue, pkg/webhooks/clusterqueue_webhook.go).",
    fix="Lend no more than nominalQuota, set limits in a cohort alone, and reclaim where you borrow by force.",
    checks={
        "lending": Check(
            asks="must be no more than nominalQuota",
            find=_lendable,
        ),
        "cohort": Check(
            asks="must be set in a cohort alone",
            find=_alone,
        ),
        "reclaim": Check(
            asks="must not be Never",
            find=_one_sided,
        ),
    },
)

RULES = (FLAVOR_HAS_POOL, QUOTA_FITS, LIMITS_SANE)
