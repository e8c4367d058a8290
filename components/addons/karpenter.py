"""Karpenter: nodes for pending pods, on the instance type with the lowest price that fits (karpenter.sh).

Karpenter's interruption queue: EventBridge rules send interruption events of EC2 and AWS Health to it.

"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws
from pulumi_kubernetes.helm.v3 import Release

from components.addons.images import chart_values, prefixes
from components.addons.karpenter_policy import Scope, controller_policy
from components.base.iam import Inline, PodRole, Statement, document, pod_identity_role
from components.base.kubernetes import locate, release
from components.base.outputs import ClusterOutputs
from components.base.placement import selector
from components.pools.karpenter import wants_overlay
from components.pools.node_role import NodeRoleOutputs
from spec.catalog.software import CHARTS
from spec.pools.pool_spec import PoolSpec
from spec.settings.charts import Charts

NAMESPACE: Final = "kube-system"
SERVICE_ACCOUNT: Final = "karpenter"
REPLICAS: Final = 2
"""A leader and a standby; pod anti-affinity keeps them on different nodes, and the system pool has at least two."""


@dataclass(frozen=True, kw_only=True)
class Gates:
    """Feature gates of Karpenter that are enabled only if a pool needs them."""

    node_repair: bool
    """Replace nodes that the node monitoring agent reports unhealthy; for all pools or none, as in Karpenter."""
    node_overlay: bool  # declare the extended resources of MIG nodes to the scheduler
    reserved_capacity: bool
    """Launch into the reservations that pools name. Enabled, it launches every other node with the capacity reservation
    preference `none`, so that open reservations of the account are billed and not used (karpenter-provider-aws v1.14.1,
    pkg/providers/launchtemplate/types.go, LaunchModeTargeted)."""
    capacity_buffer: bool = False  # keep idle nodes ready (alpha in v1.14)

    @classmethod
    def of(cls, specs: Iterable[PoolSpec]) -> Gates:
        """Feature gates that a set of pools needs."""
        pools = tuple(specs)
        return cls(
            node_repair=any(spec.settings.node_repair for spec in pools),
            node_overlay=any(wants_overlay(spec) for spec in pools),
            reserved_capacity=any(spec.settings.capacity.reservation is not None for spec in pools),
            capacity_buffer=any(spec.settings.capacity_buffer for spec in pools),
        )


def values(*, cluster: str, queue: pulumi.Input[str], gates: Gates, isolated: bool, pods_apart: bool) -> dict[str, Any]:
    """Values that differ from the chart's defaults.

    Args:
        cluster: Name of the cluster; endpoint and CA are discovered from it.
        queue: Name of the interruption queue.
        gates: Features that the pools need.
        isolated: Whether the VPC has no route to the internet: Karpenter then doesn't query prices, whose API has no
            private endpoint.
        pods_apart: Whether pods have subnets of their own, so that one network interface of each node carries no pods.
    """
    return {
        "replicas": REPLICAS,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # It calls only AWS and the API server: the VPC's resolver is enough, and CoreDNS itself may wait for a node.
        "dnsPolicy": "Default",
        # Half the CPU of upstream's example, so that it fits beside the other controllers on nodes with two vCPUs.
        "controller": {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}},
        "settings": {
            "clusterName": cluster,
            "interruptionQueue": queue,
            "eksControlPlane": True,
            "isolatedVPC": isolated,
            "reservedENIs": "1" if pods_apart else "0",
            "featureGates": {
                "nodeOverlay": gates.node_overlay,
                "nodeRepair": gates.node_repair,
                "reservedCapacity": gates.reserved_capacity,
                **({"capacityBuffer": True} if gates.capacity_buffer else {}),
                # Affects only Spot instances of pools with consolidation.
                "spotToSpotConsolidation": True,
            },
        },
    }


RETENTION_SECONDS: Final = 300
"""Older events are useless: a Spot interruption notice gives two minutes (Karpenter v1.14.1, CloudFormation
template)."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One kind of event."""

    source: str  # `source` in EventBridge
    detail_type: str  # `detail-type` in EventBridge
    why: str  # what Karpenter does about it


EVENTS: Final[Mapping[str, Event]] = {
    "health": Event(source="aws.health", detail_type="AWS Health Event", why="Replace machines that AWS will retire"),
    "rebalance": Event(
        source="aws.ec2",
        detail_type="EC2 Instance Rebalance Recommendation",
        why="Report Spot machines that are likely to be reclaimed",
    ),
    "reservation": Event(
        source="aws.ec2",
        detail_type="EC2 Capacity Reservation Instance Interruption Warning",
        why="Drain machines whose capacity reservation ends",
    ),
    "spot": Event(
        source="aws.ec2",
        detail_type="EC2 Spot Instance Interruption Warning",
        why="Drain Spot machines that are reclaimed in two minutes",
    ),
    "state-change": Event(
        source="aws.ec2",
        detail_type="EC2 Instance State-change Notification",
        why="Forget machines that were stopped or terminated",
    ),
}
"""Events by a short name, which is part of the rule names: those have at most 64 characters. Detail types: Karpenter
v1.14.1, CloudFormation template of 2026-08-20."""


