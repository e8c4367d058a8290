"""The nodes of an EKS managed node group, and the facts about it that only the sandbox's AWS has."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from sandbox.nodes.machine import DEFAULT_DISK_GIB, Machine
from sandbox.nodes.spec import NodeSpec, Taint
from spec.catalog import kubernetes

# What a launch template says about its instances, in EC2's spelling (ec2:DescribeLaunchTemplateVersions).

EFA_KINDS = frozenset({"efa", "efa-only"})
_MAX_PODS = re.compile(r"(?:--max-pods=|max-pods\s*=\s*|maxPods:\s*)[\"']?(\d+)")
"""As a flag of the kubelet, as Bottlerocket's setting, and as the kubelet's configuration."""
_RAID = re.compile(r"strategy:\s*[\"']?RAID0")


@dataclass(frozen=True)
class Template:
    """The settings that are visible on a node."""

    instance_type: str = ""
    efa: int = 0
    disk_gib: int | None = None
    max_pods: int | None = None
    nvme_raid: bool = False


def read_template(data: Mapping[str, Any] | None) -> Template:
    """From LaunchTemplateData; an empty Template if there is none."""
    if not data:
        return Template()
    interfaces = data.get("NetworkInterfaces") or ()
    sizes = [(device.get("Ebs") or {}).get("VolumeSize") for device in data.get("BlockDeviceMappings") or ()]
    text = _user_data(data.get("UserData"))
    pods = _MAX_PODS.search(text)
    return Template(
        instance_type=str(data.get("InstanceType") or ""),
        efa=sum(each.get("InterfaceType") in EFA_KINDS for each in interfaces),
        # Bottlerocket has a small volume for the system and a larger one for containers.
        disk_gib=max((int(size) for size in sizes if size), default=None),
        max_pods=int(pods[1]) if pods else None,
        nvme_raid=_RAID.search(text) is not None,
    )


def _user_data(encoded: Any) -> str:
    try:
        return base64.b64decode(str(encoded or ""), validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""


# Facts about node groups that only the sandbox's AWS has: zones of subnets, names of Auto Scaling groups.
#
# moto runs in the daemon's own process, so its memory is read directly: a call over HTTP needs account and region,
# which the observer does not get.

Selectors: TypeAlias = Sequence[Mapping[str, Any]]
"""Terms of an EC2NodeClass: each has an ID, or tags, of which an object must have all."""


@dataclass(frozen=True, order=True)
class Subnet:
    """A subnet and its Availability Zone."""

    id: str
    zone: str
    zone_id: str

    @property
    def region(self) -> str:
        """Its region: a zone's name is its region's name and a letter."""
        return self.zone[:-1]


class CloudFacts(Protocol):
    """Look-ups of AWS objects in any account and region."""

    def zone_of(self, subnet: str) -> str | None:
        """The Availability Zone of a subnet; None if there is no such subnet."""

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name of a node group's Auto Scaling group; None if there is no such group."""


class MotoFacts:
    """Reads the moto of this process."""

    def zone_of(self, subnet: str) -> str | None:
        """The Availability Zone of a subnet."""
        for backend in _backends("ec2"):
            for by_zone in backend.subnets.values():
                if subnet in by_zone:
                    return str(by_zone[subnet].availability_zone)
        return None

    def subnets(self, selectors: Selectors) -> list[Subnet]:
        """The subnets that one of the terms selects, sorted."""
        every = [subnet for backend in _backends("ec2") for by in backend.subnets.values() for subnet in by.values()]
        selected = [one for one in every if any(_selects(term, one) for term in selectors)]
        return sorted(
            Subnet(str(one.id), str(one.availability_zone), str(one.availability_zone_id)) for one in selected
        )

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        """The name that moto generated for the group's Auto Scaling group."""
        for backend in _backends("eks"):
            group = cluster in backend.clusters and backend.clusters[cluster].nodegroups.get(node_group)
            if group:
                return str(group.resources["autoScalingGroups"][0]["name"])
        return None


def _selects(term: Mapping[str, Any], subnet: Any) -> bool:
    if "id" in term:
        return bool(subnet.id == term["id"])
    tags = {tag["key"]: tag["value"] for tag in subnet.get_tags()}
    wanted = term.get("tags") or {}
    return bool(wanted) and all(key in tags and value in ("*", tags[key]) for key, value in wanted.items())


def _backends(service: Any) -> Iterator[Any]:
    # Imported here: it takes a second, and only a process that serves AWS needs it.
    from moto.backends import get_backend  # noqa: PLC0415

    for account in list(get_backend(service).values()):
        yield from list(account.values())


RESOURCE_TAG = "k8s.io/cluster-autoscaler/node-template/resources/"
ENABLED_TAG = "k8s.io/cluster-autoscaler/enabled"
"""Tag of the Auto Scaling groups that the Cluster Autoscaler finds (its README for AWS, "Auto-Discovery Setup")."""
GROUP = "eks.amazonaws.com/nodegroup"  # label of a node: its group
DEFAULT_INSTANCE_TYPE = "t3.medium"
"""EKS's default if neither the node group nor its launch template names a type (eks:CreateNodegroup, instanceTypes)."""
_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


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
    def image(self) -> tuple[Any, ...]:
        """What another AMI comes with: its nodes are replaced."""
        return tuple(self.inputs.get(name) for name in ("version", "releaseVersion", "launchTemplate"))

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
        GROUP: group.name,
        "eks.amazonaws.com/capacityType": str(group.inputs.get("capacityType") or "ON_DEMAND"),
    }


def _taints(taints: Sequence[Mapping[str, Any]]) -> tuple[Taint, ...]:
    return tuple(
        Taint(str(each["key"]), _EFFECTS.get(str(each.get("effect")), "NoSchedule"), str(each.get("value") or ""))
        for each in taints
    )
