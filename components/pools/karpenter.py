"""A pool as a Karpenter NodePool (karpenter.sh/v1, Karpenter v1.14.1): scales from zero for pending pods, with the
instance type of the lowest price.

Karpenter knows how many GPUs an instance type has, but nothing about MIG or sharing: a pod that requests
`nvidia.com/mig-1g.5gb` would stay pending forever, and four pods that can share a GPU would get four nodes. The
overlay declares the resources of the pool's nodes (karpenter.sh/v1alpha1, feature gate `nodeOverlay`).

Idle nodes of an elastic pool, as a CapacityBuffer (autoscaling.x-k8s.io/v1beta1, Karpenter v1.14.1, feature gate
`capacityBuffer`, alpha).

Karpenter schedules one imaginary pod for each idle node, of the size of a whole node, beside the pending pods; it
launches a node where one doesn't fit, and does not consolidate a node that holds one as empty (v1.14.1 of
kubernetes-sigs/karpenter, pkg/controllers/provisioning/buffers.go, pkg/controllers/disruption/emptiness.go). No pod is
created: a job takes the node at once, without preemption, and Karpenter launches the next one, as far as the limits of
the NodePool allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.apiextensions import CustomResource

from components.base.kubernetes import ManifestKind
from components.base.outputs import Cluster
from components.pools import nodeclass
from components.pools.fabric import Fabric, FabricArgs
from components.pools.launch_template import machine_tags
from spec.pools import keys
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import PoolSpec, facts
from spec.quantities import CPU, MEMORY, seconds
from spec.settings.capacity import Budget, Market
from spec.settings.problems import ConfigurationError, Problem

OVERLAY_KIND: Final = ManifestKind("karpenter.sh/v1alpha1", "NodeOverlay")


def wants_overlay(spec: PoolSpec) -> bool:
    """Whether nodes of the pool have resources that Karpenter can't derive from their instance type."""
    return bool(_extra(spec))


def node_overlay(spec: PoolSpec) -> dict[str, Any]:
    """`spec` of the NodeOverlay.

    A resource that the instance type has is replaced (kubernetes-sigs/karpenter, pkg/cloudprovider/types.go,
    ApplyCapacityOverlay; the CRD's description mentions only new ones). Whole GPUs aren't removed for partitioned ones:
    in Karpenter's simulation the node still has them, and the pool's taint repels pods that request one.
    """
    return {
        "requirements": [{"key": keys.NODE_POOL, "operator": "In", "values": [spec.name]}],
        "capacity": {name: str(count) for name, count in _extra(spec).items()},
    }


def _extra(spec: PoolSpec) -> dict[str, int]:
    known = {keys.GPU: spec.instance_types[0].counted_gpus, keys.EFA: spec.efa_count}
    return {name: count for name, count in spec.resources.items() if known.get(name) != count}


KIND: Final = ManifestKind("karpenter.sh/v1", "NodePool")
PATCH_FORCE: Final = "pulumi.com/patchForce"
"""Annotation: `up` takes over fields that another field manager has changed (pulumi-kubernetes, Server-Side Apply)."""
NODE_CLASS_GROUP: Final = "karpenter.k8s.aws"
_CAPACITY_TYPES: Final = {Market.ON_DEMAND: "on-demand", Market.SPOT: "spot", Market.RESERVED: "reserved"}
_ARCHES: Final = {"x86_64": "amd64", "arm64": "arm64"}


def node_pool(spec: PoolSpec, weight: int | None = None) -> dict[str, Any]:
    """`spec` of the NodePool.

    It has no startup taints: Karpenter itself waits for the resources that the pending pod requests, and a taint that
    nothing removes would keep a paid node empty.
    """
    disruption = spec.settings.disruption
    return {
        "template": {
            "metadata": {"labels": dict(spec.labels)},
            "spec": {
                "nodeClassRef": {"group": NODE_CLASS_GROUP, "kind": "EC2NodeClass", "name": spec.name},
                "requirements": requirements(spec),
                **({"taints": [taint.manifest for taint in spec.taints]} if spec.taints else {}),
                "expireAfter": disruption.expire_after,
                "terminationGracePeriod": disruption.termination_grace_period,
            },
        },
        "limits": limits(spec),
        **({"weight": weight} if weight is not None else {}),
        "disruption": {
            "consolidationPolicy": disruption.consolidation_policy,
            "consolidateAfter": disruption.consolidate_after,
            **({"budgets": _budgets(disruption.budgets)} if disruption.budgets else {}),
        },
    }


