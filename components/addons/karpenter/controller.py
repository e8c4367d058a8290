"""Karpenter: its CRDs, controller, role and interruption queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi_kubernetes.helm.v3 import Release

from components.addons.images import chart_values, prefixes
from components.addons.karpenter.interruption import interruption_queue
from components.addons.karpenter.policy import Scope, controller_policy
from components.addons.karpenter.values import NAMESPACE, SERVICE_ACCOUNT, Gates, values
from components.base.iam import Inline, PodRole, pod_identity_role
from components.base.outputs import ClusterOutputs
from components.base.release import locate, release
from components.pools.roles import NodeRoleOutputs
from spec.catalog.charts import KARPENTER, KARPENTER_CRD
from spec.pools.pool_spec import PoolSpec
from spec.settings.charts import Charts


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
        association = aws.eks.PodIdentityAssociation(
            f"{name}-association",
            cluster_name=args.cluster.resource.name,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=role.arn,
            opts=pulumi.ResourceOptions(parent=self),
        )
        crds = self._make_crds(name, args)
        controller = self._make_controller(name, args, queue, [*role.ready, association, crds])
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
        )

    def _make_crds(self, name: str, args: KarpenterArgs) -> Release:
        """A separate release, because Helm never upgrades a chart's `crds/`."""
        return release(
            f"{name}-crd",
            locate(KARPENTER_CRD, args.charts),
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
        return release(
            f"{name}-release",
            locate(KARPENTER, args.charts),
            release_name=SERVICE_ACCOUNT,
            namespace=NAMESPACE,
            values=chart_values(KARPENTER.name, settings, prefixes(args.cluster, args.caches)),
            skip_crds=True,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[*before, *args.system_node_groups], deleted_with=args.cluster.resource
            ),
        )
