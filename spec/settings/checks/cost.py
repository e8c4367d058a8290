"""Checks of budgets, schedules and their recipients, of cost limits, and of declared use: they name existing parts,
within the sizes of the pools, and do not contradict each other.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from zoneinfo import available_timezones

from spec.quantities import seconds
from spec.settings.addons import Addons
from spec.settings.addons.batch import Kueue
from spec.settings.addons.gpu import GpuOperator
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.capacity import Market
from spec.settings.checks.addons import key_of
from spec.settings.checks.base import Context, warns
from spec.settings.cost import Cost, PoolUse, Schedule
from spec.settings.network import Nat, Network
from spec.settings.notifications import Notifications
from spec.settings.pools import Pool, Role
from spec.settings.problems import Problem
from spec.settings.storage import Storage
from spec.settings.teams import Team

_FIELDS: Final = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")),
    ("day of week", 0, 6, ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")),
)
"""Fields of cron as both EC2 Auto Scaling and Kubernetes take them (botocore 1.44.5, autoscaling `Recurrence`;
kubernetes.io, "CronJob"). Sunday is 0 alone: Kubernetes has no 7."""
LOOKED_SECONDS: Final = 600
IDLE_SECONDS: Final = 72 * 3600
_SUBSCRIBE: Final = "Add `notifications: {emails: [...]}`."
_PART: Final = re.compile(r"^(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?$")


def thresholds(_context: Context, cost: Cost) -> Iterator[Problem]:
    """Thresholds increase."""
    if any(later <= earlier for earlier, later in pairwise(cost.thresholds)):
        fix = f"Use {sorted(set(cost.thresholds))}."
        yield Problem("cost.thresholds", "each threshold must be above the one before", list(cost.thresholds), fix)


def has_recipient(_context: Context, cost: Cost, notifications: Notifications) -> Iterator[Problem]:
    """A budget or anomaly detection needs a recipient of its notifications."""
    guards = {"cost.monthlyBudgetUsd": cost.monthly_budget_usd, "cost.anomalyUsd": cost.anomaly_usd}
    for path, value in guards.items():
        if value is not None and not notifications.wanted:
            yield Problem(path, "its notifications need a recipient", value, _SUBSCRIBE)


def one_monitor(_context: Context, cost: Cost) -> Iterator[Problem]:
    """Anomaly detection uses the account's one monitor of services, or creates it: AWS refuses a second one ("Limit
    exceeded on dimensional spend monitor creation", aws-cloudformation/cloudformation-coverage-roadmap#2515)."""
    named, created = cost.anomaly_monitor_arn is not None, cost.create_anomaly_monitor
    if named and created:
        rule = "an account has one anomaly monitor of services, and the stack names it"
        yield Problem("cost.createAnomalyMonitor", rule, True, "Remove this line, or `anomalyMonitorArn`.")
    elif cost.anomaly_usd is not None and not named and not created:
        rule = "anomaly detection needs the account's monitor of services, or must create it"
        fix = (
            "If `aws ce get-anomaly-monitors` lists one of type DIMENSIONAL, set `anomalyMonitorArn` to its ARN; "
            "otherwise set `createAnomalyMonitor: true`."
        )
        yield Problem("cost.anomalyMonitorArn", rule, None, fix)


@warns
def teams_have_recipient(_context: Context, notifications: Notifications, teams: dict[str, Team]) -> Iterator[Problem]:
    """The budget of a team is only shown on a dashboard (a warning)."""
    for name, team in teams.items():
        if team.budget_usd is not None and not notifications.wanted:
            yield Problem(
                f"teams.{name}.budgetUsd", "no recipient is notified when it is exceeded", team.budget_usd, _SUBSCRIBE
            )


@warns
def budgets_fit(_context: Context, cost: Cost, teams: dict[str, Team]) -> Iterator[Problem]:
    """The budgets of all teams together fit the environment's (a warning: not all teams use theirs up)."""
    promised = sum(team.budget_usd or 0 for team in teams.values())
    if cost.monthly_budget_usd is not None and promised > cost.monthly_budget_usd:
        rule = f"the budgets of all teams add up to {promised} USD, more than the environment's"
        yield Problem("cost.monthlyBudgetUsd", rule, cost.monthly_budget_usd, "Raise it, or lower the teams' budgets.")


