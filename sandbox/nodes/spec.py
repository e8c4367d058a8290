"""A node as a value, the Node object that it becomes, and writing that into the API server of a cluster."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.kubernetes import waiting
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.nodes import dra
from sandbox.nodes.drain import drain

OWNER = "sandbox.slipway/owner"
"""Annotation: the pool that the node belongs to, `nodegroup/system` or `nodepool/a100`."""
PLACEHOLDER_NODE = "sandbox.slipway/placeholder"
"""Annotation `true` on the placeholder node of a pool that has no nodes at present."""
PLACEHOLDER_ROLE = "node-role.kubernetes.io/placeholder"
"""Label of the same nodes, which `kubectl get nodes` shows in the column ROLES."""
NETWORK_NODE: Final = "topology.k8s.aws/network-node-layer-"
"""Label of a node by layer (kubernetes/cloud-provider-aws, pkg/providers/v1/topology.go)."""
_WITH_TOPOLOGY: Final = re.compile(
    r"(p3dn\.24|p4de?\.24|p5(e|en)?\.48|p6e-gb200\.36|(?P<four>p6-b[23]00\.48)|trn1n?\.32|trn2u?\.48|trn1\.2|"
    r"hpc\w+\.\d+|g[67]e\.\d*)xlarge"
)
"""Types of which EC2 reports three layers, or four (EC2 User Guide, "Prerequisites for Amazon EC2 topology", read
2026-11-22)."""


@dataclass(frozen=True)
class Taint:
    """A taint in Kubernetes' spelling: `NoSchedule`, `PreferNoSchedule`, `NoExecute`."""

    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True)
class NodeSpec:
    """Everything that varies between nodes. `labels` are those of the pool; the well-known ones are added.

    `capacity` and `allocatable` are quantities by resource name, as Kubernetes writes them.
    """

    name: str
    owner: str
    instance_type: str
    arch: str
    kubernetes: str
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    zone: str = ""
    placeholder: bool = False
    instance_id: str = ""
    """ID of its instance; derived from the name where EC2 gives none."""
    annotations: Mapping[str, str] = field(default_factory=dict)


def node(spec: NodeSpec) -> dict[str, Any]:
    """The Node object, with its status, as a Ready kubelet would report it."""
    instance_id = spec.instance_id or f"i-{_hash(spec.name)}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": spec.name,
            "labels": {
                **spec.labels,
                **_well_known_labels(spec),
                **({PLACEHOLDER_ROLE: ""} if spec.placeholder else {}),
            },
            "annotations": {
                **spec.annotations,
                OWNER: spec.owner,
                **({PLACEHOLDER_NODE: "true"} if spec.placeholder else {}),
            },
        },
        "spec": {
            "providerID": f"aws:///{spec.zone or 'unknown'}/{instance_id}",
            "taints": [_taint(taint) for taint in spec.taints],
        },
        "status": status(spec),
    }


def status(spec: NodeSpec) -> dict[str, Any]:
    """The status alone, which the API server accepts through a subresource."""
    return {
        "capacity": dict(spec.capacity),
        "allocatable": dict(spec.allocatable),
        "conditions": [
            _condition("Ready", "True", "KubeletReady", "set by the sandbox: KWOK stands in for the kubelet"),
            _condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "nothing runs in pods here"),
            _condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "nothing runs in pods here"),
            _condition("PIDPressure", "False", "KubeletHasSufficientPID", "nothing runs in pods here"),
        ],
        "addresses": [{"type": "Hostname", "address": spec.name}],
        "nodeInfo": _node_info(spec),
    }


def _well_known_labels(spec: NodeSpec) -> dict[str, str]:
    """The labels of every node on AWS (kubernetes.io/docs/reference/labels-annotations-taints)."""
    labels = {
        "kubernetes.io/arch": spec.arch,
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": spec.instance_type,
    }
    if spec.zone:
        # A zone's name is its region's name and one letter: us-east-1a.
        labels |= {"topology.kubernetes.io/zone": spec.zone, "topology.kubernetes.io/region": spec.zone[:-1]}
        labels |= network_nodes(spec.instance_type, spec.zone)
    return labels


def network_nodes(instance_type: str, zone: str) -> dict[str, str]:
    """Layers of EC2's network, the widest first, by which Kueue places jobs; all machines of a zone share them here."""
    found = _WITH_TOPOLOGY.fullmatch(instance_type)
    layers = range(1, (4 if found["four"] else 3) + 1) if found else ()
    return {f"{NETWORK_NODE}{layer}": f"nn-{_hash(f'{zone}/{layer}')}" for layer in layers}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:17]


def _taint(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}


def _condition(kind: str, state: str, reason: str, message: str) -> dict[str, str]:
    # A fixed time, so that equal specs give equal objects.
    then = "2026-01-01T00:00:00Z"
    times = {"lastHeartbeatTime": then, "lastTransitionTime": then}
    return {"type": kind, "status": state, "reason": reason, "message": message, **times}


def _node_info(spec: NodeSpec) -> dict[str, str]:
    """Every field is required; those that no pool decides are empty."""
    empty = dict.fromkeys(("machineID", "systemUUID", "bootID", "kernelVersion", "kubeProxyVersion"), "")
    return {
        **empty,
        "architecture": spec.arch,
        "containerRuntimeVersion": "containerd://2",
        "operatingSystem": "linux",
        "kubeletVersion": f"v{spec.kubernetes}.0-sandbox",
        "osImage": "slipway sandbox",
    }


# Writes Node objects into the API server of a cluster.

MANAGER = "slipway-sandbox"


@dataclass(frozen=True)
class NodeWriter:
    """`client_of` returns the client of a cluster; None if it is not running."""

    client_of: Callable[[str], KubeClient | None]

    def write(self, cluster: str, spec: NodeSpec) -> bool:
        """Create or update a node; False if the cluster is not running."""
        client = self.client_of(cluster)
        if client is None:
            return False
        wanted = node(spec)
        live = client.apply(wanted, MANAGER, force=True)
        if live["spec"].get("taints", []) != wanted["spec"]["taints"]:
            # Admission taints a new node as not ready; the node controller would clear that a moment later.
            live = client.apply(wanted, MANAGER, force=True)
        # Applied and not replaced: the controller manager and KWOK write to nodes as well.
        reference = Ref("v1", "Node", spec.name).as_object()
        live = client.apply({**reference, "status": wanted["status"]}, MANAGER, force=True, subresource="status")
        if dra.allocates(spec.labels) and not spec.placeholder:
            client.apply(dra.device_class(), MANAGER, force=True)
            client.apply(dra.resource_slice(live), MANAGER, force=True)
        return True

    def drain(self, cluster: str, group: str, names: Sequence[str], *, forced: bool = False) -> None:
        """Empty nodes of a group. Raises SandboxError if pods don't leave them."""
        client = self.client_of(cluster)
        if client is not None:
            drain(client, group, names, forced=forced)

    def remove(self, cluster: str, name: str) -> None:
        """Delete a node, and its pods, as the pod garbage collector does a minute later (controller/podgc, 1.36)."""
        client = self.client_of(cluster)
        if client is None:
            return
        waiting.delete(client, Ref("v1", "Node", name))
        pods, on_node = client.discovery.find("v1", "Pod"), f"spec.nodeName={name}"
        # One request for each namespace: two for each pod took 3 s for 60 pods, this takes 0.7 (2 busy cores, 2026-11).
        for namespace in {pod["metadata"]["namespace"] for pod in client.list(pods, fields=on_node)}:
            client.call("DELETE", pods.path(namespace), {"gracePeriodSeconds": 0}, {"fieldSelector": on_node})
