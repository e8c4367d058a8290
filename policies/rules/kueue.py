"""Queues: what they promise is there, and one team's is not another's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node
from policies.fixtures import Fixture, FixtureResource, edited, one, with_, without
from policies.levels import Levels
from policies.pools import facts, names
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, ResourceRule, StackRule, problem
from policies.tokens import CLUSTER_QUEUE, KARPENTER_POOL, LOCAL_QUEUE, MANAGED_POOL, RESOURCE_FLAVOR

_POOL_LABEL: Final = "platform.slipway/pool"
_DEVICE: Final = "nvidia.com/"


def _named(stack: Stack, token: str) -> dict[str, Resource]:
    found = [(one["metadata"]["name"].text(), one) for one in stack.of(token)]
    return {name: one for name, one in found if name}


def _pools(stack: Stack) -> dict[str, Node]:
    return {str(pool["name"].raw): pool for _, pool in facts(stack)}


def _flavors(queue: Resource) -> Iterator[Node]:
    for group in queue["spec"]["resourceGroups"].items():
        yield from group["flavors"].items()


def _homeless(stack: Stack, _: Context) -> Iterator[Problem]:
    pools = names(stack)
    for flavor in stack.of(RESOURCE_FLAVOR):
        label = flavor["spec"]["nodeLabels"][_POOL_LABEL]
        led = label.unknown or any(name.unknown or name.raw == label.raw for name in pools)
        if pools and not led:
            yield problem(label, at=flavor)


def _unqueued(stack: Stack, _: Context) -> Iterator[Problem]:
    labels = [flavor["spec"]["nodeLabels"][_POOL_LABEL] for flavor in stack.of(RESOURCE_FLAVOR)]
    if not labels or any(label.unknown for label in labels):
        return
    queued = [label.raw for label in labels]
    for component, pool in facts(stack):
        if pool["gpu"].known and pool["name"].text() not in (None, *queued):
            yield problem(pool["name"], "one of GPUs that no ResourceFlavor leads to", component)


def _flavor(name: str) -> FixtureResource:
    props = {"metadata": {"name": name}, "spec": {"nodeLabels": {_POOL_LABEL: name}}}
    return FixtureResource(type=RESOURCE_FLAVOR, props=props)


def _share(nominal: str, resource: str = "nvidia.com/gpu", **more: str) -> dict[str, Any]:
    return {"name": resource, "nominalQuota": nominal, **more}


def _queue(*shares: dict[str, Any], **spec: Any) -> FixtureResource:
    groups = [{"flavors": [{"name": "a100", "resources": list(shares)}]}]
    props = {
        "metadata": {"name": "vision"},
        "spec": {
            "cohortName": "platform",
            "namespaceSelector": {"matchLabels": {"platform.slipway/team": "vision"}},
            "resourceGroups": groups,
            **spec,
        },
    }
    return FixtureResource(type=CLUSTER_QUEUE, props=props)


_A100: Final = {"pool": {"name": "a100", "gpu": "A100", "max": 2, "gpuCount": 8, "resources": {"nvidia.com/gpu": 8}}}
_QUEUED: Final[Fixture] = {
    "pool": FixtureResource(type=MANAGED_POOL, props=_A100),
    "cpu": FixtureResource(type=KARPENTER_POOL, props={"pool": {"name": "cpu", "max": 4}}),
    "a100": _flavor("a100"),
    "cpus": _flavor("cpu"),
    "vision": _queue(_share("10"), _share("64", "cpu")),
    "language": _queue(_share("6")),
    "local": FixtureResource(
        type=LOCAL_QUEUE,
        props={"metadata": {"namespace": "vision"}, "spec": {"clusterQueue": "vision"}},
    ),
}

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
            bad=(
                with_(_QUEUED, "cpus", "spec.nodeLabels", {_POOL_LABEL: "cpus"}),
                with_(_QUEUED, "cpus", "spec.nodeLabels", {}),
            ),
        ),
        "flavor": Check(asks="must have a flavor", find=_unqueued, bad=(without(_QUEUED, "a100"),)),
    },
    good=(_QUEUED, without(_QUEUED, "a100", "cpus"), without(_QUEUED, "pool", "cpu")),
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


def _too_much(stack: Stack, _: Context) -> Iterator[Problem]:
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
            yield Problem(path="spec.resourceGroups", got=got, at=at)


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
            bad=(
                {**_QUEUED, "language": _queue(_share("7"))},
                {**_QUEUED, "language": _queue(_share("1", "nvidia.com/mig-1g.5gb"))},
            ),
        )
    },
    good=(_QUEUED, without(_QUEUED, "pool")),
)


def _lendable(queue: Resource, _: Context) -> Iterator[Problem]:
    for flavor in _flavors(queue):
        for share in flavor["resources"].items():
            device = _device(share)
            lends, has = (share[key].number() if device else None for key in ("lendingLimit", "nominalQuota"))
            if lends is not None and has is not None and lends > has:
                yield problem(share["lendingLimit"], f"{lends:g}, of {has:g}")


def _alone(queue: Resource, _: Context) -> Iterator[Problem]:
    for flavor in _flavors(queue) if queue["spec"]["cohortName"].missing else ():
        for share in flavor["resources"].items():
            yield from (problem(share[key]) for key in ("lendingLimit", "borrowingLimit") if share[key].known)


def _one_sided(queue: Resource, _: Context) -> Iterator[Problem]:
    preemption = queue["spec"]["preemption"]
    policy, never = preemption["borrowWithinCohort"]["policy"], preemption["reclaimWithinCohort"]
    if policy.raw == "LowerPriority" and (never.missing or never.raw == "Never"):
        yield problem(never)


_SOUND: Final = _queue(
    _share("10", lendingLimit="10", borrowingLimit="4"), preemption={"reclaimWithinCohort": "Any"}
).props
_SHARE: Final = "spec.resourceGroups.0.flavors.0.resources.0"

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
            bad=(one(edited(_SOUND, f"{_SHARE}.lendingLimit", "11")),),
        ),
        "cohort": Check(
            asks="must be set in a cohort alone",
            find=_alone,
            bad=(one(edited(_SOUND, "spec.cohortName")),),
        ),
        "reclaim": Check(
            asks="must not be Never",
            find=_one_sided,
            bad=tuple(
                one(edited(_SOUND, "spec.preemption", {"borrowWithinCohort": {"policy": "LowerPriority"}, **more}))
                for more in ({}, {"reclaimWithinCohort": "Never"})
            ),
        ),
    },
    good=(
        one(_SOUND),
        one(_queue(_share("10")).props),
        one(edited(_queue(_share("10")).props, "spec.cohortName")),
        one(edited(_SOUND, "spec.preemption", {"reclaimWithinCohort": "Never"})),
        one(
            edited(
                _SOUND,
                "spec.preemption",
                {"borrowWithinCohort": {"policy": "LowerPriority"}, "reclaimWithinCohort": "Any"},
            )
        ),
        one(edited(_SOUND, _SHARE, _share("64500m", "cpu", lendingLimit="65"))),
    ),
)

RULES = (FLAVOR_HAS_POOL, QUOTA_FITS, LIMITS_SANE)
