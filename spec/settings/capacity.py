"""Settings of a pool's machines: market, reservation, root volume, MIG, GPU sharing, disruption, updates."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from spec.catalog import instances
from spec.catalog.amis import Arch
from spec.catalog.instances import InstanceType
from spec.settings.base import Day, Duration, Model, Name, WindowDuration, pattern


class Market(StrEnum):
    """EC2 purchase option."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    """Low cost, but EC2 reclaims instances with two minutes' notice: jobs must checkpoint."""
    RESERVED = "reserved"
    """A capacity reservation that is already paid for: On-Demand Capacity Reservation or Capacity Block."""


class Reservation(Model):
    """A capacity reservation. It is made outside the stack, because it is bought for a period, not for a deployment."""

    kind: Literal["odcr", "capacity-block"]
    """On-Demand Capacity Reservation, or Capacity Block for ML."""
    id: Annotated[
        str,
        pattern(
            r"^cr-[0-9a-f]{8,17}$",
            rule="the ID must be that of an EC2 capacity reservation",
            fix="Write it like cr-0a1b2c3d4e5f67890.",
        ),
    ]
    """ID of the reservation in EC2."""
    start_date: Day | None = None
    """Day on which a Capacity Block starts, in UTC: "2026-12-01"; required for a managed pool."""
    end_date: Day | None = None
    """Day on which a Capacity Block ends, in UTC; required for a managed pool."""
    active: bool = False
    """Run the nodes of a managed pool on this Capacity Block. Set it when EC2 reports the state `active`, and unset it
    before an upgrade and before the block ends: the node group then has 0 nodes."""


class Fallback(Model):
    """Capacity that Karpenter tries when the pool's own, and the fallbacks before this one, have none."""

    name: Name
    """Name of the fallback: with that of the pool it names a NodePool, so renaming it replaces its nodes."""
    market: Market = Market.ON_DEMAND
    reservation: Reservation | None = None
    """Reservation; only with `market: reserved`."""
    instance_types: tuple[str, ...] = ()
    """EC2 instance types with the GPUs of the pool; the pool's if empty."""
    zones: tuple[str, ...] = ()
    """Zones; the pool's if empty."""
    max: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Maximum number of nodes, beside those of the pool and of other fallbacks; the pool's if unset."""


class Capacity(Model):
    """Purchase option of a pool, its reservation, and what is tried when EC2 has no such capacity."""

    market: Market = Market.ON_DEMAND
    reservation: Reservation | None = None
    """Reservation; only with `market: reserved`."""
    fallbacks: tuple[Fallback, ...] = ()
    """Capacity to try next, in this order; Karpenter pools only. All have the pool's label and taints, and the pool's
    queue covers them."""


class InstanceRequirements(Model):
    """Instance types by family and generation: those of the catalog that meet all of it. Their names are required as
    well, so that nothing runs that is not checked and priced."""

    families: tuple[str, ...] = ()
    """Families: `m7i`, `g6e`; any if empty."""
    categories: tuple[str, ...] = ()
    """Letters before the generation: `c`, `m`, `r`; any if empty."""
    generations: tuple[int, ...] = ()
    """Generations: 7 and 8 of m7i and c8g; any if empty."""
    sizes: tuple[str, ...] = ()
    """Sizes: `xlarge`, `2xlarge`; any if empty."""
    arch: Arch = "x86_64"
    """Processor architecture. Pods for `arm64` tolerate the taint `kubernetes.io/arch=arm64:NoSchedule`."""

    def types(self, region: str | None) -> tuple[str, ...]:
        """Names of the types, smallest first, without those that the region lacks."""
        found = [
            kind for kind in instances.ALL.values() if self._met(kind) and kind.offered_in(region or "") is not False
        ]
        return tuple(kind.name for kind in sorted(found, key=lambda kind: (kind.vcpus, kind.memory_mib, kind.name)))

    def _met(self, kind: InstanceType) -> bool:
        wanted = ((self.families, kind.family), (self.categories, kind.category), (self.generations, kind.generation))
        given = (*wanted, (self.sizes, kind.name.partition(".")[2]), ((self.arch,), kind.arch))
        return all(not allowed or value in allowed for allowed, value in given)


