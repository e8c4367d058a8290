"""A pool as an EKS managed node group, and the tags of its Auto Scaling group by which Cluster Autoscaler discovers it
and predicts its nodes.

EKS copies neither labels nor taints of a node group to its Auto Scaling group (kubernetes/autoscaler#4998). Without
these tags, an empty group looks like it has nodes without labels, taints and devices, and pods that need them would
never scale it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.pools.fabric import Fabric, FabricArgs
from components.pools.launch_template import TemplateArgs, launch_template, machine_tags
from components.pools.node_role import NodeRoleOutputs
from spec.catalog import amis
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec, facts
from spec.settings.capacity import Market

ENABLED: Final = "k8s.io/cluster-autoscaler/enabled"
ONLY_EMPTY: Final = "0.01"
_PREFIX: Final = "k8s.io/cluster-autoscaler/"
_TEMPLATE: Final = f"{_PREFIX}node-template/"


@dataclass(frozen=True, kw_only=True, order=True)
class GroupTag:
    """One tag of an Auto Scaling group."""

    role: str  # its purpose, without the cluster's name: `label/accelerator`
    key: str  # its key in AWS
    value: str


def discovery_tag(cluster: str) -> str:
    """Key of the tag that assigns a group to the autoscaler of a cluster; its value is `owned`."""
    return f"{_PREFIX}{cluster}"


def group_tags(spec: PoolSpec, cluster: str) -> tuple[GroupTag, ...]:
    """Tags of the Auto Scaling group of a managed pool, sorted by role; empty for a group that never scales.

    Keys and formats: kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md, "Auto-Discovery Setup".
    """
    if not spec.scales:
        return ()
    node = {f"label/{key}": value for key, value in spec.labels.items()}
    node |= {f"taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in spec.taints}
    node |= {f"resources/{name}": quantity for name, quantity in _resources(spec).items()}
    node |= {f"autoscaling-options/{name}": value for name, value in _options(spec).items()}
    tags = [GroupTag(role=role, key=f"{_TEMPLATE}{role}", value=value) for role, value in node.items()]
    tags.append(GroupTag(role="cluster", key=discovery_tag(cluster), value="owned"))
    tags.append(GroupTag(role="enabled", key=ENABLED, value="true"))
    return tuple(sorted(tags))


def _options(spec: PoolSpec) -> dict[str, str]:
    """GPU nodes are removed only if no pods but those of DaemonSets run on them, like Karpenter's `WhenEmpty`: by
    default a training job on half of a node's GPUs would be evicted. A threshold of 0 would keep empty nodes, because
    utilization must be *below* it (kubernetes/autoscaler 1.35, core/scaledown/eligibility; keys:
    cloudprovider/aws/aws_manager.go).

    Two thresholds, because the autoscaler doesn't count nodes with partitioned GPUs as GPU nodes.
    """
    if spec.gpu is None:
        return {}
    return {
        "ignoredaemonsetsutilization": "true",
        "scaledowngpuutilizationthreshold": ONLY_EMPTY,
        "scaledownutilizationthreshold": ONLY_EMPTY,
    }


def _resources(spec: PoolSpec) -> dict[str, str]:
    """Resources that the autoscaler can't derive from the instance type. It knows the number of GPUs, unless they are
    partitioned or shared."""
    known = {keys.GPU: spec.instance_types[0].counted_gpus}
    resources = {name: str(count) for name, count in spec.resources.items() if known.get(name) != count}
    if spec.gpu and keys.GPU not in spec.resources:
        resources[keys.GPU] = "0"
    return resources | {keys.EPHEMERAL_STORAGE: f"{spec.scratch_gib}Gi"}


TIMEOUTS: Final = pulumi.CustomTimeouts(create="30m", update="3h", delete="1h")
"""A group without a node after half an hour has no capacity, and fails then instead of after the provider's hour. An
update drains node by node, up to 15 minutes for each that a PodDisruptionBudget blocks (EKS User Guide, "Understand
each phase of node updates")."""


@dataclass(frozen=True, kw_only=True)
class ManagedPoolArgs:
    """Inputs of `ManagedPool`."""

    spec: PoolSpec
    cluster: ClusterOutputs
    network: NetworkOutputs
    node_role: NodeRoleOutputs
    volume_key: pulumi.Input[str] | None = None


class ManagedPool(pulumi.ComponentResource):
    """A launch template, a node group, and the tags that Cluster Autoscaler needs to scale it from zero.

    The settings determine the size of a fixed group (min = max), the autoscaler that of a group that scales.
    """

    PULUMI_TYPE: Final = "slipway:pools:ManagedPool"

    node_group: aws.eks.NodeGroup

    def __init__(self, name: str, args: ManagedPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        template = self._make_template(name, args)
        self.node_group = self._make_node_group(name, args, template)
        self._make_group_tags(name, args)
        self.register_outputs({"nodeGroupName": self.node_group.node_group_name, "pool": facts(args.spec)})

    def _make_template(self, name: str, args: ManagedPoolArgs) -> aws.ec2.LaunchTemplate:
        spec, cluster = args.spec, args.cluster
        groups: Sequence[pulumi.Input[str]] = ()
        placement = None
        if spec.efa_count:
            fabric = Fabric(
                f"{name}-fabric",
                FabricArgs(
                    pool=spec.name,
                    cluster=cluster.name,
                    vpc_id=args.network.vpc_id,
                    placement_group=spec.placement_group,
                ),
                pulumi.ResourceOptions(parent=self),
            )
            groups = [cluster.security_group_id, fabric.security_group_id]
            placement = fabric.placement_group_name
        return launch_template(
            f"{name}-launch-template",
            TemplateArgs(
                spec=spec,
                tags=machine_tags(spec.name, cluster.name, cluster.tags),
                security_groups=groups,
                placement_group=placement,
                volume_key=args.volume_key,
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _make_node_group(self, name: str, args: ManagedPoolArgs, template: aws.ec2.LaunchTemplate) -> aws.eks.NodeGroup:
        spec, settings = args.spec, args.spec.settings
        minimum = 0 if spec.waiting else settings.min
        return aws.eks.NodeGroup(
            f"{name}-node-group",
            cluster_name=args.cluster.known_as,
            node_role_arn=args.node_role.arn,
            subnet_ids=[args.network.private_subnets[letter] for letter in spec.zone_letters],
            ami_type=amis.ami_type(settings.os, gpu=spec.gpu is not None, arch=spec.arch),
            version=spec.kubernetes,
            release_version=spec.ami_release,
            capacity_type=_capacity_type(spec),
            instance_types=None if spec.capacity_block else [kind.name for kind in spec.instance_types],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=minimum, max_size=settings.max, desired_size=minimum
            ),
            update_config=_update_config(spec),
            force_update_version=settings.update.force,
            node_repair_config=_repair(spec),
            labels=spec.labels,
            taints=[
                aws.eks.NodeGroupTaintArgs(key=taint.key, value=taint.value, effect=taint.eks_effect)
                for taint in spec.taints
            ],
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.cluster.cni_ready, *args.network.ready, *args.node_role.ready],
                ignore_changes=["scalingConfig.desiredSize"] if spec.scales else [],
                # A reservation has capacity for one group, not for the old and the new one together.
                delete_before_replace=spec.market is Market.RESERVED,
                custom_timeouts=TIMEOUTS,
            ),
        )

    def _make_group_tags(self, name: str, args: ManagedPoolArgs) -> None:
        group = self.node_group.resources[0].autoscaling_groups[0].name
        for tag in group_tags(args.spec, args.cluster.name):
            aws.autoscaling.Tag(
                f"{name}-tag-{tag.role}",
                autoscaling_group_name=group,
                tag=aws.autoscaling.TagTagArgs(key=tag.key, value=tag.value, propagate_at_launch=False),
                opts=pulumi.ResourceOptions(parent=self),
            )


def _capacity_type(spec: PoolSpec) -> str:
    """Market in the spelling of EKS (botocore 1.44.5, eks, CapacityTypes). An on-demand reservation is on-demand."""
    if spec.capacity_block:
        return "CAPACITY_BLOCK"
    return "SPOT" if spec.market is Market.SPOT else "ON_DEMAND"


def _repair(spec: PoolSpec) -> aws.eks.NodeGroupNodeRepairConfigArgs:
    """One node at a time, so that an outage which makes all nodes look unhealthy doesn't replace them all. A GPU node
    whose DCGM doesn't answer is left as it is: nothing says that its GPUs are broken, and the agent may have started
    before what makes it wait (`components.admission.monitoring`)."""
    if not spec.settings.node_repair:
        return aws.eks.NodeGroupNodeRepairConfigArgs(enabled=False)
    unanswered = aws.eks.NodeGroupNodeRepairConfigNodeRepairConfigOverrideArgs(
        node_monitoring_condition="AcceleratedHardwareReady",
        node_unhealthy_reason="DCGMError",
        min_repair_wait_time_mins=10,
        repair_action="NoAction",
    )
    return aws.eks.NodeGroupNodeRepairConfigArgs(
        enabled=True,
        max_parallel_nodes_repaired_count=1,
        node_repair_config_overrides=[unanswered] if spec.gpu is not None else None,
    )


def _update_config(spec: PoolSpec) -> aws.eks.NodeGroupUpdateConfigArgs:
    """Reserved capacity can't run a new node beside the old one: the old one is terminated first (botocore 1.44.5, eks,
    NodegroupUpdateConfig, updateStrategy)."""
    return aws.eks.NodeGroupUpdateConfigArgs(
        max_unavailable_percentage=spec.settings.update.max_unavailable_percentage,
        update_strategy="MINIMAL" if spec.market is Market.RESERVED else "DEFAULT",
    )