def jobs_fit(_context: Context, cost: Cost, teams: dict[str, Team]) -> Iterator[Problem]:
    """One job costs no more than its team, or the environment, has for a month."""
    for name, team in teams.items():
        month = min((each for each in (team.budget_usd, cost.monthly_budget_usd) if each is not None), default=None)
        if team.job_usd is not None and month is not None and team.job_usd > month:
            rule = f"one job may cost more than the budget of a month, {month} USD"
            yield Problem(f"teams.{name}.jobUsd", rule, team.job_usd, "Lower it, or raise the budget.")


def schedules(_context: Context, cost: Cost) -> Iterator[Problem]:
    """Each schedule on its own."""
    for name, schedule in cost.schedules.items():
        path = f"cost.schedules.{name}"
        for key, expression in (("stop", schedule.stop), ("start", schedule.start)):
            if expression is not None and (wrong := _cron(expression)) is not None:
                fix = "Write five fields: `0 20 * * MON-FRI`."
                yield Problem(f"{path}.{key}", wrong, expression, fix)
        yield from _ends(path, schedule)
        known = available_timezones()
        if known and schedule.timezone not in known:
            fix = "Use an IANA name: `UTC`, `Europe/Paris`."
            yield Problem(f"{path}.timezone", "the time zone must exist", schedule.timezone, fix)


def _ends(path: str, schedule: Schedule) -> Iterator[Problem]:
    """A schedule stops something, and what it stops starts again."""
    if not schedule.pools and not schedule.notebooks:
        yield Problem(path, "a schedule must stop something", None, "Name pools, or set `notebooks: true`.")
    if schedule.pools and schedule.start is None:
        yield Problem(f"{path}.start", "pools that stop must start again", None, "Add `start: 0 7 * * MON-FRI`.")
    elif not schedule.pools and schedule.start is not None:
        rule = "notebooks don't restart by themselves: users start new sessions"
        yield Problem(f"{path}.start", rule, schedule.start, "Remove it, or name pools.")
    elif schedule.start is not None and schedule.stop.split() == schedule.start.split():
        rule = "start and stop must be at different times"
        yield Problem(f"{path}.start", rule, schedule.start, "Change one of the two.")


