"""The kinds of changes that advice tries: a row for each, which yields changes of a stack.

A change needn't be valid: the search drops what `check` or a mandatory policy refuses.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.queues import with_topology
from spec.catalog import instances, mig, prices
from spec.catalog.instances import InstanceType
from spec.pools import PoolSpec, resolve_all
from spec.quantities import seconds
from spec.settings import Platform
from spec.settings.capacity import Market
from spec.settings.load import Edits
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.teams import Share

Path = tuple[str, ...]
_SPOT_TYPES: Final = 3  # instance types of a Spot pool at least: rule `spot-pool-diversified`
_AFTER: Final = ("1m", "5m")
_SHARERS: Final = (2, 4, 8)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A stack, and what the jobs of a trace ask for on it."""

    platform: Platform  # valid settings
    demand: Mapping[str, Mapping[str, float]]
    """GPU hours that jobs ask for, or CPU hours of a CPU pool, by pool and team."""

    @property
    def pools(self) -> Iterator[tuple[str, Pool, PoolSpec]]:
        """The pools for jobs that this stack can change: capacity that is paid for already stays as it is."""
        for name, spec in resolve_all(self.platform).items():
            pool = self.platform.pools.get(name)
            if pool is not None and pool.role is not Role.SYSTEM and pool.capacity.market is not Market.RESERVED:
                yield name, pool, spec

    def shares(self, pool: str) -> dict[Path, Share]:
        """Shares of a pool, by their path."""
        found: dict[Path, Share] = {}
        for team, one in self.platform.teams.items():
            for kind, shares in (("gpus", one.gpus), ("cpus", one.cpus)):
                if pool in shares and not one.retired:
                    found["teams", team, kind, pool] = shares[pool]
        return found


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of the stack file."""

    kind: str
    what: str  # what it does
    but: str  # what it costs otherwise, and what no replay shows
    edits: Edits  # the values


_Found = Iterator[tuple[str, Edits]]


def _maximum(subject: Subject) -> _Found:
    for name, pool, spec in subject.pools:
        for most in sorted({pool.max // 2, pool.max - 1, pool.max + 1, 2 * pool.max} - {0, pool.max}):
            if spec.dra:
                size: dict[Path, Any] = {("pools", name, key): most for key in ("min", "max")}
                yield f"{name}: {most} nodes instead of {pool.max}", size
            elif most >= pool.min:
                yield f"{name}: at most {most} nodes instead of {pool.max}", {("pools", name, "max"): most}


def _minimum(subject: Subject) -> _Found:
    for name, pool, spec in subject.pools:
        for least in sorted({0, pool.min // 2} - {pool.min}) if pool.min and not spec.dra else ():
            yield f"{name}: at least {least} nodes instead of {pool.min}", {("pools", name, "min"): least}
        if pool.capacity_buffer:
            yield f"{name}: no idle node in reserve", {("pools", name, "capacityBuffer"): 0}


def _types(subject: Subject) -> _Found:
    region = subject.platform.account.region
    for name, pool, spec in subject.pools:
        width = _SPOT_TYPES if pool.capacity.market is Market.SPOT else 1
        by_gpus: dict[int, list[InstanceType]] = {}
        for kind in _alternatives(spec, region):
            by_gpus.setdefault(kind.gpus, []).append(kind)
        for gpus, kinds in sorted(by_gpus.items()):
            for first in range(len(kinds) - width + 1):
                names = [one.name for one in kinds[first : first + width]]
                edits: dict[Path, Any] = {("pools", name, "instanceTypes"): names}
                if spec.gpu_count and gpus != spec.gpu_count:  # as many GPUs as before
                    edits["pools", name, "max"] = pool.max * spec.gpu_count // gpus
                    edits["pools", name, "min"] = -(-pool.min * spec.gpu_count // gpus)
                if set(names) != set(pool.instance_types) and edits.get(("pools", name, "max"), 1):
                    yield f"{name}: {', '.join(names)}", edits


def _alternatives(spec: PoolSpec, region: str) -> list[InstanceType]:
    """Types with the GPU of a pool, or the types of a CPU pool; the lowest price first."""
    book, own = prices.book(region), spec.instance_types[0]
    found = spec.instance_types
    if spec.gpu:
        gpu = (own.gpu_name, own.gpu_memory_mib, own.arch)
        every = instances.ALL.values()
        found = tuple(one for one in every if one.gpus and (one.gpu_name, one.gpu_memory_mib, one.arch) == gpu)
    priced = [
        (price.usd, one.name, one)
        for one in found
        if one.offered_in(region) is not False and (price := book.instance(one.name)) is not None
    ]
    return [one for _, _, one in sorted(priced)]


def _market(subject: Subject) -> _Found:
    for name, pool, spec in subject.pools:
        if pool.capacity.market is Market.ON_DEMAND:
            market: dict[Path, Any] = {("pools", name, "capacity", "market"): "spot"}
            yield f"{name}: Spot instead of on-demand", market
            same = [
                one.name for one in _alternatives(spec, subject.platform.account.region) if one.gpus == spec.gpu_count
            ]
            if spec.gpu and len(same) >= _SPOT_TYPES and len(pool.instance_types) < _SPOT_TYPES:
                several = same[:_SPOT_TYPES]
                yield f"{name}: Spot with {', '.join(several)}", {**market, ("pools", name, "instanceTypes"): several}


def _parts(subject: Subject) -> _Found:
    for name, pool, spec in subject.pools:
        if spec.gpu is None:
            continue
        path = ("pools", name, "mig")
        if spec.gpu.mig_capable and pool.sharing is None:
            layouts = [one for one in mig.layout_names(spec.gpu.name) if one != mig.DISABLED and "+me" not in one]
            for layout in layouts:
                if pool.mig is None or pool.mig.layout != layout:
                    yield f"{name}: MIG layout {layout}", {path: {"layout": layout}}
            if pool.mig is not None:
                yield f"{name}: whole GPUs instead of MIG", {path: None}
        if pool.mig is None:
            path = ("pools", name, "sharing")
            mode = pool.sharing.mode if pool.sharing else "time-slicing"
            for replicas in _SHARERS:
                if pool.sharing is None or pool.sharing.replicas != replicas:
                    shared = {path: {"mode": mode, "replicas": replicas}, **_plugged(name, spec)}
                    yield f"{name}: {replicas} pods share a GPU", shared
            if pool.sharing is not None:
                yield f"{name}: whole GPUs instead of shared ones", {path: None}


def _consolidation(subject: Subject) -> _Found:
    for name, pool, spec in subject.pools:
        for after in _AFTER:
            if not spec.managed and seconds(after) < seconds(pool.disruption.consolidate_after):
                what = f"{name}: remove an idle node after {after} instead of {pool.disruption.consolidate_after}"
                yield what, {("pools", name, "disruption", "consolidateAfter"): after}
        if pool.provisioner is Provisioner.MANAGED:
            path = ("pools", name)
            yield (
                f"{name}: nodes from Karpenter instead of a node group",
                {
                    (*path, "provisioner"): "karpenter",
                    (*path, "min"): 0,
                    (*path, "update"): None,
                    **_plugged(name, spec),
                },
            )


def _plugged(name: str, spec: PoolSpec) -> dict[Path, Any]:
    """Claims of devices give way to the device plugin, for what only that can do."""
    return {("pools", name, "gpuAllocation"): None} if spec.dra else {}


def _borrowing(subject: Subject) -> _Found:
    every: dict[Path, Any] = {}
    for name in subject.platform.pools:
        shares = subject.shares(name)
        total = sum(one.nominal_quota for one in shares.values())
        edits: dict[Path, Any] = {}
        for path, one in shares.items():
            if one.borrowing_limit != total - one.nominal_quota:
                edits[*path, "borrowingLimit"] = total - one.nominal_quota
            if one.lending_limit is not None:
                edits[*path, "lendingLimit"] = None
        if edits and len(shares) > 1:
            every |= edits
            yield f"{name}: each team may borrow all that others leave idle", edits
    if every:
        yield "all pools: each team may borrow all that others leave idle", every


def _quotas(subject: Subject) -> _Found:
    for name in subject.platform.pools:
        shares, asked = subject.shares(name), subject.demand.get(name, {})
        total, hours = sum(one.nominal_quota for one in shares.values()), math.fsum(asked.values())
        if len(shares) > 1 and hours:
            exact = {path: total * asked.get(path[1], 0.0) / hours for path in shares}
            given = _whole(exact, total)
            edits = {
                (*path, "nominalQuota"): amount
                for path, amount in given.items()
                if amount != shares[path].nominal_quota
            }
            if edits:
                parts = ", ".join(f"{path[1]} {amount}" for path, amount in given.items())
                yield f"{name}: quotas as the teams ask for it ({parts})", edits


def _whole(exact: Mapping[Path, float], total: int) -> dict[Path, int]:
    """Whole amounts with the same sum, by the largest remainder."""
    found = {path: int(amount) for path, amount in exact.items()}
    rest = sorted(exact, key=lambda path: (found[path] - exact[path], path))
    for path in rest[: total - sum(found.values())]:
        found[path] += 1
    return found


def _preemption(subject: Subject) -> _Found:
    queues = subject.platform.queues
    for key, now in (
        ("withinClusterQueue", queues.within_cluster_queue),
        ("reclaimWithinCohort", queues.reclaim_within_cohort),
    ):
        for value in ("Never", "LowerPriority"):
            if value != now:
                yield f"queues: {key} {value} instead of {now}", {("queues", key): value}


def _topology(subject: Subject) -> _Found:
    queues = subject.platform.queues
    pools = with_topology(resolve_all(subject.platform), queues.model_copy(update={"topology": True}))
    if pools and not queues.topology:
        yield (
            f"{', '.join(sorted(pools))}: Kueue looks for nodes before it admits a job",
            {("queues", "topology"): True},
        )


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of changes."""

    of: Callable[[Subject], _Found]  # yields what each change does, and its values
    but: str  # what such a change costs otherwise, and what no replay shows


