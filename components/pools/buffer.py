"""Idle nodes of an elastic pool, as a CapacityBuffer (autoscaling.x-k8s.io/v1beta1, Karpenter v1.14.1, feature gate
`capacityBuffer`, alpha).

Karpenter schedules one imaginary pod for each idle node, of the size of a whole node, beside the pending pods; it
launches a node where one doesn't fit, and does not consolidate a node that holds one as empty (v1.14.1 of
kubernetes-sigs/karpenter, pkg/controllers/provisioning/buffers.go, pkg/controllers/disruption/emptiness.go). No pod is
created: a job takes the node at once, without preemption, and Karpenter launches the next one, as far as the limits of
the NodePool allow.
"""

from __future__ import annotations

from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.apiextensions import CustomResource

from components.base.kubernetes import ManifestKind
from spec.pools import keys
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY

KIND: Final = ManifestKind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer")
NAMESPACE: Final = "kube-system"
"""Namespace of Karpenter; the buffer and its PodTemplate are in one namespace."""
IMAGE: Final = "registry.k8s.io/pause:3.10"
"""Never pulled: the API server requires an image."""
_MILLIS: Final = 100


def pod_spec(spec: PoolSpec) -> dict[str, Any]:
    """A pod that takes a whole node: all its devices, or the CPU and memory of the pool's smallest type."""
    if spec.resources:
        requests = {CPU: f"{_MILLIS}m", **{name: str(count) for name, count in spec.resources.items()}}
    else:
        nodes = allocatable(spec)
        smallest = min(nodes, key=lambda node: (node.cpu_millis, node.memory_mib))
        requests = {CPU: f"{smallest.cpu_millis}m", MEMORY: f"{smallest.memory_mib}Mi"}
    limits = {name: count for name, count in requests.items() if name != CPU}
    return {
        "nodeSelector": dict(spec.node_selector),
        "tolerations": [toleration.manifest for toleration in spec.tolerations],
        "containers": [{"name": "idle", "image": IMAGE, "resources": {"requests": requests, "limits": limits}}],
    }


class CapacityBuffer(pulumi.ComponentResource):
    """Idle nodes of a pool.

    Args:
        name: Logical name.
        spec: The pool.
        after: Its NodePool.
        opts: Resource options.
    """

    PULUMI_TYPE: Final = "slipway:pools:CapacityBuffer"

    def __init__(
        self, name: str, spec: PoolSpec, after: pulumi.Resource, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=[after])
        metadata = kubernetes.meta.v1.ObjectMetaArgs(
            name=f"idle-{spec.name}", namespace=NAMESPACE, labels={keys.POOL: spec.pool}
        )
        body: Any = {"spec": pod_spec(spec)}
        template = kubernetes.core.v1.PodTemplate(f"{name}-pod", metadata=metadata, template=body, opts=child)
        CustomResource(
            f"{name}-nodes",
            api_version=KIND.api_version,
            kind=KIND.kind,
            metadata=metadata,
            spec={"podTemplateRef": {"name": f"idle-{spec.name}"}, "replicas": spec.settings.capacity_buffer},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[template]),
        )
        self.register_outputs({"nodes": spec.settings.capacity_buffer})
