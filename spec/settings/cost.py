"""Settings of what keeps the bill in bounds: budgets, anomalies, schedules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.settings.base import Model, Name
from spec.settings.limits import Limits
from spec.settings.usage import Usage

Percent = Annotated[int, Field(ge=1, le=1000)]
Usd = Annotated[int, Field(ge=1, le=1_000_000_000)]
MonitorArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:ce::[0-9]{12}:anomalymonitor/[0-9a-f-]{36}$")]
TagKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:/=+@-]{1,128}$")]


class Schedule(Model):
    """When something is off, as two points of time that come again and again: `0 20 * * MON-FRI`."""

    stop: str
    """When it goes off, in the five fields of cron."""
    start: str | None = None
    """When pools come on again."""
    timezone: str = "UTC"
    """Time zone of both, by its IANA name: `Europe/Paris`."""
    pools: tuple[Name, ...] = ()
    """Managed pools whose nodes all go."""
    notebooks: bool = False
    """End the notebook sessions of all teams at `stop`; their disks stay, and people start new ones."""


class Cost(Model):
    """Bounds of the bill."""

    monthly_budget_usd: Usd | None = None
    """What the environment may cost in a month, in USD; no budget where not given."""
    budget_covers: Literal["account", "environment"] = "account"
    """What the budget counts: the whole account, or what carries the environment's tag, where several environments
    share an account. The payer must have activated the tag `environment`; what can't be tagged is missed."""
    thresholds: Annotated[tuple[Percent, ...], Field(min_length=1, max_length=9)] = (50, 80, 100)
    """Percents of a budget at which its subscribers are told; and once more when the forecast passes 100."""
    anomaly_usd: Usd | None = None
    """Tell of an unusual rise of any service's cost by at least this much, in USD; not watched where not given."""
    anomaly_monitor_arn: MonitorArn | None = None
    """Watch of AWS services that the account has already, for it may have one only (aws.amazon.com, AWS Cost Anomaly
    Detection FAQs, read 2026-11); one is made where not given."""
    team_budgets: bool = False
    """An AWS budget for each team that has one, over what carries its tag `team`. The payer must have activated the
    tag; nodes that teams share do not carry it, and are counted by the cost tool on the cluster."""
    allocation_tags: tuple[TagKey, ...] = ()
    """Tags to activate for cost allocation. Only the organisation's payer account may, and only a day after a tag was
    first used."""
    schedules: dict[Name, Schedule] = Field(default_factory=dict)
    """Nights and weekends, by name."""
    limits: Limits = Field(default_factory=Limits)
    """What the stack may cost at its largest and at its least; the policy pack refuses more."""
    usage: Usage = Field(default_factory=Usage)
    """Typical use, on which the expected bill rests."""
