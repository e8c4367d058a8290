"""What nodes with GPUs need on a cluster that exists: for programs that have no stack file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import pulumi

from components.addons.dra_driver import DraDriver
from components.addons.efa_device_plugin import EfaDevicePlugin
from components.addons.gpu_operator import GpuOperator
from components.base.addon import AddOnSite, Parts
from components.base.kubernetes import Namespaces, ObjectsArgs, agreed, declare, locate, manifest, release
from components.base.outputs import Cluster
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons import Addons
from spec.settings.addons.gpu import DraDriver as OfDra
from spec.settings.addons.gpu import EfaDevicePlugin as OfEfa
from spec.settings.addons.gpu import GpuOperator as Settings
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.charts import Charts
from spec.settings.parts import part
from spec.settings.problems import ConfigurationError, Problem

Software = GpuOperator | EfaDevicePlugin | DraDriver


@dataclass(frozen=True, kw_only=True)
class GpuSoftwareArgs:
    """Inputs of `GpuSoftware`.

    Attributes:
        cluster: The cluster, which has no GPU Operator.
        pools: Every pool with GPUs: on their nodes it runs, and as they say it shares GPUs.
        settings: The GPU Operator as in a stack file below `addons.gpuOperator`.
        monitored: Let Prometheus read the metrics of GPUs; the cluster has the CRDs of its operator.
        charts: Where charts come from; their publishers' repositories by default.
        namespaces: Make the namespaces; false if `gpu-operator` and the like exist.
        after: Nodes, if the same program makes them.
    """

    cluster: Cluster
    pools: Sequence[PoolSpec]
    settings: Annotated[Mapping[str, Any], Settings] = field(default_factory=dict)
    monitored: bool = False
    charts: Charts = field(default_factory=Charts)
    namespaces: bool = True
    after: Sequence[pulumi.Resource] = ()


class GpuSoftware(pulumi.ComponentResource):
    """The GPU Operator with the device plugin's configuration for MIG, time-slicing and MPS of these pools; AWS's
    device plugin where a pool has EFA; NVIDIA's driver for claims of devices where a pool has those. Controllers run on
    any node that admits them. A cluster has it once.

    Attributes:
        ready: What pods with GPUs wait for.
        releases: Names of the Helm releases.

    Raises:
        ConfigurationError: For settings that a stack file may not have either, or no pool with GPUs.
    """

    PULUMI_TYPE: Final = "slipway:addons:GpuSoftware"

    ready: tuple[pulumi.Resource, ...]
    releases: list[str]

    def __init__(self, name: str, args: GpuSoftwareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name = name
        settings = part(Settings, "gpuOperator", args.settings)
        pools = {pool.name: pool for pool in args.pools if pool.gpu is not None}
        if not pools:
            rule = "software for GPUs runs on the nodes of pools with GPUs"
            raise ConfigurationError([Problem("pools", rule, None, "Name them all.")], f"GPU software {name}")
        known = Addons(kubePrometheusStack=KubePrometheusStack() if args.monitored else None)
        site = AddOnSite(addons=known, pools=pools, charts=args.charts, cluster=args.cluster)
        operator = [GpuOperator(settings)] if any(not pool.dra for pool in pools.values()) else []
        wanted: list[Software] = [*operator, EfaDevicePlugin(OfEfa()), DraDriver(OfDra())]
        software = {one: one.parts(site) for one in wanted}
        spaces = agreed(one.namespace for one, parts in software.items() if parts.releases and args.namespaces)
        made = ObjectsArgs(objects={key: manifest(one) for key, one in spaces.items()}, cluster=args.cluster)
        namespaces = Namespaces(f"{name}-namespaces", made, pulumi.ResourceOptions(parent=self))
        self.ready = tuple(
            resource
            for one, parts in software.items()
            for resource in self._declare(one, parts, [*args.after, *namespaces.of(one.namespace.name)], args)
        )
        self.releases = [chart.release_name for parts in software.values() for chart in parts.releases]
        self.register_outputs({})

    def _declare(
        self, addon: Software, parts: Parts, before: Sequence[pulumi.Resource], args: GpuSoftwareArgs
    ) -> Iterator[pulumi.Resource]:
        place = pulumi.ResourceOptions(parent=self, deleted_with=args.cluster.resource)
        opts = pulumi.ResourceOptions.merge(place, pulumi.ResourceOptions(depends_on=[*args.cluster.access, *before]))
        for chart in parts.releases:
            name, where = f"{self._name}-{chart.release_name}", locate(chart.ref, args.charts)
            installed = release(
                name,
                where,
                release_name=chart.release_name,
                namespace=addon.namespace.name,
                values=chart.values,
                opts=opts,
            )
            yield installed
            after = pulumi.ResourceOptions.merge(place, pulumi.ResourceOptions(depends_on=[installed]))
            yield from (declare(f"{self._name}-{key}", one, after) for key, one in parts.objects.items())
