"""Whether pods fit on the pools that they select, including all that run at the same time."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, product
from typing import Any, Final

from components.pools.karpenter import requirements
from components.workloads.target import Target
from spec.jobs import claimed
from spec.pools import PoolSpec, keys
from spec.pools.allocatable import HUGEPAGES, Amounts, allocatable, fitting, nodes_of
from spec.quantities import CPU, MEMORY, MI, is_amount, parse, readable
from spec.settings.pools import Role
from spec.settings.problems import Problem
from spec.teams.shares import amounts

Spec = Mapping[str, Any]


def requests(container: Spec) -> dict[str, str]:
    """Requests of a container; a limit without a request counts as one (kubernetes.io, "Resource Management")."""
    resources = container.get("resources", {})
    return {**resources.get("limits", {}), **resources.get("requests", {})}


def need(spec: Spec) -> dict[str, Decimal]:
    """Effective requests of a pod: the sum of its containers, or the largest init container if that is more
    (kubernetes.io, "Init Containers"); and its claims of devices. Huge pages count as memory too, because nodes reserve
    them from it."""
    total = {keys.GPU: Decimal(claimed(spec))}
    for container in spec.get("containers", ()):
        for name, amount in _amounts(container).items():
            total[name] = total.get(name, Decimal(0)) + amount
    for container in spec.get("initContainers", ()):
        for name, amount in _amounts(container).items():
            total[name] = max(total.get(name, Decimal(0)), amount)
    if pages := total.get(HUGEPAGES):
        total["memory"] = total.get("memory", Decimal(0)) + pages
    return {name: amount for name, amount in total.items() if amount}


def _amounts(container: Spec) -> dict[str, Decimal]:
    return {name: parse(amount) for name, amount in requests(container).items() if is_amount(amount)}


@dataclass(frozen=True)
class Choice:
    """Pools that a pod's manifest selects."""

    named: tuple[str, ...]  # pool names in its selector or affinity; empty if there are none
    pools: Mapping[str, PoolSpec]  # pools of the target whose labels match, by name


def choice(spec: Spec, target: Target) -> Choice:
    """Read node selector and required affinity. Labels that aren't labels of pools (zone, instance type) are
    ignored."""
    known = {key for pool in target.pools.values() for key in pool.labels}
    wanted = {key: (value,) for key, value in (spec.get("nodeSelector") or {}).items()} | _affinity(spec)
    selected = {key: values for key, values in wanted.items() if key in known}
    pools = {
        name: pool
        for name, pool in target.pools.items()
        if all(pool.labels.get(key) in values for key, values in selected.items())
    }
    return Choice(tuple(wanted.get(keys.POOL, ())), pools)