class Disk(Model):
    """Root volume: gp3, encrypted. Bounds are those of gp3 (botocore 1.44.5, ec2 `EbsBlockDevice`), except the minimum
    size, which is Slipway's."""

    size_gib: Annotated[int, Field(ge=20, le=65536)] = 100
    """Size in GiB, for images, logs and what pods write outside volumes."""
    iops: Annotated[int, Field(ge=3000, le=80000)] = 3000
    """I/O operations per second (IOPS), at most 500 per GiB; 3,000 are included in the price."""
    throughput_mibps: Annotated[int, Field(ge=125, le=2000)] = 125
    """Throughput in MiB/s, at most 0.25 per IOPS; 125 are included in the price."""


class Mig(Model):
    """How the GPUs of a pool are partitioned with Multi-Instance GPU: a named layout, or one of your own."""

    layout: str | None = None
    """A layout of NVIDIA's mig-parted: `all-1g.10gb`, `all-balanced`."""
    profiles: dict[str, Annotated[int, Field(ge=1, le=7)]] = Field(default_factory=dict)
    """Number of instances of each profile on every GPU: `{1g.10gb: 4, 3g.40gb: 1}`."""


class Sharing(Model):
    """How several pods share each GPU of a pool, without hardware isolation of their memory."""

    mode: Literal["time-slicing", "mps"]
    """`time-slicing`: pods take turns, each with the whole memory. `mps`: pods run at the same time, each with its part
    of the memory and threads, through NVIDIA's Multi-Process Service."""
    replicas: Annotated[int, Field(ge=2, le=48)]
    """Pods per GPU, or per MIG instance; 48 is the maximum of MPS (NVIDIA MPS documentation,
    "Architecture": clients of Volta and later GPUs)."""


class Budget(Model):
    """How many nodes Karpenter may disrupt at once, always or in a window (karpenter.sh/v1 NodePool budgets)."""

    nodes: Annotated[
        str,
        pattern(
            r"^([0-9]+|[0-9]{1,2}%|100%)$",
            rule="nodes must be a number or a percentage",
            fix='Write it in quotes, like "0" or "10%".',
        ),
    ]
    """Number or percentage of nodes, in quotes: "0", "10%"."""
    schedule: (
        Annotated[
            str,
            pattern(
                r"^(\S+\s+){4}\S+$",
                rule="a schedule is a cron expression of five fields",
                fix="Write it like 0 7 * * mon-fri.",
            ),
        ]
        | None
    ) = None
    """Start of the window, as a five-field cron expression in UTC; only together with `duration`."""
    duration: WindowDuration | None = None
    """Length of the window; only together with `schedule`."""
    reasons: tuple[Literal["Empty", "Underutilized", "Drifted"], ...] = ()
    """Reasons of disruption that the budget limits; all if empty."""


class Disruption(Model):
    """When Karpenter may disrupt a node."""

    consolidation_policy: Literal["WhenEmpty", "WhenEmptyOrUnderutilized"] = "WhenEmpty"
    """`WhenEmpty` never moves a running training job."""
    consolidate_after: Duration = "10m"
    """How long a node must be idle before Karpenter consolidates it."""
    expire_after: Duration | Literal["Never"] = "336h"
    """Age at which a node takes no new pods and drains, to apply patches."""
    termination_grace_period: Duration = "48h"
    """Maximum time that a node drains before it is deleted with the pods that are left. A drain waits for jobs, so this
    bounds their deadlines."""
    budgets: dict[Name, Budget] = Field(default_factory=dict)
    """Budgets by a name of your choice; of those in effect at a time, the strictest applies."""


class Update(Model):
    """How a managed node group rolls out a new launch template or version."""

    max_unavailable_percentage: Annotated[int, Field(ge=1, le=100)] = 33
    """Maximum share of the nodes, in percent, that is replaced at once."""
    force: bool = False
    """Continue when a PodDisruptionBudget prevents a node from draining."""