KINDS: Final[Mapping[str, Kind]] = {
    "preemption": Kind(of=_preemption, but="urgent jobs may wait for others that hold their quota"),
    "consolidation": Kind(of=_consolidation, but="a job after a pause waits for a new node"),
    "types": Kind(of=_types, but="EC2 may have less of these types: the replay finds capacity always"),
    "borrowing": Kind(of=_borrowing, but="jobs on borrowed quota are preempted when its owner needs it"),
    "minimum": Kind(of=_minimum, but="the first job waits for a node"),
    "topology": Kind(of=_topology, but="jobs in YAML need an annotation of their topology, or are refused"),
    "sharing": Kind(of=_parts, but="a trace has no GPU memory: see that the jobs fit their part of it"),
    "quotas": Kind(of=_quotas, but="a guarantee of some teams becomes smaller"),
    "maximum": Kind(
        of=_maximum, but="a lower maximum leaves less for a busy week, a higher one raises the ceiling of the bill"
    ),
    "spot": Kind(of=_market, but="AWS reclaims nodes with two minutes' notice, which no replay shows: use checkpoints"),
}
"""Kinds by name, in the order in which they are tried."""


def changes(subject: Subject, without: frozenset[str] = frozenset()) -> Iterator[Change]:
    """Changes of a stack: the first of each kind, then the second of each, so that a bounded search tries all kinds."""
    rows = [
        [Change(kind=name, what=what, but=kind.but, edits=edits) for what, edits in kind.of(subject)]
        for name, kind in KINDS.items()
        if name not in without
    ]
    for number in range(max(map(len, rows), default=0)):
        yield from (row[number] for row in rows if number < len(row))