def _terms(spec: Spec) -> Sequence[Mapping[str, Any]]:
    """Terms of the required node affinity, which are alternatives."""
    nodes = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return (nodes.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()


def _affinity(spec: Spec) -> dict[str, tuple[str, ...]]:
    terms = _terms(spec)
    if len(terms) != 1:
        # None of several is certain to apply.
        return {}
    expressions = terms[0].get("matchExpressions") or ()
    return {each["key"]: tuple(each["values"]) for each in expressions if each["operator"] == "In"}


DISK_KEPT_PERCENT = 15
"""Part of a node's disk below which the kubelet evicts (kubernetes.io, "Node-pressure Eviction", imagefs.available)."""


def fit_problems(path: str, spec: Spec, target: Target, *, at_once: int = 1) -> Iterator[Problem]:
    """Problems that keep the pod from running on its pools. It must fit on each pool that it names.

    Args:
        path: Path of the pod, for messages.
        spec: Its spec.
        target: The target platform and namespace.
        at_once: Number of such pods that run at the same time.
    """
    chosen = choice(spec, target)
    unknown = [name for name in chosen.named if name not in target.pools]
    for name in unknown:
        known = ", ".join(target.pools)
        yield Problem(f"{path}.pools", "it must be a pool of the platform", name, f"There are: {known}.")
    if unknown:
        return
    problems = misfits(path, spec, target)
    if not problems:
        known = ", ".join(target.pools)
        rule = "a pool must have the labels that the pod selects"
        yield Problem(f"{path}.nodeSelector", rule, spec.get("nodeSelector"), f"Select {keys.POOL}: one of {known}.")
        return
    if chosen.named:
        yield from (problem for misfits in problems.values() for problem in misfits)
    elif all(problems.values()):
        yield from min(problems.values(), key=len)
    if any(problems.values()):
        return
    shares = target.shares if chosen.named and target.queue else None
    found = together([Demand(path, need(spec), at_once, chosen.pools)], shares, queued=target.queue is not None)
    yield from (problem for _, problem in found)


def misfits(path: str, spec: Spec, target: Target) -> dict[str, list[Problem]]:
    """By pool that a pod selects: what keeps the pod from its nodes; nothing for a pool that could run it."""
    wanted = need(spec)
    return {name: list(node_problems(path, spec, pool, wanted)) for name, pool in choice(spec, target).pools.items()}


def node_problems(path: str, spec: Spec, pool: PoolSpec, wanted: Mapping[str, Decimal]) -> Iterator[Problem]:
    """Problems that keep a pod with these requests from every node of one pool: first what no pod of this size can
    have there, then what a toleration adds."""
    if pool.role is Role.SYSTEM:
        rule = "system pools are only for controllers and DNS"
        yield Problem(f"{path}.pools", rule, pool.name, "Use a pool for workloads; a `general` one for CPU workloads.")
    yield from (shares := list(_sharing(path, spec, pool)))
    if pool.gpu is not None and keys.GPU not in pool.claimed and spec.get("resourceClaims"):
        rule = f"pool {pool.name} gives GPUs to requests, and not to claims of devices"
        fix = "Request its devices in resources.limits, or select a pool of whole GPUs with `gpuAllocation: dra`."
        yield Problem(f"{path}.resourceClaims", rule, [one.get("name") for one in spec["resourceClaims"]], fix)
    for name, amount in sorted(wanted.items()):
        if "/" in name and not (shares and name == keys.GPU):
            yield from _device(path, pool, name, amount)
    if HUGEPAGES in wanted and keys.EFA not in pool.resources:
        rule = f"only nodes with EFA have huge pages, and pool {pool.name} has no EFA"
        yield Problem(f"{path}.resources[{HUGEPAGES}]", rule, int(wanted[HUGEPAGES]), "Remove them.")
    yield from _place(path, spec, pool)
    yield from _size(path, pool, wanted)
    yield from _space(path, spec, pool, wanted)
    tolerations = spec.get("tolerations") or ()
    for taint in pool.taints:
        if taint.effect != "PreferNoSchedule" and not any(tolerates(each, taint.manifest) for each in tolerations):
            rule = f"a pod on pool {pool.name} must tolerate its taint {taint}"
            yield Problem(
                f"{path}.tolerations", rule, [each.get("key") for each in tolerations], "Add that toleration."
            )


ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
_REGION_OF: Final = re.compile(r"[a-z]+(?:-[a-z]+)+-[0-9]+")


def node_values(pool: PoolSpec) -> dict[str, frozenset[str]]:
    """Values that nodes of a pool can have of the labels that Karpenter and the kubelet write: zone, instance type,
    architecture, ... (kubernetes.io, "Well-Known Labels, Annotations and Taints")."""
    found: dict[str, frozenset[str]] = {}
    for one in (pool, *pool.fallbacks):
        for each in requirements(one):
            found[each["key"]] = found.get(each["key"], frozenset()) | set(each["values"])
    if pool.managed:
        # A node of a node group has EKS's own label for the purchase option.
        found.pop(keys.CAPACITY_TYPE, None)
    regions = frozenset(_REGION_OF.findall(" ".join(found[ZONE])))
    return {**found, REGION: regions}


def _place(path: str, spec: Spec, pool: PoolSpec) -> Iterator[Problem]:
    """Zone, instance type, architecture, ... that the pod selects, and no node of the pool has."""
    values = node_values(pool)
    for key, value in (spec.get("nodeSelector") or {}).items():
        if value not in values.get(key, (value,)):
            yield _elsewhere(f"{path}.nodeSelector[{key}]", pool, key, value, values[key])
    unmet = ((each for each in term.get("matchExpressions") or () if not _met(each, values)) for term in _terms(spec))
    wrong = [next(each, None) for each in unmet]
    if wrong and (first := wrong[0]) is not None and all(each is not None for each in wrong):
        key, text = first["key"], f"{first['operator']} {', '.join(map(str, first.get('values') or ()))}".strip()
        yield _elsewhere(f"{path}.affinity.nodeAffinity[{key}]", pool, key, text, values[key])


def _met(expression: Mapping[str, Any], values: Mapping[str, frozenset[str]]) -> bool:
    """Whether a node of the pool can meet an expression; one about another label counts as met."""
    has = values.get(expression.get("key", ""))
    wanted = set(map(str, expression.get("values") or ()))
    if has is None:
        return True
    match expression.get("operator"):
        case "In":
            return bool(has & wanted)
        case "NotIn":
            return bool(has - wanted)
        case "DoesNotExist":
            return False
        case _:
            return True


def _elsewhere(path: str, pool: PoolSpec, key: str, value: str, has: frozenset[str]) -> Problem:
    listed = ", ".join(sorted(has))
    rule = f"nodes of pool {pool.name} have {key} {listed}"
    return Problem(path, rule, value, f"Remove it, write {listed}, or select a pool that has it.")


def tolerates(toleration: Mapping[str, str], taint: Mapping[str, str]) -> bool:
    """kubernetes.io, "Taints and Tolerations": an empty key or effect matches all."""
    if toleration.get("effect", taint["effect"]) != taint["effect"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key", taint["key"]) == taint["key"]
    return (toleration.get("key"), toleration.get("value", "")) == (taint["key"], taint.get("value", ""))


def _sharing(path: str, spec: Spec, pool: PoolSpec) -> Iterator[Problem]:
    """A second share isn't a second GPU: the device plugin refuses it to a container (`failRequestsGreaterThanOne`)."""
    containers = (*spec.get("containers", ()), *spec.get("initContainers", ()))
    wanted = max((_amounts(one).get(keys.GPU, Decimal(0)) for one in containers), default=Decimal(0))
    if pool.sharing is not None and wanted > 1:
        rule = f"GPUs of pool {pool.name} are shared, and a container can use only one share"
        yield Problem(f"{path}.resources[{keys.GPU}]", rule, int(wanted), "Request 1.")


def _device(path: str, pool: PoolSpec, name: str, amount: Decimal) -> Iterator[Problem]:
    offered = pool.resources.get(name, 0)
    if amount <= offered:
        return
    where = f"{path}.resources[{name}]"
    others = ", ".join(f"{count} {each}" for each, count in pool.resources.items()) or "no devices"
    if offered:
        fix = f"Request at most {offered}; distribute more over several pods."
        yield Problem(where, f"a node of pool {pool.name} has {offered}", int(amount), fix)
    elif name == keys.GPU and pool.mig and pool.mig.profiles:
        rule = f"the GPUs of pool {pool.name} are partitioned by MIG, and none is whole"
        yield Problem(where, rule, int(amount), f"Request a MIG instance; a node has {others}.")
    elif name.startswith(keys.MIG) and pool.gpu is not None:
        rule = f"pool {pool.name} has no such MIG instance"
        yield Problem(
            where,
            rule,
            int(amount),
            f"Request what a node has ({others}), or change the MIG layout (`mig`) of the pool.",
        )
    else:
        fix = f"Use another pool; a node of this one has {others}."
        yield Problem(where, f"pool {pool.name} doesn't offer it", int(amount), fix)


def _size(path: str, pool: PoolSpec, wanted: Mapping[str, Decimal]) -> Iterator[Problem]:
    nodes = allocatable(pool)
    if any(all(wanted.get(name, 0) <= node.amounts[name] for name in (CPU, MEMORY)) for node in nodes):
        return
    largest = max(nodes, key=lambda node: (node.memory_mib, node.cpu_millis))
    limits = {name: largest.amounts[name] for name in (CPU, MEMORY)}
    for name, maximum in limits.items():
        amount = wanted.get(name, Decimal(0))
        if amount > maximum:
            rule = (
                f"a {largest.instance_type} of pool {pool.name} has {readable(name, maximum)} of {name} for pods, "
                "after system reservations and DaemonSets"
            )
            requested = readable(name, amount)
            yield Problem(f"{path}.resources[{name}]", rule, requested, "Request less, or use a pool of larger nodes.")


def _space(path: str, spec: Spec, pool: PoolSpec, wanted: Mapping[str, Decimal]) -> Iterator[Problem]:
    """Ephemeral storage on the node's disk, without images. A node whose disk is full evicts its pods."""
    sizes = [
        volume["emptyDir"]["sizeLimit"]
        for volume in spec.get("volumes", ())
        if "sizeLimit" in volume.get("emptyDir", {}) and "medium" not in volume["emptyDir"]
    ]
    requested = sum((parse(size) for size in sizes if is_amount(size)), Decimal(0)) / 2**30
    # What the kubelet keeps (karpenter-provider-aws v1.14.1, instancetype/types.go: 1 Gi and a tenth).
    largest, asked = pool.scratch_gib * 9 // 10 - 1, wanted.get(keys.EPHEMERAL_STORAGE, Decimal(0)) / 2**30
    if asked > largest:
        rule = f"a node of pool {pool.name} has {largest} GiB of {keys.EPHEMERAL_STORAGE} for pods"
        fix = f"Request at most {largest}Gi, use a volume claim instead, or raise `disk.sizeGib` of the pool."
        yield Problem(f"{path}.resources[{keys.EPHEMERAL_STORAGE}]", rule, f"{asked:.0f} GiB", fix)
    left = pool.scratch_gib * (100 - DISK_KEPT_PERCENT) // 100
    if requested > left:
        rule = f"a node of pool {pool.name} has {left} GiB of disk for ephemeral storage and images"
        fix = "Use a volume claim instead, or raise `disk.sizeGib` of the pool."
        yield Problem(f"{path}.volumes", rule, f"{requested:.0f} GiB", fix)


@dataclass(frozen=True)
class Demand:
    """Pods of one template: what each requests, how many run at the same time, and the pools whose nodes they fit."""

    path: str
    wanted: Amounts
    count: int
    pools: Mapping[str, PoolSpec]


_ON_NODES: Final = "pods that run at the same time must fit on the nodes of their pools"
_WAYS: Final = 10_000  # choices of a pool for each template, beyond which none is tried


def together(
    demands: Sequence[Demand], shares: Mapping[str, int] | None, *, queued: bool
) -> Iterator[tuple[bool, Problem]]:
    """Pods that never run at the same time: beyond the team's shares (then true), or the nodes of their pools.

    Kueue gives all pods of a template one pool, and admits all or none (kueue.sigs.k8s.io, "Workload"); without it they
    may run on several.
    """
    for each in demands:
        if shares is not None and not set(each.pools) & set(shares):
            pool, known = ", ".join(each.pools), ", ".join(shares) or "no pool"
            rule, fix = f"the team must have a share of pool {pool}", f"It has shares of {known}; add one to the team."
            yield True, Problem(f"{each.path}.pools", rule, pool, fix)
            return
    if not queued and any(len(each.pools) > 1 for each in demands):
        for each in demands:
            most = sum(_at_most(pool, each.wanted, shares) for pool in each.pools.values())
            if each.count > most:
                rule = f"{_ON_NODES} and into the team's shares: {', '.join(each.pools)} can run {most} of them"
                yield False, Problem(each.path, rule, each.count, "Run fewer, or raise `max` of a pool, or a share.")
        return
    ways = list(islice(product(*(each.pools for each in demands)), _WAYS))
    found = [_beyond(demands, way, shares) for way in ways if len(ways) < _WAYS]
    if all(found):  # also without demands
        yield from sorted((one for one in found if one), key=lambda one: one[0])[:1]


def _beyond(
    demands: Sequence[Demand], way: Sequence[str], shares: Mapping[str, int] | None
) -> tuple[bool, Problem] | None:
    """What all pods together request too much, those of each template on one pool."""
    for pool in dict.fromkeys(way):
        own = [one for one, name in zip(demands, way, strict=True) if name == pool]
        spec, path = own[0].pools[pool], " + ".join(one.path for one in own)
        alone, parts = own[0].count, " + ".join(f"{one.count} of {one.path}" for one in own)
        offered = share_of(spec, shares.get(pool, 0)) if shares is not None else {}
        asked = {
            name: sum((one.wanted.get(name, Decimal(0)) * one.count for one in own), Decimal(0)) for name in offered
        }
        over = sorted((name for name, most in offered.items() if asked[name] > most), key=lambda name: "/" not in name)
        if over and shares is not None:
            over, kept = (over[:1], "") if "/" in over[0] else (over, ", which is what its nodes leave to pods")
            has = " and ".join(f"{readable(one, offered[one])} of {one}" for one in over)
            has = f"{shares.get(pool, 0)} of {pool} has {has}{kept}"
            rule = f"pods that run at the same time must fit into the team's share: {has}"
            fix = "Run fewer at the same time, or raise the team's share (`nominalQuota` or `borrowingLimit`)."
            needs = " and ".join(readable(one, asked[one]) + (f" of {one}" if kept else "") for one in over)
            given = alone if asked[over[0]] == alone else f"{needs}: {parts}"
            return True, Problem(path, rule, given, fix)
        groups, most_nodes = [(one.wanted, one.count) for one in own], spec.settings.max
        rooms = [one for one in allocatable(spec) if all(fitting(one.amounts, each) for each, _ in groups)]
        nodes = min((nodes_of(one, groups) for one in rooms), default=0)
        if nodes > most_nodes:
            rule, given = f"{_ON_NODES}: {pool} has at most {most_nodes}", f"{nodes}: {parts}"
            fix = "Run fewer at the same time, or raise `max` of the pool."
            return False, Problem(path, rule, alone if nodes == alone else given, fix)
    return None


def _at_most(pool: PoolSpec, wanted: Amounts, shares: Mapping[str, int] | None) -> int:
    nodes = pool.settings.max * max(fitting(node.amounts, wanted) for node in allocatable(pool))
    return nodes if shares is None else min(nodes, fits_in_share(pool, shares.get(pool.name, 0), wanted))


def fits_in_share(pool: PoolSpec, share: int, wanted: Mapping[str, Decimal]) -> int:
    """Number of pods that fit into a share of a pool: its GPUs, and the CPU and memory that belong to them."""
    return fitting(share_of(pool, share), wanted) if any(name in amounts(pool, share) for name in wanted) else 0


def share_of(pool: PoolSpec, share: int) -> dict[str, Decimal]:
    """What belongs to a share of a pool, in the units of requests."""
    offered = {name: Decimal(amount) for name, amount in amounts(pool, share).items()}
    return {**offered, CPU: offered[CPU] / 1000, MEMORY: offered[MEMORY] * MI}
