"""Settings of one node pool."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from spec.settings.base import LabelKey, LabelValue, Model
from spec.settings.capacity import Capacity, Disk, Disruption, Mig, Sharing, Update
from spec.settings.presets import PRESETS

REQUIRED_WITHOUT_PRESET = ("role", "provisioner", "instanceTypes", "max")


class Role(StrEnum):
    """What a pool is for; other parts of the platform choose their pools by it."""

    SYSTEM = "system"
    """Controllers and DNS: always there, never spot."""
    GENERAL = "general"
    """CPU work: pre-processing, pipelines, services."""
    TRAINING = "training"
    INFERENCE = "inference"
    INTERACTIVE = "interactive"
    """Notebooks and experiments: shared GPUs, idle often."""


class Provisioner(StrEnum):
    """Who makes the nodes."""

    MANAGED = "managed"
    """An EKS managed node group."""
    KARPENTER = "karpenter"
    """A Karpenter NodePool: from zero, for what is pending, on the cheapest type that fits."""


class Taint(Model):
    """A taint of your own, beside those that every GPU pool carries."""

    value: LabelValue = ""
    """Value; none where the key says it all."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """What befalls pods without a toleration; `NoExecute` also evicts those that run."""


def _schema_without_preset(schema: dict[str, Any]) -> None:
    """Make the file's schema ask for what a preset would have given only where no preset is named."""
    schema.pop("required", None)
    schema["properties"]["preset"] = {
        "enum": sorted(PRESETS),
        "description": "Defaults for this pool; every other key overrides one of them.",
    }
    schema["anyOf"] = [{"required": ["preset"]}, {"required": list(REQUIRED_WITHOUT_PRESET)}]


class Pool(Model):
    """A pool after its preset was applied: what it is for, on what machines, how many, and how they are treated."""

    model_config = ConfigDict(json_schema_extra=_schema_without_preset)

    role: Role
    provisioner: Provisioner
    instance_types: Annotated[tuple[str, ...], Field(min_length=1, max_length=60)]
    """EC2 instance types, all of one GPU model; spot pools name at least three."""
    capacity: Capacity = Field(default_factory=Capacity)
    min: Annotated[int, Field(ge=0, le=1000)] = 0
    """Nodes that are always there; Karpenter pools start from zero."""
    max: Annotated[int, Field(ge=1, le=1000)]
    """Nodes at most: the ceiling of the bill."""
    max_pods: Annotated[int, Field(ge=10, le=250)] = 110
    """Pods a node, 250 at most: the most that EKS recommends (user guide, "Assign IP addresses with prefixes")."""
    zones: tuple[str, ...] = ()
    """Zones of the pool, of the network's; all of them where none is named."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Node labels of your own, in a domain of yours."""
    taints: dict[LabelKey, Taint] = Field(default_factory=dict)
    """Taints of your own, in a domain of yours."""
    dedicated: bool = False
    """Add the taint `dedicated=ml-workloads:NoSchedule`."""
    os: Literal["al2023", "bottlerocket"] = "al2023"
    """Operating system of the nodes, in EKS's own AMI of it."""
    ami_release: str | None = None
    """AMI release, `1.35.0-20261101` for a managed group or `v20261101` for Karpenter; the newest where not given."""
    version: str | None = None
    """Kubernetes version of the nodes while an upgrade is under way; the cluster's where not given."""
    disk: Disk = Field(default_factory=Disk)
    local_nvme: Literal["raid0", "none"] = "none"
    """Make one RAID0 of the instance store and put images, logs and scratch space on it."""
    parallel_image_pull: bool = False
    """Fetch and unpack the layers of an image side by side (SOCI); large images start sooner on a fast disk."""
    efa: bool = False
    """Attach every Elastic Fabric Adapter of the type, in one zone and one cluster placement group."""
    mig: Mig | None = None
    """Cut every GPU of the pool; whole GPUs where not given."""
    sharing: Sharing | None = None
    """Let several pods use each GPU of the pool; one at a time where not given."""
    node_repair: bool = True
    """Replace a node whose GPU or kubelet is found broken."""
    disruption: Disruption = Field(default_factory=Disruption)
    """Karpenter pools only."""
    update: Update = Field(default_factory=Update)
    """Managed pools only."""
