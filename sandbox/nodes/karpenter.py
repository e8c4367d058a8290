"""Karpenter's objects of a cluster: what they require, and the placeholder node of a NodePool."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Protocol

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object
from sandbox.kubernetes.waiting import Follower, Watch
from sandbox.nodes import ec2_types
from sandbox.nodes.groups import EFA_KINDS, node_name
from sandbox.nodes.machine import DEFAULT_DISK_GIB, Machine, is_about_type, karpenter_labels
from sandbox.nodes.spec import NodeSpec, Taint
from spec.catalog import instances, kubernetes
from spec.catalog.instances import InstanceType

# Karpenter's requirements: which values a label may have (karpenter.sh/v1, NodeSelectorRequirementWithMinValues).


def matches(labels: Mapping[str, str], requirements: Sequence[Mapping[str, Any]]) -> bool:
    """Whether labels meet all requirements; a missing key meets only NotIn and DoesNotExist."""
    return all(_holds(labels.get(str(each["key"])), each) for each in requirements)


def values(requirements: Sequence[Mapping[str, Any]], key: str) -> tuple[str, ...]:
    """The values that the `In` requirements allow for a key, in their order; empty if there is no such requirement."""
    limits = [each for each in requirements if each.get("key") == key and each.get("operator") == "In"]
    return tuple(str(value) for each in limits for value in each.get("values") or ())


def _holds(value: str | None, requirement: Mapping[str, Any]) -> bool:
    operator = requirement.get("operator")
    allowed = [str(each) for each in requirement.get("values") or ()]
    if operator in {"NotIn", "DoesNotExist"}:
        return value is None or (operator == "NotIn" and value not in allowed)
    if value is None:
        return False
    if operator == "In":
        return value in allowed
    return operator == "Exists" or _compares(value, str(operator), allowed)


def _compares(value: str, operator: str, bounds: Sequence[str]) -> bool:
    try:
        number, bound = int(value), int(bounds[0])
    except (ValueError, IndexError):
        return False
    return {"Gt": number > bound, "Gte": number >= bound, "Lt": number < bound, "Lte": number <= bound}.get(
        operator, False
    )


CAPACITY_TYPE = "karpenter.sh/capacity-type"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
PREFERENCE = ("reserved", "spot", "on-demand")
"""Karpenter's order of preference among the capacity types that a pool allows (v1.14, "NodePools", Capacity Type)."""
_SIZE = re.compile(r"(\d+)\s*Gi?B?")
_UNPRICED = Decimal("Infinity")

Manifest = Mapping[str, Any]


def placeholder(pool: Manifest, node_class: Manifest | None, overlays: Iterable[Manifest]) -> NodeSpec | None:
    """The node; None if no instance type of the catalog meets the pool's requirements and none is named."""
    name, template = str(pool["metadata"]["name"]), template_of(pool)
    requirements = (template.get("spec") or {}).get("requirements") or ()
    chosen = _instance_type(requirements)
    if chosen is None:
        return None
    labels = _labels(name, template, requirements, chosen)
    zones = values(requirements, ZONE)
    zone = {ZONE: zones[0]} if zones else {}
    machine = machine_of(chosen, node_class, _overlaid({**labels, **zone}, overlays))
    taints = (template.get("spec") or {}).get("taints") or ()
    return NodeSpec(
        name=node_name(name, 0),
        owner=f"nodepool/{name}",
        instance_type=chosen,
        arch=machine.arch,
        kubernetes=kubernetes.DEFAULT,
        capacity=machine.capacity(labels),
        allocatable=machine.allocatable(labels),
        labels=labels,
        taints=tuple(Taint(str(t["key"]), str(t["effect"]), str(t.get("value") or "")) for t in taints),
        zone=zones[0] if zones else "",
        placeholder=True,
    )


def template_of(pool: Manifest) -> Manifest:
    """The template of a pool's nodes; empty if the pool has none, which a stand-in CRD accepts."""
    return (pool.get("spec") or {}).get("template") or {}


