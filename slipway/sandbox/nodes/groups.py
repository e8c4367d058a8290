"""The nodes of an EKS managed node group."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slipway.sandbox.nodes.launch_template import read_template
from slipway.sandbox.nodes.machine import DEFAULT_DISK_GIB, Machine
from slipway.sandbox.nodes.spec import NodeSpec, Taint
from spec.catalog import kubernetes

RESOURCE_TAG = "k8s.io/cluster-autoscaler/node-template/resources/"
ENABLED_TAG = "k8s.io/cluster-autoscaler/enabled"
"""Tag of the Auto Scaling groups that the Cluster Autoscaler finds (its README for AWS, "Auto-Discovery Setup")."""
DEFAULT_INSTANCE_TYPE = "t3.medium"
"""EKS's default if neither the node group nor its launch template names a type (eks:CreateNodegroup, instanceTypes)."""
_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}


@dataclass(frozen=True)
class NodeGroup:
    """A node group as last reported; inputs in provider spelling, the template in EC2's."""

    name: str
    inputs: Mapping[str, Any]
    launch_template: Mapping[str, Any] | None = None
    asg_tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """The owner annotation of its nodes."""
        return f"nodegroup/{self.name}"

    @property
    def autoscaled(self) -> bool:
        """Whether the Cluster Autoscaler finds it."""
        return ENABLED_TAG in self.asg_tags

    @property
    def size(self) -> int:
        """How many instances the program wants."""
        scaling = self.inputs.get("scalingConfig") or {}
        return max(int(scaling.get("desiredSize") or 0), int(scaling.get("minSize") or 0))

    @property
    def limits(self) -> tuple[int, int]:
        """Its minimum and maximum size."""
        scaling = self.inputs.get("scalingConfig") or {}
        least = int(scaling.get("minSize") or 0)
        return least, max(least, int(scaling.get("maxSize") or 0))


def nodes_of(
    group: NodeGroup, zone_of: Callable[[str], str | None], members: Sequence[int] | None = None
) -> tuple[NodeSpec, ...]:
    """The group's nodes; one placeholder node if it is scaled to zero.

    Args:
        group: The group.
        zone_of: Gives the zone of a subnet.
        members: Numbers of its nodes, where an autoscaler has chosen its size.
    """
    if members is None:
        members = range(group.size)
    zones = [zone for subnet in group.inputs.get("subnetIds") or () if (zone := zone_of(subnet))]
    machine = _machine(group)
    labels = {**(group.inputs.get("labels") or {}), **_eks_labels(group)}
    return tuple(
        NodeSpec(
            name=node_name(group.name, index),
            owner=group.owner,
            instance_type=machine.name,
            arch=machine.arch,
            kubernetes=str(group.inputs.get("version") or kubernetes.DEFAULT),
            capacity=machine.capacity(labels),
            allocatable=machine.allocatable(labels),
            labels=labels,
            taints=_taints(group.inputs.get("taints") or ()),
            # An Auto Scaling group spreads its instances evenly over its zones.
            zone=zones[index % len(zones)] if zones else "",
            placeholder=not members,
        )
        for index in members or (0,)
    )


def node_name(pool: str, index: int) -> str:
    """`system-0`: the pool's name, converted to a valid Node name (RFC 1123), and a number."""
    name = re.sub(r"[^a-z0-9.-]+", "-", pool.lower()).strip("-.")
    return f"{name[:240]}-{index}"


def _machine(group: NodeGroup) -> Machine:
    template = read_template(group.launch_template)
    named = (group.inputs.get("instanceTypes") or [template.instance_type or DEFAULT_INSTANCE_TYPE])[0]
    tags = group.asg_tags.items()
    return Machine(
        name=str(named),
        max_pods=template.max_pods,
        disk_gib=template.disk_gib or int(group.inputs.get("diskSize") or DEFAULT_DISK_GIB),
        nvme_raid=template.nvme_raid,
        efa=template.efa,
        extra={key.removeprefix(RESOURCE_TAG): value for key, value in tags if key.startswith(RESOURCE_TAG)},
    )


def _eks_labels(group: NodeGroup) -> dict[str, str]:
    return {
        "eks.amazonaws.com/nodegroup": group.name,
        "eks.amazonaws.com/capacityType": str(group.inputs.get("capacityType") or "ON_DEMAND"),
    }


def _taints(taints: Sequence[Mapping[str, Any]]) -> tuple[Taint, ...]:
    return tuple(
        Taint(str(each["key"]), _EFFECTS.get(str(each.get("effect")), "NoSchedule"), str(each.get("value") or ""))
        for each in taints
    )
