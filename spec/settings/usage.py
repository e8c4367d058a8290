"""Settings of typical use, which no other setting states and from which the expected bill is computed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model, Name

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
