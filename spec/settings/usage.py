"""Settings of what is typically used: what no other setting says, and the expected bill rests on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model, Name

Gib = Annotated[float, Field(ge=0, le=1_000_000_000)]
Hours = Annotated[float, Field(ge=0, le=24)]
Purpose = Literal["raw", "checkpoints", "models", "state", "logs"]
Request = Literal["s3-write", "s3-read", "kms", "sqs", "sns", "secrets"]


class PoolUse(Model):
    """How much a pool is used. Outside its hours a pool is at its minimum."""

    nodes: Annotated[float, Field(ge=0, le=1000)]
    """Nodes that run while it is in use, on average: `1.5`."""
    hours_per_weekday: Hours = 24
    """Hours of use on each day from Monday to Friday."""
    hours_per_weekend_day: Hours = 24
    """Hours of use on each of Saturday and Sunday."""
    instance_type: str | None = None
    """Type that mostly runs, of the pool's; its first where a managed pool names none, its cheapest with Karpenter."""
    usd_per_node_hour: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """What a node costs by your own contract: that of a Capacity Block, or of a Savings Plan."""


class BalancerUse(Model):
    """A load balancer that Services, Ingresses or Gateways of yours ask for."""

    kind: Literal["application", "network"] = "application"
    """Application or Network Load Balancer; they are billed by different units."""
    capacity_units: Annotated[float, Field(ge=0, le=1_000_000)] = 1
    """Capacity units (LCU, NLCU) that it uses on average."""
    public: bool = False
    """Whether it has a public address in each zone."""


class TransferUse(Model):
    """Data that moves, in GiB a month. What comes in from the internet is free."""

    internet_gib: Gib = 0
    """To the internet."""
    between_zones_gib: Gib = 0
    """Between zones, counted once; AWS bills it at both ends."""
    other_regions_gib: Gib = 0
    """To other regions."""


class FilesUse(Model):
    """Use of the shared file system (EFS)."""

    standard_gib: Gib = 0
    """What is used often."""
    infrequent_gib: Gib = 0
    """What has gone to Infrequent Access."""
    read_gib: Gib = 0
    """Read in a month."""
    written_gib: Gib = 0
    """Written in a month."""


class Usage(Model):
    """Typical use. What is not given is listed as unpriced where it costs money, and is in no sum."""

    pools: dict[Name, PoolUse] = Field(default_factory=dict)
    """Nodes and hours, by pool; a pool without an entry is expected at its minimum."""
    spot_discount_percent: Annotated[int, Field(ge=1, le=95)] | None = None
    """What Spot saves on average; the middle of the catalog's range where not given."""
    buckets: dict[Purpose, Gib] = Field(default_factory=dict)
    """GiB in each bucket: `raw`, `checkpoints`, `models`, `state`, `logs`."""
    efs: FilesUse | None = None
    """The shared file system."""
    claims_gib: Gib | None = None
    """GiB of block volumes (gp3) that pods of teams claim; those of add-ons are known."""
    images_gib: Gib | None = None
    """GiB of images in ECR."""
    nat_gib: Gib | None = None
    """GiB a month through NAT gateways."""
    endpoints_gib: Gib | None = None
    """GiB a month through interface endpoints."""
    logs_gib: Gib | None = None
    """GiB a month that the control plane and databases write to CloudWatch."""
    flow_logs_gib: Gib | None = None
    """GiB of flow logs a month."""
    logs_kept_gib: Gib | None = None
    """GiB of logs that CloudWatch keeps."""
    transfer: TransferUse | None = None
    """Data that leaves a zone, a region or AWS."""
    load_balancers: dict[Name, BalancerUse] = Field(default_factory=dict)
    """Load balancers, by a name of yours: the cluster makes them, not the stack."""
    requests: dict[Request, Annotated[int, Field(ge=0, le=10**15)]] = Field(default_factory=dict)
    """Requests a month, by kind."""