def interruption_queue(name: str, cluster: ClusterOutputs, parent: pulumi.Resource) -> aws.sqs.Queue:
    """Declare the queue `<name>-queue`, its policy, and a rule for each event."""
    child = pulumi.ResourceOptions(parent=parent)
    queue = aws.sqs.Queue(
        f"{name}-queue", message_retention_seconds=RETENTION_SECONDS, sqs_managed_sse_enabled=True, opts=child
    )
    rules_arn = f"arn:{cluster.partition}:events:{cluster.region}:{cluster.account_id}:rule/*"
    aws.sqs.QueuePolicy(
        f"{name}-queue-policy",
        queue_url=queue.url,
        policy=queue.arn.apply(lambda arn: queue_policy(arn, rules_arn)),
        opts=child,
    )
    for key, event in EVENTS.items():
        rule = aws.cloudwatch.EventRule(
            f"{name}-{key}", description=event.why, event_pattern=event_pattern(event), opts=child
        )
        aws.cloudwatch.EventTarget(f"{name}-{key}-target", rule=rule.name, arn=queue.arn, opts=child)
    return queue


def event_pattern(event: Event) -> str:
    """EventBridge pattern of an event."""
    return json.dumps({"detail-type": [event.detail_type], "source": [event.source]}, sort_keys=True)


def queue_policy(queue_arn: str, rules_arn: str) -> str:
    """Only rules of this account and Region may send messages, and every request must use TLS."""
    return document(
        Statement(
            "EventsWrite",
            ["sqs:SendMessage"],
            [queue_arn],
            principals={"Service": ["events.amazonaws.com"]},
            conditions={"ArnLike": {"aws:SourceArn": [rules_arn]}},
        ),
        Statement(
            "TlsOnly",
            ["sqs:*"],
            [queue_arn],
            effect="Deny",
            principals={"AWS": ["*"]},
            conditions={"Bool": {"aws:SecureTransport": ["false"]}},
        ),
    )


@dataclass(frozen=True, kw_only=True)
class KarpenterArgs:
    """Inputs of Karpenter.

    Attributes:
        cluster: The cluster.
        node_role: Role of the nodes that it launches.
        pools: Its pools, for the feature gates that they need.
        system_node_groups: Node groups that its controller runs on.
        isolated: Whether the VPC has no route to the internet, only VPC endpoints.
        pods_apart: Whether pods have subnets of their own.
        caches: Upstream registries with a pull-through cache.
        charts: Where charts come from.
    """

    cluster: ClusterOutputs
    node_role: NodeRoleOutputs
    pools: Mapping[str, PoolSpec]
    system_node_groups: Sequence[pulumi.Resource]
    isolated: bool
    pods_apart: bool
    caches: Sequence[str] = ()
    charts: Charts


class Karpenter(pulumi.ComponentResource):
    """The controller. Its pools depend on `ready`, so on destroy they are deleted, and their nodes terminated, before
    the controller; the controller is deleted before its permissions and its queue."""

    PULUMI_TYPE: Final = "slipway:addons:Karpenter"

    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: KarpenterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        queue = interruption_queue(name, args.cluster, self)
        role = self._make_role(name, args, queue)
        crds = self._make_crds(name, args)
        controller = self._make_controller(name, args, queue, [*role.ready, crds])
        self.ready = (controller,)
        self.register_outputs({"queue": queue.name})

    def _make_role(self, name: str, args: KarpenterArgs, queue: aws.sqs.Queue) -> PodRole:
        cluster = args.cluster
        scope = Scope(
            cluster=cluster.name,
            cluster_arn=cluster.arn,
            partition=cluster.partition,
            region=cluster.region,
            account_id=cluster.account_id,
        )
        arns = pulumi.Output.all(node_role_arn=args.node_role.arn, queue_arn=queue.arn)
        return pod_identity_role(
            f"{name}-controller",
            cluster_arn=cluster.arn,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            policy=Inline(document=arns.apply(lambda known: controller_policy(scope, **known))),
            parent=self,
            association=(f"{name}-association", cluster.known_as),
        )

    def _make_crds(self, name: str, args: KarpenterArgs) -> Release:
        """A separate release, because Helm never upgrades a chart's `crds/`."""
        return release(
            f"{name}-crd",
            locate(CHARTS["karpenter-crd"], args.charts),
            namespace=NAMESPACE,
            values={},
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=args.cluster.access, deleted_with=args.cluster.resource
            ),
        )

    def _make_controller(
        self, name: str, args: KarpenterArgs, queue: aws.sqs.Queue, before: Sequence[pulumi.Resource]
    ) -> Release:
        settings = values(
            cluster=args.cluster.name,
            queue=queue.name,
            gates=Gates.of(args.pools.values()),
            isolated=args.isolated,
            pods_apart=args.pods_apart,
        )
        settings["nodeSelector"] = selector(args.system_node_groups)
        return release(
            f"{name}-release",
            locate(CHARTS["karpenter"], args.charts),
            release_name=SERVICE_ACCOUNT,
            namespace=NAMESPACE,
            values=chart_values(CHARTS["karpenter"], settings, prefixes(args.cluster, args.caches)),
            skip_crds=True,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[*before, *args.system_node_groups], deleted_with=args.cluster.resource
            ),
        )
