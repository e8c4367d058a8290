"""Checks of teams' shares against the pools, and against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import chain
from math import ceil

from spec.settings.addons import Addons
from spec.settings.addons.batch import Kueue
from spec.settings.checks.base import Context
from spec.settings.checks.machines import known_types
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.problems import Problem
from spec.settings.teams import Share, Team

Pools = Mapping[str, Pool]
Teams = Mapping[str, Team]


def pools_named(context: Context, teams: Teams, pools: Pools) -> Iterator[Problem]:
    """Shares name existing pools, under the key of their kind, and not the system pool."""
    for team, settings in teams.items():
        for kind, shares in (("gpus", settings.gpus), ("cpus", settings.cpus)):
            for pool in shares:
                path = f"teams.{team}.{kind}.{pool}"
                if pool in pools:
                    yield from _sort_of(path, kind, pool, pools[pool])
                elif context.whole("pools"):
                    near = get_close_matches(pool, pools, n=1)
                    fitting = sorted(name for name in pools if not list(_sort_of("", kind, name, pools[name])))
                    fix = f"Did you mean `{near[0]}`?" if near else f"Use one of {', '.join(fitting)}."
                    yield Problem(path, "the pool must exist", pool, fix)


def _sort_of(path: str, kind: str, name: str, pool: Pool) -> Iterator[Problem]:
    if pool.role is Role.SYSTEM:
        rule = "the system pool is for controllers and has no flavor"
        yield Problem(path, rule, name, "Use a pool of another role.")
    elif known_types(pool) and _is_gpu(pool) != (kind == "gpus"):
        other = "cpus" if kind == "gpus" else "gpus"
        has = "GPUs" if _is_gpu(pool) else "no GPUs"
        yield Problem(path, f"`{kind}` does not apply to this pool: the pool has {has}", name, f"Move it to `{other}`.")


def something_shared(_context: Context, teams: Teams) -> Iterator[Problem]:
    """A team has a share of at least one pool, and no share is empty."""
    for team, settings in teams.items():
        if not settings.shares:
            rule = "a team needs a share of at least one pool"
            yield Problem(f"teams.{team}", rule, None, "Add `gpus:` or `cpus:` with a pool's name.")
        for path, share in _paths(team, settings):
            if share.maximum == 0:
                yield Problem(
                    path, "a share must not be empty", 0, "Set `nominalQuota` or `borrowingLimit`, or remove it."
                )
            if share.lendable > share.nominal_quota:
                rule = f"a team lends at most its nominalQuota ({share.nominal_quota})"
                yield Problem(
                    f"{path}.lendingLimit",
                    rule,
                    share.lending_limit,
                    f"Use {share.nominal_quota} or less, or remove it.",
                )


def shares_fit(_context: Context, teams: Teams, pools: Pools) -> Iterator[Problem]:
    """A pool can hold the teams' nominal quota; otherwise Kueue admits pods that wait for a machine forever."""
    for name, pool in pools.items():
        owners = {
            team: settings.shares[name].nominal_quota for team, settings in teams.items() if name in settings.shares
        }
        nominal, maximum = sum(owners.values()), capacity(pool)
        if maximum and nominal > maximum:
            unit = _unit(pool)
            rule = f"teams have a nominal quota of {nominal} {unit}, and the pool has at most {maximum}"
            largest = sorted(owners, key=lambda team: (-owners[team], team))[:3]
            shown = ", ".join(f"{team} ({owners[team]})" for team in largest)
            nodes = ceil(nominal * pool.max / maximum)
            yield Problem(f"pools.{name}.max", rule, pool.max, f"Use {nodes}, or lower `nominalQuota` of {shown}.")


def borrowing_fits(context: Context, teams: Teams, addons: Addons) -> Iterator[Problem]:
    """Other teams lend what a team may borrow."""
    if not context.whole("teams"):
        return
    lendable: dict[str, int] = {}
    for settings in teams.values():
        for pool, share in settings.shares.items():
            lendable[pool] = lendable.get(pool, 0) + share.lendable
    for team, settings in teams.items():
        for path, share in _paths(team, settings):
            if share.borrowing_limit == 0:
                continue
            offered = lendable[path.rpartition(".")[2]] - share.lendable
            if not addons.has(Kueue):
                rule = "borrowing needs Kueue, which returns borrowed quota"
                yield Problem(
                    f"{path}.borrowingLimit", rule, share.borrowing_limit, "Remove it, or add `kueue: {}` to addons."
                )
            elif share.borrowing_limit > offered:
                rule = f"the other teams of the cohort lend {offered} of this pool"
                fix = f"Use {offered}, or let others lend more." if offered else "Remove it, or let others lend some."
                yield Problem(f"{path}.borrowingLimit", rule, share.borrowing_limit, fix)


def pools_unshared(context: Context, teams: Teams, pools: Pools) -> Iterator[Problem]:
    """A pool without a share of any team is idle: its flavor is in no queue."""
    if not teams or not context.whole("teams"):
        return
    shared = set(chain.from_iterable(settings.shares for settings in teams.values()))
    for name, pool in pools.items():
        if pool.role is not Role.SYSTEM and name not in shared:
            rule = "no team has a share of the pool, so no queued workload can run on it"
            fix = f"Give a team a share, or remove the pool: `{'gpus' if _is_gpu(pool) else 'cpus'}: {{{name}: ...}}`."
            yield Problem(f"pools.{name}", rule, name, fix)


def capacity(pool: Pool) -> int:
    """Maximum size of the pool, in the unit of shares: GPUs or vCPUs.

    A managed group gets whichever of its types is available, so its smallest counts; Karpenter starts the largest if a
    pod needs it.
    """
    kinds = known_types(pool)
    if not kinds:
        return 0
    if _is_gpu(pool):
        return pool.max * min(kind.gpus for kind in kinds)
    sizes = [kind.vcpus for kind in kinds]
    return pool.max * (min(sizes) if pool.provisioner is Provisioner.MANAGED else max(sizes))


def _is_gpu(pool: Pool) -> bool:
    return any(kind.gpus for kind in known_types(pool))


def _unit(pool: Pool) -> str:
    return "GPUs" if _is_gpu(pool) else "vCPUs"


def _paths(team: str, settings: Team) -> Iterator[tuple[str, Share]]:
    for kind, shares in (("gpus", settings.gpus), ("cpus", settings.cpus)):
        for pool, share in shares.items():
            yield f"teams.{team}.{kind}.{pool}", share
