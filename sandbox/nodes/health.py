"""A GPU of a node that breaks: what the node's own agents report, and when EKS replaces the node of a group.

Two agents notice. The EKS node monitoring agent sets the condition `AcceleratedHardwareReady` to False, from which
nothing takes it back (eks-node-monitoring-agent v1.6.7, pkg/manager/node_exporter.go, `Fatal`). NVIDIA's device plugin
marks the GPU unhealthy at a critical Xid (k8s-device-plugin, internal/rm/health.go), and the kubelet takes it out of
the node's allocatable resources, so no further pod is scheduled to it.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.nodes import ec2_types
from spec.pools.keys import GPU
from spec.quantities import parse

AGENT: Final = "eks-node-monitoring-agent"
CONDITION: Final = "AcceleratedHardwareReady"
TOLERATED: Final = 600.0
"""Seconds that Karpenter (karpenter-provider-aws v1.14.1, `RepairPolicies`) and EKS (User Guide, "Automatically repair
nodes in EKS clusters") wait after the condition has changed."""
XID: Final = 79
"""GPU has fallen off the bus: of those that the agent reports as fatal (monitors/nvidia/dcgm, `WellKnownXidCodes`)."""
_INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
_DEVICES: Final = (GPU, "nvidia.com/mig-")


def break_gpu(client: KubeClient, name: str, ago: float = TOLERATED) -> None:
    """One GPU of a node broke; `ago` is in seconds, and who repairs nodes goes by the time of the report. Raises
    ApiError."""
    found = client.get(Ref("v1", "Node", name))
    if found is None:
        return
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))
    broken = {
        "type": CONDITION,
        "status": "False",
        "reason": f"NvidiaXID{XID}Error",
        "lastTransitionTime": since,
        "message": f"detected XID-{XID} on the instance, review kernel logs for additional information.",
        "lastHeartbeatTime": since,
    }
    status = {"conditions": [broken], "allocatable": without_a_gpu(found)}
    client.apply({**Ref("v1", "Node", name).as_object(), "status": status}, AGENT, force=True, subresource="status")


def without_a_gpu(found: Mapping[str, Any]) -> dict[str, str]:
    """The allocatable devices of a node with one GPU less: all its instances or shares. None if a driver for claims
    allocates them."""
    kind = ec2_types.find(str((found["metadata"].get("labels") or {}).get(_INSTANCE_TYPE)))
    gpus = kind.gpus if kind else 0
    allocatable = found["status"].get("allocatable") or {}
    devices = {key: int(parse(value)) for key, value in allocatable.items() if key.startswith(_DEVICES)}
    return {key: str(count - count // gpus) for key, count in devices.items() if gpus}


def to_repair(found: Object) -> float | None:
    """When a node has been broken so long that it is replaced (Unix time); None if it is not."""
    broken = condition(found, CONDITION)
    if broken.get("status") != "False":
        return None
    return datetime.fromisoformat(broken["lastTransitionTime"]).timestamp() + TOLERATED
