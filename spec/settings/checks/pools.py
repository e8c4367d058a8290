"""Checks of each pool on its own: bounds, role, provisioner, versions, zones; what it tries when EC2 has none of its
capacity; and of a Capacity Block whether its dates are whole and the pool runs its nodes on the right days.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from spec.catalog import amis, kubernetes
from spec.settings.capacity import Reservation
from spec.settings.checks import machines
from spec.settings.checks.base import Context, of_ours, warns
from spec.settings.cluster import Cluster
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.problems import Problem

KARPENTER_MIN_NODES: Final = 2
"""Nodes that Karpenter's two replicas need, which never run on the same node."""
_RELEASE: Final = {
    Provisioner.MANAGED: (re.compile(r"^\d+\.\d+\.\d+-\d{8}$|^\d+\.\d+\.\d+$"), "1.35.0-20261101"),
    Provisioner.KARPENTER: (re.compile(r"^v(\d{8}|\d+\.\d+\.\d+)$"), "v20261101"),
}

_CHANGE_LOG: Final = "Take it from the AMI's change log."
_OLD: Final = timedelta(days=180)
"""Half of the age from which facts of the catalog are old: an AMI holds kernel, driver and container runtime."""


def bounds(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Minimum and maximum are consistent."""
    for name, pool in pools.items():
        if pool.min > pool.max:
            rule = f"min must be at most max ({pool.max})"
            yield Problem(f"pools.{name}.min", rule, pool.min, f"Use {pool.max} or less, or raise max.")
        if pool.provisioner is Provisioner.KARPENTER and pool.min > 0:
            rule = "a Karpenter pool starts from zero"
            yield Problem(f"pools.{name}.min", rule, pool.min, "Remove min, or use `provisioner: managed`.")


def settings_in_use(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Settings in the file that the pool's provisioner would ignore."""
    for name, pool in pools.items():
        ignored = "disruption" if pool.provisioner is Provisioner.MANAGED else "update"
        own = context.own_keys("pools", name)
        if ignored in own:
            rule = f"`{ignored}` has no effect with `provisioner: {pool.provisioner}`"
            yield Problem(f"pools.{name}.{ignored}", rule, own[ignored], "Remove it, or change the provisioner.")


@of_ours
def system_pool(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A managed system pool exists, on which the controllers always run."""
    systems = {name: pool for name, pool in pools.items() if pool.role is Role.SYSTEM}
    if not systems and context.whole("pools"):
        yield Problem("pools", "one pool must have the role system", sorted(pools), "Add `system: {preset: system}`.")
    for name, pool in systems.items():
        if pool.provisioner is not Provisioner.MANAGED:
            rule = "the system pool can't depend on Karpenter, which runs on it"
            yield Problem(f"pools.{name}.provisioner", rule, str(pool.provisioner), "Use `provisioner: managed`.")
        elif pool.min < KARPENTER_MIN_NODES:
            rule = (
                f"the system pool needs at least {KARPENTER_MIN_NODES} nodes, one for each replica of the controllers"
            )
            yield Problem(f"pools.{name}.min", rule, pool.min, f"Use {KARPENTER_MIN_NODES} or more.")


def zones_of_network(context: Context, pools: dict[str, Pool], network: Network) -> Iterator[Problem]:
    """A pool's zones are zones of the network."""
    for name, pool in pools.items():
        for zone in pool.zones:
            if zone not in network.zones:
                rule = "the zone must be one of the network's"
                yield Problem(f"pools.{name}.zones", rule, zone, f"Use {', '.join(network.zones)}, or add it there.")


def versions(context: Context, pools: dict[str, Pool], cluster: Cluster) -> Iterator[Problem]:
    """Nodes are not newer than the control plane, and within the version skew."""
    for name, pool in pools.items():
        path = f"pools.{name}.version"
        if pool.version is not None:
            skew = kubernetes.skew(pool.version, cluster.version)
            if pool.provisioner is Provisioner.KARPENTER:
                fix = "Remove it: new nodes get the control plane's version; delay their replacement with `disruption`."
                yield Problem(path, "a Karpenter pool has no version of its own", pool.version, fix)
            elif skew is None or not 0 <= skew <= kubernetes.SKEW:
                rule = f"nodes may be 0 to {kubernetes.SKEW} minor versions older than the cluster's {cluster.version}"
                yield Problem(path, rule, pool.version, f"Use {cluster.version}, or remove it.")
        pattern, example = _RELEASE[pool.provisioner]
        if pool.ami_release is not None and not pattern.match(pool.ami_release):
            rule = f"an AMI release of a {pool.provisioner} pool looks like {example}"
            yield Problem(f"pools.{name}.amiRelease", rule, pool.ami_release, _CHANGE_LOG)
        elif pool.provisioner is Provisioner.MANAGED and pool.os == "al2023":
            yield from _of_version(f"pools.{name}.amiRelease", pool.ami_release, pool.version or cluster.version)
    yield from _of_version("cluster.amiRelease", cluster.ami_release, cluster.version)


def _of_version(path: str, release: str | None, version: str) -> Iterator[Problem]:
    """EKS refuses a release of another Kubernetes version than the node group's."""
    if release is not None and not release.startswith(f"{version}."):
        yield Problem(path, f"the nodes run Kubernetes {version}, and so must their AMI", release, _CHANGE_LOG)


def gpus_isolated(context: Context, pools: dict[str, Pool], cluster: Cluster) -> Iterator[Problem]:
    """Nodes with GPUs have a release on which no container sees the GPUs of another."""
    wrong: dict[str, tuple[str, date]] = {}
    for name, pool in pools.items():
        shared = cluster.ami_release if pool.version in (None, cluster.version) else None
        day = amis.released(release := pool.ami_release or shared or "")
        if (
            day
            and day < (since := amis.isolates_gpus_since(pool.os))
            and any(one.gpus for one in machines.known_types(pool))
        ):
            wrong[f"pools.{name}.amiRelease" if pool.ami_release else "cluster.amiRelease"] = (release, since)
    for path, (release, since) in wrong.items():
        rule = f"on GPU nodes of releases before {since} containers see each other's GPUs"
        yield Problem(path, rule, release, "Take a newer one.")


@warns
def releases_ageing(context: Context, pools: dict[str, Pool], cluster: Cluster) -> Iterator[Problem]:
    """AMI releases that lack the fixes of half a year (a warning)."""
    pinned = {f"pools.{name}.amiRelease": pool.ami_release for name, pool in pools.items()}
    for path, release in {"cluster.amiRelease": cluster.ami_release, **pinned}.items():
        day = amis.released(release) if release else None
        if day is not None and context.today - day > _OLD:
            rule = f"an AMI release is at most {_OLD.days} days old: AWS publishes one with fixes about weekly"
            fix = "Take a newer one: `slipway doctor --aws STACK` names the newest."
            yield Problem(path, rule, release, fix)


def budgets(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A window has both a start and a length (Karpenter refuses one without the other)."""
    for name, pool in pools.items():
        for key, budget in pool.disruption.budgets.items():
            if (budget.schedule is None) != (budget.duration is None):
                path = f"pools.{name}.disruption.budgets.{key}"
                given = budget.schedule or budget.duration
                yield Problem(path, "schedule and duration go together", given, "Set both, or neither.")


_OWN: Final = re.compile(r"(\.fallbacks\.\d+)\.capacity\.")
"""Part of a path in a pool that a fallback does not have."""


def usable(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Fallbacks and idle nodes are Karpenter's, and a fallback's name is not that of a pool or of another one."""
    for name, pool in pools.items():
        managed = pool.provisioner is Provisioner.MANAGED
        path = f"pools.{name}.capacity.fallbacks"
        if managed and pool.capacity.fallbacks:
            fix = "Use `provisioner: karpenter`, or make a pool of each and let queues try them (`queues.poolOrder`)."
            yield Problem(path, "a managed pool has one kind of capacity", [*pool.fallbacks], fix)
        if managed and pool.capacity_buffer:
            fix = "Raise min, or use `provisioner: karpenter`."
            yield Problem(
                f"pools.{name}.capacityBuffer", "only Karpenter keeps idle nodes ready", pool.capacity_buffer, fix
            )
        if pool.efa and pool.capacity.fallbacks:
            rule = "nodes of an EFA pool are in one place, which another capacity is not"
            yield Problem(path, rule, [*pool.fallbacks], "Make a pool of each, and name them in queues.poolOrder.")
        if pool.capacity_buffer > pool.max:
            rule = f"idle nodes count towards max ({pool.max})"
            yield Problem(f"pools.{name}.capacityBuffer", rule, pool.capacity_buffer, "Use less, or raise max.")
        names = [one.name for one in pool.capacity.fallbacks]
        for position, given in enumerate(names):
            if given in names[:position] or f"{name}-{given}" in context.named("pools"):
                rule = f"the NodePool {name}-{given} would exist twice"
                yield Problem(f"{path}.{position}.name", rule, given, "Use another name.")


def machines_fit(context: Context, pools: dict[str, Pool], network: Network) -> Iterator[Problem]:
    """A fallback's types, zones and market follow the rules of a pool's, and its types have the pool's GPUs."""
    for name, pool in pools.items():
        for position, (given, one) in enumerate(zip(pool.capacity.fallbacks, pool.fallbacks.values(), strict=False)):
            path = f"{name}.capacity.fallbacks.{position}"
            problems = list(machines.markets(context, {path: one}))
            if given.instance_types:
                both = one.model_copy(update={"instance_types": (*pool.instance_types, *given.instance_types)})
                problems += [*machines.types_exist(context, {path: one}), *machines.types_alike(context, {path: both})]
                problems += machines.pods_addressed(context, {path: one}, network)
            yield from (replace(problem, path=_OWN.sub(r"\1.", problem.path)) for problem in problems)
            for zone in given.zones:
                if zone not in network.zones:
                    rule, fix = "the zone must be one of the network's", f"Use {', '.join(network.zones)}."
                    yield Problem(f"pools.{path}.zones", rule, zone, fix)


DAYS: Final = frozenset((*range(1, 15), *range(21, 183, 7)))
"""Possible lengths: 1 to 14 days, then weeks up to 182 days (botocore 1.44.5, ec2 DescribeCapacityBlockOfferings,
`CapacityDurationHours`)."""


def dates(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A managed pool on a Capacity Block names both days, and the settings are of no use elsewhere."""
    for name, pool in pools.items():
        reservation, path = pool.capacity.reservation, f"pools.{name}.capacity.reservation"
        if reservation is None:
            continue
        managed = reservation.kind == "capacity-block" and pool.provisioner is Provisioner.MANAGED
        if reservation.active and not managed:
            rule = "only a managed pool on a Capacity Block is switched by `active`"
            fix = "Remove it: Karpenter and on-demand reservations use what is active."
            yield Problem(f"{path}.active", rule, True, fix)
        missing = [key for key in ("start_date", "end_date") if getattr(reservation, key) is None]
        if managed and missing:
            rule = "a managed pool on a Capacity Block needs the days on which the block starts and ends"
            fix = "Add `startDate` and `endDate`, as `aws ec2 describe-capacity-reservations` shows them."
            yield Problem(path, rule, reservation.id, fix)
        length = _length(reservation)
        if reservation.kind == "capacity-block" and length is not None and length not in DAYS:
            rule = "a Capacity Block lasts 1 to 14 days, or 21 to 182 days in weeks"
            yield Problem(f"{path}.endDate", rule, str(reservation.end_date), "Use the days of the purchased block.")


def too_early(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """No nodes before the block starts: EC2 launches none, and the node group fails after half an hour."""
    for name, reservation, start, _ in _dated(pools):
        if reservation.active and context.today < start:
            rule = f"the Capacity Block starts on {start}, and EC2 launches no instance before"
            yield Problem(f"pools.{name}.capacity.reservation.active", rule, True, "Set it on that day.")


@warns
def out_of_step(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A block that is paid for and not used, or that has ended (a warning)."""
    for name, reservation, start, end in _dated(pools):
        path = f"pools.{name}.capacity.reservation.active"
        if not reservation.active and start <= context.today < end:
            rule = f"the Capacity Block is paid for from {start} to {end}, and the pool has no nodes"
            yield Problem(path, rule, False, "Set `active: true`, except for an upgrade.")
        if reservation.active and context.today >= end:
            rule = f"the Capacity Block ends on {end}, and EC2 terminates its instances"
            yield Problem(path, rule, True, "Set `active: false`, so that jobs are drained; then name the next block.")


def _dated(pools: dict[str, Pool]) -> Iterator[tuple[str, Reservation, date, date]]:
    for name, pool in pools.items():
        reservation = pool.capacity.reservation
        if reservation is None or pool.provisioner is not Provisioner.MANAGED or reservation.kind != "capacity-block":
            continue
        if reservation.start_date is not None and reservation.end_date is not None:
            yield name, reservation, reservation.start_date, reservation.end_date


def _length(reservation: Reservation) -> int | None:
    if reservation.start_date is None or reservation.end_date is None:
        return None
    return (reservation.end_date - reservation.start_date).days
