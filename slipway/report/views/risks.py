"""What is at risk: what ends on a date, and what is used up; findings of policies, limitations of a report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from policies.rule import environment
from policies.rules import BY_NAME
from policies.runner import Finding
from sandbox.aws.limits.operations import OPERATIONS
from slipway.render.recording import Recording
from slipway.report.advice import Month, Risk
from slipway.report.model import Caveat, Evaluation, FindingView, Quota, SuppressedFinding, TeamView
from slipway.report.page import cents, counted, usd
from slipway.report.plan import Plan, Verb, kind
from slipway.report.plan.compare import finding_name
from spec.catalog import kubernetes, prices
from spec.pricing import Estimate
from spec.settings import Problem
from spec.settings.platform import Platform

# What is at risk: what ends on a date, and what is used up.


MONTHS: Final = 12  # months of the time axis, the current one included
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
    found += [*_quotas(quotas, bill), *_budgets(platform, bill, teams)]
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
            fix="fix the findings, or approve them until a later date in policies/suppressions.yaml",
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
            then="the policy pack refuses the pool",
            fix=f"have it approved for longer in cost.limits.premium.{name}.until, or lower pools.{name}.max to 0",
            section="cost",
        )


def _quotas(quotas: Sequence[Quota], bill: Estimate) -> Iterator[Risk]:
    full = [quota.pool for quota in quotas if quota.free <= 0]
    if full:
        # What costs nothing first.
        nodes = {line.pool: line.high for line in bill.lines if line.item == "nodes"}
        node = f": a node costs {cents(nodes[full[0]])} an hour while it runs" if full[0] in nodes else ""
        yield Risk(
            day=None,
            what=f"teams have the whole quota of {counted(len(full), 'pool')}: {', '.join(full)}",
            then="another team gets no quota of its own, only what others lend",
            fix=f"lower a team's nominalQuota, which costs nothing, or raise pools.{full[0]}.max{node}",
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
                fix=f"see the settings that save, above, or raise {setting}",
                section="cost",
            )
    if whole is not None and amounts.ceiling > whole:
        pools = {name: sum(line.ceiling for line in bill.lines if line.pool == name) for name in platform.pools}
        dearest = max(pools, key=lambda name: pools[name])
        yield Risk(
            day=None,
            what=f"with all pools at their maximum the stack spends {amounts.ceiling / whole:.0%} of its budget",
            then=f"{usd(amounts.ceiling)} of {usd(Decimal(whole))} a month: the budget sends notices, it stops nothing",
            fix=f"lower pools.{dearest}.max, or raise cost.monthlyBudgetUsd",
            section="cost",
        )


# The policy findings on the program.


_LEVELS: Final = ("mandatory", "advisory")
_SEVERITIES: Final = ("critical", "high", "medium", "low")


def evaluation(findings: Sequence[Finding], stack: str, today: date) -> Evaluation:
    """Active findings, mandatory ones first, and suppressions in use."""
    stage = environment(stack)
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        if one.counts(today):
            groups.setdefault(one.id, []).append(one)
    views = [_view(group, stage) for group in groups.values()]

    def rank(view: FindingView) -> tuple[int, int, str]:
        severity = _SEVERITIES.index(view.severity) if view.severity in _SEVERITIES else len(_SEVERITIES)
        return (_LEVELS.index(view.level), severity, view.rule)

    return Evaluation(
        rules=len(BY_NAME),
        findings=tuple(sorted(views, key=rank)),
        suppressions=_suppressed([one for one in findings if not one.counts(today)]),
        suppressed=sum(not one.counts(today) for one in findings),
    )


def _view(group: Sequence[Finding], stage: str) -> FindingView:
    first = group[0]
    rule = BY_NAME[first.rule]
    return FindingView(
        level=rule.levels.of(stage).value,
        severity=rule.severity.value,
        rule=first.id,
        title=rule.title,
        cases=tuple(sorted((_name(one), one.message.removeprefix(f"[{one.check}] ")) for one in group)),
        external_ids=rule.checks[first.check].external_ids,
    )


def _name(one: Finding) -> str:
    return finding_name(one.urn)


def _suppressed(suppressed: Sequence[Finding]) -> tuple[SuppressedFinding, ...]:
    groups: dict[tuple[str, str, str, str], set[str]] = {}
    for one in suppressed:
        if one.suppression is not None:
            why = one.suppression
            key = (one.id, why.reason, why.owner, why.until.isoformat())
            groups.setdefault(key, set()).add(_name(one))
    return tuple(
        SuppressedFinding(rule=rule, reason=reason, owner=owner, until=until, resources=tuple(sorted(names)))
        for (rule, reason, owner, until), names in sorted(groups.items())
    )


# The limitations of a report.


def caveats(recording: Recording, bill: Estimate, plan: Plan, warnings: Sequence[Problem]) -> tuple[Caveat, ...]:
    """Every limitation of the report, with its items."""
    return tuple(_all(recording, bill, plan, warnings))


def _all(recording: Recording, bill: Estimate, plan: Plan, warnings: Sequence[Problem]) -> Iterator[Caveat]:
    if warnings:
        cases = tuple(str(warning) for warning in warnings)
        yield Caveat(
            what="Warnings about the settings", why="The settings are valid, but should be reviewed.", cases=cases
        )
    if bill.unpriced:
        yield Caveat(
            what="Unpriced items",
            why="They cost money, but are not in the totals of this report.",
            cases=tuple(f"{item.what}: {item.why}" for item in bill.unpriced),
        )
    used = prices.book(bill.region).region
    if used != bill.region:
        why = f"The catalog has no prices for {bill.region}: run slipway catalog prices --region {bill.region}."
        yield Caveat(what=f"Prices are for {used}", why=why, cases=())
    yield from _of_plan(plan)
    yield from _recorded(recording)
    yield Caveat(
        what="No access to AWS",
        why="The report is generated from the program and its settings, without credentials. Account quotas, capacity, "
        "names already in use and manual changes only show in slipway preview and slipway up.",
        cases=(),
    )


def _of_plan(plan: Plan) -> Iterator[Caveat]:
    unsure = [change.name for change in plan.changes if change.verb is Verb.MAYBE]
    if unsure:
        why = "It is not known whether AWS applies these changes in place. Run slipway preview to see it."
        yield Caveat(what="Update or replacement unknown", why=why, cases=tuple(sorted(unsure)))
    for note in plan.notes:
        yield Caveat(what="Scope of the comparison", why=note, cases=())


def _recorded(recording: Recording) -> Iterator[Caveat]:
    """Types that the sandbox checks only against the SDK's schema. Helm releases depend on the available charts."""
    counts = Counter(one.type for one in recording if one.type.startswith("aws:") and one.type not in OPERATIONS)
    if counts:
        yield Caveat(
            what="Types only recorded by the sandbox",
            why="The sandbox checks these only against the SDK's schema; AWS validates them during slipway up.",
            cases=tuple(f"{kind(token)}: {count}" for token, count in sorted(counts.items())),
        )
