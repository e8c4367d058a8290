"""What is at risk: what ends on a date, and what is used up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from policies.runner import Finding
from slipway.report.advice import Month, Risk
from slipway.report.model import Quota, TeamView
from slipway.report.numbers import counted, usd
from spec.catalog import kubernetes
from spec.pricing import Estimate
from spec.settings.platform import Platform

MONTHS: Final = 12
"""Months of the time axis, the current one included."""
_NEAR: Final = Decimal("0.8")
"""Part of a budget or limit from which it is listed; the stack's own notifications begin at 80 % too."""


def risks(
    platform: Platform,
    bill: Estimate,
    quotas: Sequence[Quota],
    teams: Sequence[TeamView],
    violations: Sequence[Finding],
    today: date,
) -> tuple[Risk, ...]:
    """All risks: those that are so today first, then by date."""
    found = [*_version(platform, today), *_suppressions(violations, today), *_capacity(platform, today)]
    found += [*_quotas(quotas), *_budgets(platform, bill, teams)]
    return tuple(sorted(found, key=lambda risk: (risk.day or date.min, risk.what)))


def months(found: Sequence[Risk], today: date) -> tuple[tuple[Month, ...], tuple[int, ...]]:
    """The time axis, and the numbers of risks after its end. Numbers count from 1; risks without a date have none."""
    first = today.year * 12 + today.month - 1
    cells: dict[int, list[int]] = {index: [] for index in range(MONTHS)}
    later = []
    for number, risk in enumerate(found, 1):
        if risk.day is None:
            continue
        index = max(0, risk.day.year * 12 + risk.day.month - 1 - first)
        if index < MONTHS:
            cells[index].append(number)
        else:
            later.append(number)
    axis = []
    for index, numbers in cells.items():
        year, month = divmod(first + index, 12)
        axis.append(Month(name=date(year, month + 1, 1).strftime("%b"), year=year, risks=tuple(numbers)))
    return tuple(axis), tuple(later)


def _version(platform: Platform, today: date) -> Iterator[Risk]:
    version = platform.cluster.version
    known = kubernetes.VERSIONS.get(version)
    if known is None:
        return
    extended = kubernetes.support(version, today) != "standard"
    day = known.extended_until if extended else known.standard_until
    then = "EKS upgrades the control plane by itself" if extended else "the control plane costs six times as much"
    yield Risk(
        day=day,
        days=(day - today).days,
        what=f"{'extended' if extended else 'standard'} support of Kubernetes {version} ends",
        then=then,
        fix=f'set cluster.version: "{kubernetes.next_minor(version)}", in one environment after the other',
        section="cluster",
    )


def _suppressions(violations: Sequence[Finding], today: date) -> Iterator[Risk]:
    """One risk for each day on which suppressions in use end."""
    groups: dict[date, set[str]] = {}
    for one in violations:
        if one.suppression is not None:
            groups.setdefault(one.suppression.until, set()).add(one.id)
    for day, rules in sorted(groups.items()):
        names = ", ".join(sorted(rules)[:3]) + (f" and {len(rules) - 3} more" if len(rules) > 3 else "")
        yield Risk(
            day=day,
            days=(day - today).days,
            what=f"{counted(len(rules), 'suppression')} {'end' if len(rules) > 1 else 'ends'}",
            then=f"the findings are reported again: {names}",
            fix="fix the findings, or decide again with a later date in policies/suppressions.yaml",
            section="policies",
        )


def _capacity(platform: Platform, today: date) -> Iterator[Risk]:
    for name, pool in sorted(platform.pools.items()):
        end = pool.capacity.reservation.end_date if pool.capacity.reservation else None
        if end is not None:
            yield Risk(
                day=end,
                days=(end - today).days,
                what=f"the Capacity Block of pool {name} ends",
                then="EC2 terminates its nodes 30 minutes before the end",
                fix=f"buy another block, and set pools.{name}.capacity.reservation; or scale the pool to zero",
                section="cluster",
            )
    for name, approval in sorted(platform.cost.limits.premium.items()):
        yield Risk(
            day=approval.until,
            days=(approval.until - today).days,
            what=f"the approval of premium GPUs in pool {name} ends",
            then="the pool fails the policies",
            fix=f"decide again: cost.limits.premium.{name}.until",
            section="cost",
        )


def _quotas(quotas: Sequence[Quota]) -> Iterator[Risk]:
    full = [quota.pool for quota in quotas if quota.free <= 0]
    if full:
        yield Risk(
            day=None,
            what=f"teams have the whole quota of {counted(len(full), 'pool')}: {', '.join(full)}",
            then="another team gets no quota of its own, only what others lend",
            fix=f"raise pools.{full[0]}.max, or lower a team's nominalQuota",
            section="teams",
        )


def _budgets(platform: Platform, bill: Estimate, teams: Sequence[TeamView]) -> Iterator[Risk]:
    amounts = bill.amounts.month
    whole = platform.cost.monthly_budget_usd
    rows = [("the stack", amounts.expected, None if whole is None else Decimal(whole), "cost.monthlyBudgetUsd")]
    rows += [(f"team {one.name}", one.cost.expected, one.budget, f"teams.{one.name}.budgetUsd") for one in teams]
    for name, expected, budget, setting in rows:
        if budget and expected >= _NEAR * budget:
            yield Risk(
                day=None,
                what=f"{name} is expected to spend {expected / budget:.0%} of its budget",
                then=f"{usd(expected)} of {usd(budget)} a month",
                fix=f"see what saves most above, or raise {setting}",
                section="cost",
            )