def scheduled_pools(context: Context, cost: Cost, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Pools that a schedule can and may stop, each by one schedule."""
    taken: dict[str, str] = {}
    for name, schedule in cost.schedules.items():
        path = f"cost.schedules.{name}.pools"
        for pool in schedule.pools:
            if pool not in context.named("pools"):
                yield Problem(path, "the pool must exist", pool, f"Use {', '.join(sorted(context.named('pools')))}.")
            elif pool in pools and (refused := _refused(pools[pool])) is not None:
                rule, fix = refused
                yield Problem(path, rule, pool, fix)
            elif pool in taken:
                yield Problem(
                    path, f"a pool has at most one schedule, and this one is in {taken[pool]}", pool, "Remove one."
                )
            taken.setdefault(pool, name)


def _refused(pool: Pool) -> tuple[str, str] | None:
    if pool.role is Role.SYSTEM:
        return "the system pool runs the controllers and never stops", "Remove it."
    if pool.capacity.market is Market.RESERVED:
        return "reserved machines are billed whether they run or not", "Remove it."
    return None


def _cron(expression: str) -> str | None:
    """Error in a cron expression; None if it is valid."""
    parts = expression.split()
    if len(parts) != len(_FIELDS):
        return f"a cron expression has {len(_FIELDS)} fields, and this one has {len(parts)}"
    for text, (field, low, high, words) in zip(parts, _FIELDS, strict=True):
        if not all(_fits(part, low, high, words) for part in text.split(",")):
            return f"the {field} must be from {low} to {high}"
    return None


def _fits(part: str, low: int, high: int, words: tuple[str, ...]) -> bool:
    match = _PART.match(part)
    if match is None:
        return False
    first, last, step = match.groups()
    numbers = [_number(text, low, words) for text in (first, last) if text is not None]
    known = [number for number in numbers if number is not None and low <= number <= high]
    return len(known) == len(numbers) and known == sorted(known) and (step is None or int(step) > 0)


def _number(text: str, low: int, words: tuple[str, ...]) -> int | None:
    if text.upper() in words:
        return words.index(text.upper()) + low
    return int(text) if text.isdecimal() else None


def limits_of_pools(context: Context, cost: Cost, _pools: dict[str, Pool]) -> Iterator[Problem]:
    """A limit or an approval names an existing pool."""
    named = {"pools": list(cost.limits.pools), "premium": list(cost.limits.premium)}
    for key, names in named.items():
        for name in names:
            if name not in context.named("pools"):
                fix = f"Name one of {', '.join(sorted(context.named('pools')))}, or remove the entry."
                yield Problem(f"cost.limits.{key}.{name}", "must be a pool of this stack", name, fix)


def floor_below_ceiling(_context: Context, cost: Cost) -> Iterator[Problem]:
    """The floor is not above the ceiling."""
    floor, ceiling = cost.limits.floor_usd_per_hour, cost.limits.ceiling_usd_per_hour
    if floor is not None and ceiling is not None and floor > ceiling:
        fix = "Lower the floor, or raise the ceiling."
        yield Problem("cost.limits.floorUsdPerHour", f"must not be above the ceiling, {ceiling}", floor, fix)


def use_of_pools(context: Context, cost: Cost, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A pool's use is between its minimum and its maximum, on one of its types."""
    for name, use in cost.usage.pools.items():
        path = f"cost.usage.pools.{name}"
        if name not in context.named("pools"):
            fix = f"Name one of {', '.join(sorted(context.named('pools')))}, or remove the entry."
            yield Problem(path, "must be a pool of this stack", name, fix)
        elif name in pools:
            yield from _use_fits(path, use, pools[name])


def use_of_what_is_there(
    _context: Context, cost: Cost, network: Network, storage: Storage, addons: Addons
) -> Iterator[Problem]:
    """Use of a part that the stack does not have is an error: it would be priced."""
    usage = cost.usage
    shipped = addons.fluent_bit is not None and addons.fluent_bit.destination == "cloudwatch"
    absent = {
        "natGib": (usage.nat_gib, network.nat is Nat.NONE, "network.nat is `none`"),
        "endpointsGib": (usage.endpoints_gib, not network.endpoints, "network.endpoints is empty"),
        "flowLogsGib": (usage.flow_logs_gib, not network.flow_logs.enabled, "network.flowLogs is off"),
        "containerLogsGib": (usage.container_logs_gib, not shipped, "addons.fluentBit does not write to CloudWatch"),
        "efs": (usage.efs, storage.efs is None, "storage.efs is not set"),
    }
    for key, (given, missing, why) in absent.items():
        if given and missing:
            shown = given if isinstance(given, float) else "settings"
            yield Problem(f"cost.usage.{key}", f"must not be set while {why}", shown, "Remove it.")


def idle_gpus_measured(_context: Context, cost: Cost, addons: Addons) -> Iterator[Problem]:
    """Somebody measures GPUs, and somebody stops jobs."""
    missing = [key_of(kind) for kind in (Kueue, KubePrometheusStack, GpuOperator) if not addons.has(kind)]
    if missing and cost.idle_gpus is not None:
        fix = f"Add {', '.join(f'`{name}: {{}}`' for name in missing)} to addons, or remove idleGpus."
        yield Problem("cost.idleGpus", f"needs the add-ons {', '.join(missing)}", None, fix)


def idle_gpus(_context: Context, cost: Cost) -> Iterator[Problem]:
    """The times are longer than the time between two looks."""
    if cost.idle_gpus is None:
        return
    for key, value in (("after", cost.idle_gpus.after), ("warning", cost.idle_gpus.warning)):
        if not LOOKED_SECONDS <= seconds(value) <= IDLE_SECONDS:
            rule = "must be at least 10m, as often as GPUs are looked at, and at most 72h, a weekend"
            yield Problem(f"cost.idleGpus.{key}", rule, value, "Use 1h.")


def _use_fits(path: str, use: PoolUse, pool: Pool) -> Iterator[Problem]:
    if not pool.min <= use.nodes <= pool.max:
        rule = f"must be from the pool's min to its max, {pool.min} to {pool.max}"
        yield Problem(f"{path}.nodes", rule, use.nodes, "Change it, or the pool.")
    if use.instance_type is not None and use.instance_type not in pool.instance_types:
        fix = f"Use {', '.join(pool.instance_types)}."
        yield Problem(f"{path}.instanceType", "must be a type of the pool", use.instance_type, fix)
