"""The placeholder node of a Karpenter NodePool: the next node that the pool would launch.

Karpenter itself does not run in the sandbox. The choice here is the one Karpenter makes for a pod that fits everywhere:
the lowest-priced instance type that the requirements allow, with the capacity type that Karpenter prefers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from slipway.sandbox.nodes.groups import node_name
from slipway.sandbox.nodes.launch_template import EFA_KINDS
from slipway.sandbox.nodes.machine import DEFAULT_DISK_GIB, Machine, is_about_type, karpenter_labels
from slipway.sandbox.nodes.requirements import matches, values
from slipway.sandbox.nodes.spec import NodeSpec, Taint
from spec.catalog import instances, kubernetes
from spec.catalog.instances import InstanceType

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
    kind = instances.find(instance_type)
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
