"""Where a pool's machines come from, and how they are shared and replaced."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.settings.base import Duration, Model, Name, WindowDuration


class Market(StrEnum):
    """How EC2 sells the machines."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    """Cheap, and reclaimed with two minutes' notice: work on it must checkpoint."""
    RESERVED = "reserved"
    """A capacity reservation that is already paid for: On-Demand Capacity Reservation or Capacity Block."""


class Reservation(Model):
    """A capacity reservation made outside the stack, because it is bought for a time and not for a deployment."""

    kind: Literal["odcr", "capacity-block"]
    """On-Demand Capacity Reservation, or Capacity Block for ML."""
    id: Annotated[str, StringConstraints(pattern=r"^cr-[0-9a-f]{8,17}$")]
    """EC2's id of the reservation."""


class Capacity(Model):
    """Market of a pool, with its reservation."""

    market: Market = Market.ON_DEMAND
    reservation: Reservation | None = None
    """The reservation, with `market: reserved` only."""


class Disk(Model):
    """Root volume: gp3, encrypted. Bounds are those of gp3 (botocore 1.44.5, ec2 `EbsBlockDevice`), but for the least
    size, which is ours."""

    size_gib: Annotated[int, Field(ge=20, le=65536)] = 100
    """Size in GiB: images, logs and what pods write outside volumes."""
    iops: Annotated[int, Field(ge=3000, le=80000)] = 3000
    """Operations a second, at most 500 for each GiB; 3,000 are in the price."""
    throughput_mibps: Annotated[int, Field(ge=125, le=2000)] = 125
    """Throughput in MiB/s, at most 0.25 for each operation a second; 125 are in the price."""


class Mig(Model):
    """How the GPUs of a pool are cut by Multi-Instance GPU: a named layout, or one of your own."""

    layout: str | None = None
    """A layout of NVIDIA's mig-parted: `all-1g.10gb`, `all-balanced`."""
    profiles: dict[str, Annotated[int, Field(ge=1, le=7)]] = Field(default_factory=dict)
    """Instances of each profile on every GPU: `{1g.10gb: 4, 3g.40gb: 1}`."""


class Sharing(Model):
    """How several pods share each GPU of a pool, without a wall between their memories."""

    mode: Literal["time-slicing", "mps"]
    """`time-slicing`: in turns, each with the whole memory. `mps`: at the same time, each with its part of the memory
    and of the threads, by NVIDIA's Multi-Process Service."""
    replicas: Annotated[int, Field(ge=2, le=48)]
    """Pods on each GPU, or on each MIG instance; 48 is the most that MPS serves (NVIDIA MPS documentation,
    "Architecture": clients of Volta and later GPUs)."""


class Budget(Model):
    """How many nodes Karpenter may disrupt at once, always or in a window (karpenter.sh/v1 NodePool budgets)."""

    nodes: Annotated[str, StringConstraints(pattern=r"^([0-9]+|[0-9]{1,2}%|100%)$")]
    """A count or a percentage, quoted: "0", "10%"."""
    schedule: Annotated[str, StringConstraints(pattern=r"^(\S+\s+){4}\S+$")] | None = None
    """Five-field cron in UTC at which the window opens; only together with `duration`."""
    duration: WindowDuration | None = None
    """How long the window stays open; only together with `schedule`."""
    reasons: tuple[Literal["Empty", "Underutilized", "Drifted"], ...] = ()
    """What the budget limits; all reasons where none is named."""


class Disruption(Model):
    """When Karpenter may take a node away."""

    consolidation_policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized"] = "WhenEmpty"
    """`WhenEmpty` never moves a running training job."""
    consolidate_after: Duration = "10m"
    """How long a node must have been idle."""
    expire_after: Duration | Literal["Never"] = "336h"
    """Age at which a node is replaced, for patches."""
    termination_grace_period: Duration = "24h"
    """Longest time that a node waits for its pods before it goes all the same."""
    budgets: dict[Name, Budget] = Field(default_factory=dict)
    """Limits by a name of yours; the strictest that holds at a time counts."""


class Update(Model):
    """How a managed node group rolls to a new launch template or version."""

    max_unavailable_percentage: Annotated[int, Field(ge=1, le=100)] = 33
    """Share of the nodes, in percent, that may be replaced at once."""
    force: bool = False
    """Go on when a PodDisruptionBudget keeps a node from draining."""
