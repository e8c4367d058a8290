"""Kueue: flavors, quotas, limits, isolation of tenants and gangs."""

from collections.abc import Iterator

import yaml

from policies.checks.pools import facts, names
from policies.checks.related import releases_of
from policies.resources.access import Node, WrongTypeError, plain
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import CLUSTER_QUEUE, KARPENTER_POOL, MANAGED_POOL, RELEASE, RESOURCE_FLAVOR
from policies.rule import Context, ResourceRule, StackRule, Violation, violation
from spec import strict_yaml
from spec.pools.keys import NVIDIA, POOL


def _flavors(queue: Resource) -> Iterator[Node]:
    for group in queue["spec"]["resourceGroups"].items():
        yield from group["flavors"].items()


def _without_pool(stack: Stack, _: Context) -> Iterator[Violation]:
    pools = names(stack)
    for flavor in stack.of(RESOURCE_FLAVOR):
        label = flavor["spec"]["nodeLabels"][POOL]
        exists = label.unknown or any(name.unknown or name.raw == label.raw for name in pools)
        if pools and not exists:
            yield violation(label, at=flavor)


def _without_flavor(stack: Stack, _: Context) -> Iterator[Violation]:
    labels = [flavor["spec"]["nodeLabels"][POOL] for flavor in stack.of(RESOURCE_FLAVOR)]
    if not labels or any(label.unknown for label in labels):
        return
    with_flavor = [label.raw for label in labels]
    for component, pool in facts(stack):
        if pool["gpu"].known and pool["name"].text() not in (None, *with_flavor):
            yield violation(pool["name"], "a GPU pool without a ResourceFlavor", component)


FLAVOR_HAS_POOL = StackRule(
    name="kueue-flavor-has-pool",
    types=(RESOURCE_FLAVOR, MANAGED_POOL, KARPENTER_POOL),
    finds={
        "pool": _without_pool,
        "flavor": _without_flavor,
    },
)


def _quotas(stack: Stack) -> Iterator[tuple[str, str, float]]:
    """Flavor, resource and amount of every known nominal quota of a device."""
    for queue in stack.of(CLUSTER_QUEUE):
        for flavor in _flavors(queue):
            for share in flavor["resources"].items():
                name, amount = share["name"].text(), share["nominalQuota"].number() if _device(share) else None
                if name and amount is not None:
                    yield str(flavor["name"].raw), name, amount


def _device(share: Node) -> bool:
    return str(share["name"].raw).startswith(NVIDIA)


def _over_quota(stack: Stack, _: Context) -> Iterator[Violation]:
    sums: dict[tuple[str, str], float] = {}
    for where, what, amount in _quotas(stack):
        sums[where, what] = sums.get((where, what), 0) + amount
    pools = {str(pool["name"].raw): pool for _, pool in facts(stack) if not pool["fallback"].known}
    for (flavor, resource), total in sorted(sums.items()):
        pool = pools.get(flavor)
        if pool is None or pool["max"].unknown or pool["resources"].unknown or pool["resources"][resource].unknown:
            continue
        there = (pool["max"].number() or 0) * (pool["resources"][resource].number() or 0)
        if total > there:
            at = next(one for one in stack.of(CLUSTER_QUEUE))
            got = f"{total:g} {resource} of flavor {flavor} in total, while pool {flavor} has {there:g} at its maximum"
            yield Violation(path="spec.resourceGroups", got=got, at=at)


QUOTA_FITS = StackRule(
    name="kueue-quota-fits-pool",
    types=(CLUSTER_QUEUE, MANAGED_POOL, KARPENTER_POOL),
    finds={"sum": _over_quota},
)


def _lends_too_much(queue: Resource, _: Context) -> Iterator[Violation]:
    for flavor in _flavors(queue):
        for share in flavor["resources"].items():
            device = _device(share)
            lending, nominal = (share[key].number() if device else None for key in ("lendingLimit", "nominalQuota"))
            if lending is not None and nominal is not None and lending > nominal:
                yield violation(share["lendingLimit"], f"{lending:g}, while nominalQuota is {nominal:g}")


def _without_cohort(queue: Resource, _: Context) -> Iterator[Violation]:
    for flavor in _flavors(queue) if queue["spec"]["cohortName"].missing else ():
        for share in flavor["resources"].items():
            yield from (violation(share[key]) for key in ("lendingLimit", "borrowingLimit") if share[key].known)


def _without_reclaim(queue: Resource, _: Context) -> Iterator[Violation]:
    preemption = queue["spec"]["preemption"]
    policy, never = preemption["borrowWithinCohort"]["policy"], preemption["reclaimWithinCohort"]
    if policy.raw == "LowerPriority" and (never.missing or never.raw == "Never"):
        yield violation(never)


LIMITS_SANE = ResourceRule(
    name="kueue-limits-sane",
    types=(CLUSTER_QUEUE,),
    finds={
        "lending": _lends_too_much,
        "cohort": _without_cohort,
        "reclaim": _without_reclaim,
    },
)


def _configuration(release: Resource) -> Node:
    """Kueue's configuration, which its chart takes as a string of YAML."""
    node = release["values"].at("managerConfig", "controllerManagerConfigYaml")
    if not isinstance(node.raw, str):
        return node
    try:
        return Node(node.path, plain(strict_yaml.one(node.raw)))
    except yaml.YAMLError as error:
        raise WrongTypeError(node, "YAML") from error


def _without_wait(stack: Stack, _: Context) -> Iterator[Violation]:
    for release in releases_of(stack, "kueue"):
        wait = _configuration(release)["waitForPodsReady"]
        for node in (wait["timeout"], wait["requeuingStrategy"]["backoffLimitCount"]):
            if node.missing:
                yield violation(node, at=release)


GANG_SAFE = StackRule(
    name="kueue-gang-safe",
    types=(RELEASE,),
    finds={"wait": _without_wait},
)
