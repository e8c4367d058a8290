"""Settings of one node pool."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from spec.settings.base import LabelKey, LabelValue, Model
from spec.settings.capacity import Capacity, Disk, Disruption, InstanceRequirements, Mig, Sharing, Update
from spec.settings.presets import PRESETS

REQUIRED_WITHOUT_PRESET = ("role", "provisioner", "instanceTypes", "max")


class Role(StrEnum):
    """Purpose of a pool; other parts of the platform select pools by it."""

    SYSTEM = "system"
    """Controllers and DNS: always running, never Spot."""
    GENERAL = "general"
    """CPU work: pre-processing, pipelines, services."""
    TRAINING = "training"
    INFERENCE = "inference"
    INTERACTIVE = "interactive"
    """Notebooks and experiments: shared GPUs, often idle."""


class Provisioner(StrEnum):
    """What provisions the nodes."""

    MANAGED = "managed"
    """An EKS managed node group."""
    KARPENTER = "karpenter"
    """A Karpenter NodePool: scales from zero for pending pods, on the lowest-priced type that fits."""


class Taint(Model):
    """A taint of your own, in addition to those of every GPU pool."""

    value: LabelValue = ""
    """Value; empty if the key is enough."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """Effect on pods without a toleration; `NoExecute` also evicts running pods."""


def _schema_without_preset(schema: dict[str, Any]) -> None:
    """Require the keys that a preset provides only where no preset is named."""
    schema.pop("required", None)
    schema["properties"]["preset"] = {
        "enum": sorted(PRESETS),
        "description": "Defaults for this pool; every other key overrides one of them.",
    }
    by_name = list(REQUIRED_WITHOUT_PRESET)
    by_family = ["instanceRequirements" if key == "instanceTypes" else key for key in by_name]
    schema["anyOf"] = [{"required": keys} for keys in (["preset"], by_name, by_family)]


class Pool(Model):
    """A node pool, after its preset is applied: purpose, instance types, size and lifecycle."""

    model_config = ConfigDict(json_schema_extra=_schema_without_preset)

    role: Role
    provisioner: Provisioner
    instance_types: Annotated[tuple[str, ...], Field(min_length=1, max_length=60)]
    """EC2 instance types, all with the same GPU model; Spot pools name at least three."""
    instance_requirements: InstanceRequirements | None = None
    """Types by family and generation, in place of `instanceTypes`; Karpenter pools only."""
    capacity: Capacity = Field(default_factory=Capacity)
    min: Annotated[int, Field(ge=0, le=1000)] = 0
    """Minimum number of nodes; Karpenter pools start from zero."""
    max: Annotated[int, Field(ge=1, le=1000)]
    """Maximum number of nodes; it determines the ceiling of the bill."""
    max_pods: Annotated[int, Field(ge=10, le=250)] = 110
    """Maximum number of pods per node; EKS recommends 250 or less (user guide, "Assign IP addresses with prefixes")."""
    zones: tuple[str, ...] = ()
    """Zones of the pool, out of the network's; if empty, all that offer its types (`account.zoneIds`)."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Node labels of your own, in a domain of yours."""
    taints: dict[LabelKey, Taint] = Field(default_factory=dict)
    """Taints of your own, in a domain of yours."""
    capacity_buffer: Annotated[int, Field(ge=0, le=100)] = 0
    """Idle nodes that Karpenter keeps ready beside those in use, up to `max` (CapacityBuffer); Karpenter pools only.
    They cost as much as nodes in use."""
    dedicated: bool = False
    """Add the taint `dedicated=ml-workloads:NoSchedule`."""
    os: Literal["al2023", "bottlerocket"] = "al2023"
    """Operating system of the nodes, from the EKS-optimized AMI."""
    ami_release: str | None = None
    """AMI release, `1.35.0-20261101` for a managed group or `v20261101` for Karpenter; if unset, the cluster's."""
    version: str | None = None
    """Kubernetes version of the nodes during an upgrade; the cluster's if unset."""
    disk: Disk = Field(default_factory=Disk)
    local_nvme: Literal["raid0", "none"] = "none"
    """Combine the instance store volumes into one RAID0 array for images, logs and scratch space."""
    parallel_image_pull: bool = False
    """Fetch and unpack the layers of an image in parallel (SOCI); large images start sooner on a fast disk."""
    efa: bool = False
    """Attach every Elastic Fabric Adapter of the type, in one zone and one cluster placement group. With
    `network.podCidr`, p5 and p5e need a managed group."""
    mig: Mig | None = None
    """Partition every GPU of the pool with Multi-Instance GPU; whole GPUs if unset."""
    sharing: Sharing | None = None
    """Let several pods share each GPU of the pool; one pod per GPU if unset."""
    gpu_allocation: Literal["device-plugin", "dra"] = "device-plugin"
    """What gives GPUs to pods: NVIDIA's device plugin, or its driver for Dynamic Resource Allocation (`dra`), which has
    claims of devices beside requests of `nvidia.com/gpu`; fixed pools only, from Kubernetes 1.36. MIG instances are
    requested (`nvidia.com/mig-1g.5gb`)."""
    node_repair: bool = True
    """Replace a node whose kubelet, network, storage or container runtime is unhealthy; for GPUs, see
    `cluster.repairGpus`."""
    disruption: Disruption = Field(default_factory=Disruption)
    """When Karpenter may disrupt nodes; Karpenter pools only."""
    update: Update = Field(default_factory=Update)
    """How updates roll out; managed pools only."""

    def scratch_gib(self, nvme_gb: Iterable[int]) -> int:
        """Space for images, logs and scratch on one node, GiB: the local disks of its types as one RAID0, else the root
        volume."""
        return min(nvme_gb, default=0) * 10**9 // 2**30 if self.local_nvme == "raid0" else self.disk.size_gib

    @property
    def fallbacks(self) -> dict[str, Pool]:
        """Each fallback as a pool of its own, by name: this pool with other capacity."""
        return {
            one.name: self.model_copy(
                update={
                    "capacity": Capacity(market=one.market, reservation=one.reservation),
                    "instance_types": one.instance_types or self.instance_types,
                    "instance_requirements": None if one.instance_types else self.instance_requirements,
                    "zones": one.zones or self.zones,
                    "max": one.max or self.max,
                    "capacity_buffer": 0,
                }
            )
            for one in self.capacity.fallbacks
        }


class FoundPool(Pool):
    """A pool of a cluster without a stack file: its nodes have these labels and taints, and no others."""

    devices: dict[str, int] = Field(default_factory=dict)
    """Extended resources of one node of its first type."""
    selector: dict[str, str] = Field(default_factory=dict)
    """Labels by which a pod selects it."""
