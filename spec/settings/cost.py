"""Settings of cost control: budgets, anomaly detection, schedules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model, Name
from spec.settings.limits import Limits
from spec.settings.patterns import pattern
from spec.settings.usage import Usage

Percent = Annotated[int, Field(ge=1, le=1000)]
Usd = Annotated[int, Field(ge=1, le=1_000_000_000)]
MonitorArn = Annotated[
    str,
    pattern(
        r"^arn:aws[a-z-]*:ce::[0-9]{12}:anomalymonitor/[0-9a-f-]{36}$",
        rule="the value must be the ARN of an anomaly monitor",
        fix="Take it from `aws ce get-anomaly-monitors`.",
    ),
]
TagKey = Annotated[
    str,
    pattern(
        r"^[A-Za-z0-9_.:/=+@-]{1,128}$",
        rule="a tag key has 1 to 128 letters, digits and _.:/=+@-",
        fix="Use only those characters, and no spaces.",
    ),
]


class Schedule(Model):
    """A scheduled shutdown: when pools and notebooks stop, and when pools start again."""

    stop: str
    """When to stop, as a five-field cron expression: `0 20 * * MON-FRI`."""
    start: str | None = None
    """When pools start again, as a cron expression; only with `pools`."""
    timezone: str = "UTC"
    """IANA time zone of both expressions: `Europe/Paris`."""
    pools: tuple[Name, ...] = ()
    """Managed pools that scale to zero."""
    notebooks: bool = False
    """End the notebook sessions of all teams at `stop`; their volumes stay, and users start new sessions."""


class Cost(Model):
    """Cost control."""

    monthly_budget_usd: Usd | None = None
    """Monthly AWS budget of the environment, in USD; no budget if unset."""
    budget_covers: Literal["account", "environment"] = "account"
    """What the budget counts: the whole account, or resources with the environment's tag, for accounts that several
    environments share. The payer must have activated the tag `environment`; untaggable costs are not counted."""
    thresholds: Annotated[tuple[Percent, ...], Field(min_length=1, max_length=9)] = (50, 80, 100)
    """Percentages of a budget at which subscribers are notified; also when the forecast exceeds 100."""
    anomaly_usd: Usd | None = None
    """Notify of an unusual rise of a service's cost by at least this amount, in USD; no anomaly detection if unset."""
    anomaly_monitor_arn: MonitorArn | None = None
    """Existing anomaly monitor of AWS services, as `aws ce get-anomaly-monitors` lists it; required with `anomalyUsd`
    unless the stack creates the monitor."""
    create_anomaly_monitor: bool = False
    """Create the account's anomaly monitor of AWS services. An account has only one (aws.amazon.com, AWS Cost Anomaly
    Detection FAQs, read 2026-11), and AWS refuses a second one: set it in one stack of an account without a monitor."""
    team_budgets: bool = False
    """Create an AWS budget for each team with `budgetUsd`, over resources with its tag `team`. The payer must have
    activated the tag. Nodes that teams share don't carry it: the cost tool on the cluster counts them."""
    allocation_tags: tuple[TagKey, ...] = ()
    """Tags to activate for cost allocation. Only the organization's payer account can, from a day after a tag's first
    use."""
    schedules: dict[Name, Schedule] = Field(default_factory=dict)
    """Scheduled shutdowns, for nights and weekends, by name."""
    limits: Limits = Field(default_factory=Limits)
    """Limits of the ceiling and floor of the estimate; the policy pack refuses more."""
    usage: Usage = Field(default_factory=Usage)
    """Typical use, from which the expected bill is computed."""
