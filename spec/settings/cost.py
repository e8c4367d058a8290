"""Settings of cost control: budgets, anomaly detection, schedules; limits, which the policy pack enforces before
anything is created; and typical use, which no other setting states and from which the expected bill is computed."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model, Name, Text, WindowDuration, pattern

UsdPerHour = Annotated[float, Field(ge=0.01, le=10_000_000)]


class Approval(Model):
    """Approval of on-demand premium GPUs in a pool outside production, until a date."""

    reference: Text
    """Where the approval is recorded: a ticket, an email, meeting minutes."""
    until: date
    """Last day of validity; from the next day, the pool fails the policies again."""


class Limits(Model):
    """Limits of the estimate of `slipway cost`, in USD per hour at list prices."""

    ceiling_usd_per_hour: UsdPerHour | None = None
    """Maximum cost with every pool at its maximum size."""
    floor_usd_per_hour: UsdPerHour | None = None
    """Maximum cost of an idle platform, with every pool at its minimum size."""
    pools: dict[Name, UsdPerHour] = Field(default_factory=dict)
    """Maximum cost of one pool at its maximum size, by pool."""
    premium: dict[Name, Approval] = Field(default_factory=dict)
    """Approvals of on-demand p4, p5 and p6 instances, by pool; production needs none."""


Gib = Annotated[float, Field(ge=0, le=1_000_000_000)]
Hours = Annotated[float, Field(ge=0, le=24)]
Purpose = Literal["raw", "checkpoints", "models", "state", "logs"]
Request = Literal["s3-write", "s3-read", "kms", "sqs", "sns", "secrets"]


class PoolUse(Model):
    """Use of a pool. Outside its hours a pool is at its minimum."""

    nodes: Annotated[float, Field(ge=0, le=1000)]
    """Average number of nodes while the pool is in use: `1.5`."""
    hours_per_weekday: Hours = 24
    """Hours of use per day, Monday to Friday."""
    hours_per_weekend_day: Hours = 24
    """Hours of use per day, Saturday and Sunday."""
    instance_type: str | None = None
    """The pool's instance type that mostly runs; if unset, a managed pool's first, a Karpenter pool's lowest-priced."""
    usd_per_node_hour: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """Contract price of a node per hour, in USD: that of a Capacity Block or of a Savings Plan."""


class BalancerUse(Model):
    """A load balancer that your Services, Ingresses or Gateways create."""

    kind: Literal["application", "network"] = "application"
    """Application or Network Load Balancer, which are billed in different units."""
    capacity_units: Annotated[float, Field(ge=0, le=1_000_000)] = 1
    """Average use in capacity units (LCU, NLCU)."""
    public: bool = False
    """Whether it has a public address in each zone."""


class TransferUse(Model):
    """Data transfer, in GiB per month. Inbound traffic from the internet is free."""

    internet_gib: Gib = 0
    """To the internet."""
    between_zones_gib: Gib = 0
    """Between zones, counted once; AWS bills both ends."""
    other_regions_gib: Gib = 0
    """To other regions."""


class FilesUse(Model):
    """Use of the shared file system (EFS), in GiB."""

    standard_gib: Gib = 0
    """Data in the Standard class."""
    infrequent_gib: Gib = 0
    """Data in Infrequent Access."""
    read_gib: Gib = 0
    """Read per month."""
    written_gib: Gib = 0
    """Written per month."""


class Usage(Model):
    """Typical use. Billable use that is not declared here is listed as unpriced and is in no sum."""

    pools: dict[Name, PoolUse] = Field(default_factory=dict)
    """Nodes and hours, by pool; a pool without an entry is expected at its minimum size."""
    spot_discount_percent: Annotated[int, Field(ge=1, le=95)] | None = None
    """Average Spot discount, in percent; the middle of the catalog's range if unset."""
    buckets: dict[Purpose, Gib] = Field(default_factory=dict)
    """GiB in each bucket: `raw`, `checkpoints`, `models`, `state`, `logs`."""
    efs: FilesUse | None = None
    """Use of the shared file system (EFS)."""
    claims_gib: Gib | None = None
    """GiB of block volumes (gp3) that pods of teams claim; volumes of add-ons are counted without it."""
    images_gib: Gib | None = None
    """GiB of images in ECR."""
    nat_gib: Gib | None = None
    """GiB per month through NAT gateways."""
    endpoints_gib: Gib | None = None
    """GiB per month through interface endpoints."""
    logs_gib: Gib | None = None
    """GiB per month that the control plane and databases write to CloudWatch Logs."""
    container_logs_gib: Gib | None = None
    """GiB per month that containers write to CloudWatch Logs (`addons.fluentBit`)."""
    flow_logs_gib: Gib | None = None
    """GiB of flow logs per month."""
    logs_kept_gib: Gib | None = None
    """GiB of logs stored in CloudWatch Logs."""
    transfer: TransferUse | None = None
    """Data that leaves a zone, a region or AWS."""
    load_balancers: dict[Name, BalancerUse] = Field(default_factory=dict)
    """Load balancers, by a name of your choice; the cluster creates them, not the stack."""
    requests: dict[Request, Annotated[int, Field(ge=0, le=10**15)]] = Field(default_factory=dict)
    """Requests per month, by kind."""


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
    """Pools that scale to zero. Karpenter's nodes drain: each goes when its last pod that may not be disrupted ends."""
    notebooks: bool = False
    """End the notebook sessions of all teams at `stop`; their volumes stay, and users start new sessions."""


class IdleGpus(Model):
    """GPUs are taken back from queued jobs that don't use them: the team is warned, and then Kueue stops the job.

    A job is idle if none of its GPUs works for 5 % of the time. Its team keeps them with the annotation
    `platform.slipway/keep-gpus-until` of one of its pods. Needs kueue, kube-prometheus-stack and gpuOperator.
    """

    after: WindowDuration = "2h"
    """Time without use until the team is warned, by an event of its job."""
    warning: WindowDuration = "1h"
    """Time from the warning until the job is stopped."""


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
    idle_gpus: IdleGpus | None = None
    """Take GPUs back from queued jobs that don't use them; off if unset."""
    schedules: dict[Name, Schedule] = Field(default_factory=dict)
    """Scheduled shutdowns, for nights and weekends, by name."""
    limits: Limits = Field(default_factory=Limits)
    """Limits of the ceiling and floor of the estimate; the policy pack refuses more."""
    usage: Usage = Field(default_factory=Usage)
    """Typical use, from which the expected bill is computed."""