def _instance_type(requirements: Sequence[Manifest]) -> str | None:
    # Requirements on zones, capacity types and the user's own labels don't depend on the instance type.
    about_type = [each for each in requirements if is_about_type(str(each.get("key")))]
    fitting = [kind for kind in instances.ALL.values() if matches(karpenter_labels(kind), about_type)]
    if fitting:
        return min(fitting, key=_price).name
    # The requirements may name a type that is not in the catalog.
    return next(iter(values(requirements, INSTANCE_TYPE)), None)


def _price(kind: InstanceType) -> tuple[Decimal, str]:
    return (_UNPRICED if kind.usd_per_hour is None else kind.usd_per_hour, kind.name)


def _labels(name: str, template: Manifest, requirements: Sequence[Manifest], instance_type: str) -> dict[str, str]:
    """The template's labels, those that a requirement limits to one value, and Karpenter's own."""
    allowed = values(requirements, CAPACITY_TYPE)
    kind = ec2_types.find(instance_type)
    single = {str(each["key"]): values(requirements, str(each["key"])) for each in requirements}
    return {
        **{key: value[0] for key, value in single.items() if len(value) == 1},
        **{str(k): str(v) for k, v in ((template.get("metadata") or {}).get("labels") or {}).items()},
        **(karpenter_labels(kind) if kind else {}),
        "karpenter.sh/nodepool": name,
        CAPACITY_TYPE: next((each for each in PREFERENCE if each in allowed), "on-demand"),
    }


def machine_of(instance_type: str, node_class: Manifest | None, extra: Mapping[str, str]) -> Machine:
    """The machine of a type as a node class configures it; `extra` has resources that only overlays name."""
    spec = (node_class or {}).get("spec") or {}
    interfaces = spec.get("networkInterfaces") or ()
    sizes = [
        _SIZE.match(str((each.get("ebs") or {}).get("volumeSize"))) for each in spec.get("blockDeviceMappings") or ()
    ]
    pods = (spec.get("kubelet") or {}).get("maxPods")
    return Machine(
        name=instance_type,
        max_pods=int(pods) if pods else None,
        disk_gib=max((int(size[1]) for size in sizes if size), default=DEFAULT_DISK_GIB),
        nvme_raid=spec.get("instanceStorePolicy") == "RAID0",
        efa=sum(each.get("interfaceType") in EFA_KINDS for each in interfaces),
        extra=extra,
    )


def _overlaid(labels: Mapping[str, str], overlays: Iterable[Manifest]) -> dict[str, str]:
    """Resources that NodeOverlays add to a node with these labels; the overlay of the highest weight wins."""
    added: dict[str, str] = {}
    for overlay in sorted(overlays, key=lambda each: int((each.get("spec") or {}).get("weight") or 0)):
        if matches(labels, (overlay.get("spec") or {}).get("requirements") or ()):
            added |= {str(k): str(v) for k, v in ((overlay.get("spec") or {}).get("capacity") or {}).items()}
    return added


# Karpenter's objects of one cluster, followed in the API server, whoever applies them.

PATHS: Final = (
    "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    "/apis/karpenter.sh/v1alpha1/nodeoverlays",
    "/apis/karpenter.sh/v1/nodepools",
)


class ObjectObserver(Protocol):
    """Is notified of every such object, with the name of its cluster."""

    def object_changed(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was created or updated."""

    def object_deleted(self, cluster: str, obj: Mapping[str, Any]) -> None:
        """An object was deleted."""


class Followed(Follower):
    """Reports each change to an observer; `cluster_of` gives the cluster's name, None before it is ready."""

    def __init__(self, client: KubeClient, cluster_of: Callable[[], str | None], observer: ObjectObserver) -> None:
        self._cluster_of = cluster_of
        self._observer = observer
        self._watches = [Watch(client, path, self._changed) for path in PATHS]

    def _changed(self, change: str, obj: Object) -> None:
        cluster = self._cluster_of()
        if cluster is not None:
            report = self._observer.object_deleted if change == "DELETED" else self._observer.object_changed
            report(cluster, obj)