def requirements(spec: PoolSpec) -> list[dict[str, Any]]:
    """Requirements for instances of the pool, sorted by key. Reserved pools use only their reservation."""
    allowed = {
        keys.CAPACITY_TYPE: [_CAPACITY_TYPES[spec.market]],
        keys.ARCH: [_ARCHES[spec.arch]],
        "kubernetes.io/os": ["linux"],
        "node.kubernetes.io/instance-type": sorted(kind.name for kind in spec.instance_types),
        "topology.kubernetes.io/zone": list(spec.zones),
    }
    wanted = spec.settings.instance_requirements
    if wanted is not None and wanted.families:
        allowed["karpenter.k8s.aws/instance-family"] = sorted(wanted.families)
    if wanted is not None and wanted.generations:
        allowed["karpenter.k8s.aws/instance-generation"] = sorted(map(str, wanted.generations))
    return [{"key": key, "operator": "In", "values": values} for key, values in sorted(allowed.items())]


def limits(spec: PoolSpec) -> dict[str, str]:
    """Limits of the pool: `max` nodes, and the resources of `max` nodes of its largest instance type.

    The node count alone would limit the cost; the other limits are a second line (limits are eventually consistent, and
    dynamic pools count nodes since kubernetes-sigs/karpenter#2526, 2026). A pool at its limit gets no replacement for a
    drifted node before that node is gone.
    """
    maximum = spec.settings.max
    bounds = {
        "cpu": str(maximum * max(kind.vcpus for kind in spec.instance_types)),
        "memory": f"{maximum * max(kind.memory_mib for kind in spec.instance_types)}Mi",
        "nodes": str(maximum),
    }
    if spec.gpu is not None:
        # As Karpenter counts them: whole GPUs even if partitioned, and each GPU once per share.
        bounds[keys.GPU] = str(maximum * spec.resources.get(keys.GPU, spec.gpu_count))
    return bounds


def _budgets(budgets: dict[str, Budget]) -> list[dict[str, Any]]:
    """Disruption budgets in the order of their keys; the order is irrelevant, Karpenter applies the strictest."""
    manifests = []
    for _, budget in sorted(budgets.items()):
        manifest: dict[str, Any] = {"nodes": budget.nodes}
        if budget.schedule is not None and budget.duration is not None:
            manifest |= {"schedule": budget.schedule, "duration": budget.duration}
        if budget.reasons:
            manifest["reasons"] = list(budget.reasons)
        manifests.append(manifest)
    return manifests


DELETE_MARGIN: Final = 1  # hours for the last node to be terminated after its drain


@dataclass(frozen=True, kw_only=True)
class KarpenterPoolArgs:
    """Inputs of `KarpenterPool`.

    Attributes:
        spec: The pool.
        cluster: The cluster.
        instance_profile: Name of the instance profile of its nodes.
        after: Karpenter, the permissions of its nodes and their routes, which are created before a pool and deleted
            after it.
        subnets: IDs of the subnets of nodes by zone letter; Karpenter finds them by their tag if empty.
        vpc_id: VPC of the subnets; required with EFA.
        volume_key: KMS key of the nodes' volumes; the AWS managed key for EBS if None.
        weight: Karpenter tries NodePools of a higher weight first; None where no pool has a fallback.
        scheduled: Whether a schedule changes its limits, which the next `up` takes back.
    """

    spec: PoolSpec
    cluster: Cluster
    instance_profile: pulumi.Input[str]
    after: Sequence[pulumi.Resource] = ()
    subnets: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    vpc_id: pulumi.Input[str] | None = None
    volume_key: pulumi.Input[str] | None = None
    weight: int | None = None
    scheduled: bool = False


