"""Teams, and their quotas in the pools."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from slipway.report.model import Part, Quota, TeamView
from spec.pools.pool_spec import PoolSpec
from spec.pricing import Amounts, Estimate
from spec.settings.platform import Platform


def teams(platform: Platform, bill: Estimate) -> tuple[TeamView, ...]:
    """Every team, by name."""
    costs = bill.by_team()
    return tuple(
        TeamView(
            name=name,
            project=team.project,
            cost_center=team.cost_center,
            members=len(team.members),
            namespaces=tuple(team.namespaces_of(name)),
            weight=team.weight,
            storage_gib=team.storage_gib,
            budget=None if team.budget_usd is None else Decimal(team.budget_usd),
            cost=costs.get(name, Amounts()).month,
        )
        for name, team in sorted(platform.teams.items())
    )


def quotas(platform: Platform, specs: Mapping[str, PoolSpec]) -> tuple[Quota, ...]:
    """Every pool in which a team has a quota: GPU pools first."""
    shared = {pool for team in platform.teams.values() for pool in team.shares}
    pools = (specs[name] for name in sorted(shared & specs.keys()))
    return tuple(_quota(platform, spec) for spec in sorted(pools, key=lambda spec: (not spec.gpu_count, spec.name)))


def _quota(platform: Platform, spec: PoolSpec) -> Quota:
    size = spec.settings.max * (spec.gpu_count or max(kind.vcpus for kind in spec.instance_types))
    shares = {name: team.shares[spec.name] for name, team in platform.teams.items() if spec.name in team.shares}
    whole = max(size, sum(share.nominal_quota for share in shares.values()), 1)
    parts, start = [], 0
    tones = {name: index for index, name in enumerate(sorted(platform.teams))}
    for name, share in sorted(shares.items()):
        width = 100 * share.nominal_quota / whole
        parts.append(
            Part(
                team=name,
                tone=tones[name],
                nominal=share.nominal_quota,
                borrow=share.borrowing_limit,
                lend=share.lendable,
                start=round(100 * start / whole, 3),
                width=round(width, 3),
            )
        )
        start += share.nominal_quota
    return Quota(pool=spec.name, unit="GPU" if spec.gpu_count else "vCPU", size=size, parts=tuple(parts))
