"""A pool of GPUs by itself, on a cluster that has Karpenter: for programs that have no stack file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pulumi

from components.base.outputs import Cluster
from components.pools.karpenter import KarpenterPool, KarpenterPoolArgs
from spec.naming import zone_letter
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve
from spec.settings.parts import alone
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import ConfigurationError, Problem
from spec.settings.zones import Place


@dataclass(frozen=True, kw_only=True)
class GpuNodePoolArgs:
    """Inputs of `GpuNodePool`.

    Attributes:
        cluster: The cluster.
        settings: The pool as in a stack file: `{"preset": "a100", "mig": {"layout": "all-2g.10gb"}}`.
        subnets: ID of a subnet of nodes in each zone: `{"us-east-1a": "subnet-0a1b"}`.
        instance_profile: Name of the instance profile of Karpenter's nodes.
        pool: Name of its objects and label of its nodes; the logical name by default.
        vpc_id: VPC of the subnets; required with EFA.
        volume_key: KMS key of the nodes' volumes; the AWS managed key for EBS if None.
        scheduled: Whether a schedule of cost guards changes its limits, which the next update takes back.
        after: What Karpenter needs, if the same program makes it.
    """

    cluster: Cluster
    settings: Annotated[Mapping[str, Any], Pool]
    subnets: Mapping[str, pulumi.Input[str]]
    instance_profile: pulumi.Input[str]
    pool: str = ""
    vpc_id: pulumi.Input[str] | None = None
    volume_key: pulumi.Input[str] | None = None
    scheduled: bool = False
    after: Sequence[pulumi.Resource] = ()


class GpuNodePool(KarpenterPool):
    """A NodePool of Karpenter with its EC2NodeClass, its NodeOverlay if GPUs are partitioned or shared, and the fabric
    of EFA. Karpenter needs the feature gates, and the device plugin the configuration, of what the pool uses.

    Attributes:
        spec: The pool, for queues and workloads.

    Raises:
        ConfigurationError: For settings that a stack file may not have either.
    """

    spec: PoolSpec

    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        own = args.pool or name
        pool = alone(Pool, own, args.settings)
        unknown = sorted({*pool.zones} - {*args.subnets})
        for wrong, path, value, fix in (
            (not args.subnets or unknown, "subnets", unknown, "Name a subnet in each zone of the pool."),
            (pool.provisioner is not Provisioner.KARPENTER, "provisioner", str(pool.provisioner), "Use `karpenter`."),
            (args.instance_profile == "", "instanceProfile", "", "Name the instance profile of Karpenter's nodes."),
        ):
            if wrong:
                raise ConfigurationError([Problem(path, "a pool of Karpenter needs it", value, fix)], f"pool {own}")
        self.spec = resolve(own, pool, Place(zones=tuple(args.subnets), version=args.cluster.version))
        inputs = KarpenterPoolArgs(
            spec=self.spec,
            cluster=args.cluster,
            instance_profile=args.instance_profile,
            after=args.after,
            subnets={zone_letter(zone): subnet for zone, subnet in args.subnets.items()},
            vpc_id=args.vpc_id,
            volume_key=args.volume_key,
            scheduled=args.scheduled,
        )
        super().__init__(name, inputs, opts)