class KarpenterPool(pulumi.ComponentResource):
    """A NodePool, its EC2NodeClass and, if its GPUs are partitioned or shared, its NodeOverlay.

    NodePool and EC2NodeClass are not `deleted_with` the cluster, unlike other in-cluster resources: only their
    deletion, while Karpenter still runs, terminates their instances, which would otherwise outlive the cluster and keep
    costing money (aws/karpenter-provider-aws#1268).
    """

    PULUMI_TYPE: Final = "slipway:pools:KarpenterPool"

    node_pool: CustomResource

    def __init__(self, name: str, args: KarpenterPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        spec, cluster = args.spec, args.cluster.resource
        ready = list(args.after)
        fabric = self._make_fabric(name, args) if spec.efa_count else None
        outlives = pulumi.ResourceOptions(parent=self, depends_on=[*ready, *([fabric] if fabric else [])])
        before = [self._make(spec, f"{name}-node-class", nodeclass.KIND, _node_class(args, fabric), outlives)]
        if wants_overlay(spec):
            with_cluster = pulumi.ResourceOptions(parent=self, depends_on=ready, deleted_with=cluster)
            before.append(self._make(spec, f"{name}-overlay", OVERLAY_KIND, node_overlay(spec), with_cluster))
        last = pulumi.ResourceOptions(
            parent=self,
            depends_on=[*ready, *before],
            custom_timeouts=pulumi.CustomTimeouts(delete=_longest_deletion(spec)),
        )
        body = node_pool(spec, args.weight)
        notes = {PATCH_FORCE: "true"} if args.scheduled else None
        self.node_pool = self._make(spec, f"{name}-node-pool", KIND, body, last, notes)
        if spec.settings.capacity_buffer:
            inside = pulumi.ResourceOptions(parent=self, deleted_with=cluster)
            CapacityBuffer(f"{name}-buffer", spec, self.node_pool, inside)
        self.register_outputs({"nodePool": spec.name, "pool": facts(spec)})

    def _make(
        self,
        spec: PoolSpec,
        name: str,
        kind: ManifestKind,
        body: dict[str, Any],
        opts: pulumi.ResourceOptions,
        notes: dict[str, str] | None = None,
    ) -> CustomResource:
        """All three have the name of the pool or fallback: its nodes have it in the label `karpenter.sh/nodepool`."""
        return CustomResource(
            name,
            api_version=kind.api_version,
            kind=kind.kind,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=spec.name, labels={keys.POOL: spec.pool}, annotations=notes
            ),
            spec=body,
            opts=opts,
        )

    def _make_fabric(self, name: str, args: KarpenterPoolArgs) -> Fabric:
        if args.vpc_id is None:
            problem = Problem("vpcId", "a pool with EFA has a security group in the VPC", None, "Name its VPC.")
            raise ConfigurationError([problem], f"pool {args.spec.name}")
        return Fabric(
            f"{name}-fabric",
            FabricArgs(
                pool=args.spec.name,
                cluster=args.cluster.name,
                vpc_id=args.vpc_id,
                placement_group=args.spec.placement_group,
            ),
            pulumi.ResourceOptions(parent=self),
        )


def _longest_deletion(spec: PoolSpec) -> str:
    """Deleting a NodePool drains and terminates every node of it, and a drain lasts up to `terminationGracePeriod`."""
    grace = seconds(spec.settings.disruption.termination_grace_period)
    return f"{ceil(grace / 3600) + DELETE_MARGIN}h"


def _node_class(args: KarpenterPoolArgs, fabric: Fabric | None) -> dict[str, Any]:
    spec, cluster = args.spec, args.cluster
    return nodeclass.node_class(
        nodeclass.NodeClassArgs(
            spec=spec,
            cluster=cluster.name,
            instance_profile=args.instance_profile,
            placement_group=fabric.placement_group_name if fabric else None,
            tags=machine_tags(spec.pool, cluster.name, cluster.tags),
            volume_key=args.volume_key,
            subnets=args.subnets,
        )
    )


BUFFER_KIND: Final = ManifestKind("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer")
NAMESPACE: Final = "kube-system"  # namespace of Karpenter; the buffer and its PodTemplate are in one namespace
IMAGE: Final = "registry.k8s.io/pause:3.10"  # never pulled: the API server requires an image
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
            api_version=BUFFER_KIND.api_version,
            kind=BUFFER_KIND.kind,
            metadata=metadata,
            spec={"podTemplateRef": {"name": f"idle-{spec.name}"}, "replicas": spec.settings.capacity_buffer},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[template]),
        )
        self.register_outputs({"nodes": spec.settings.capacity_buffer})
