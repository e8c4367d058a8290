"""NVIDIA's GPU Operator on images that have driver and container toolkit already (docs/adr/0006-gpu-images.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from components.addons.gpu_operator import mig, plugin
from components.addons.gpu_operator.configs import config_map
from components.addons.gpu_operator.rules import bottlerocket_rule
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import gpu_tolerations, system_placement
from components.base.sizing import scraped, sized
from spec.catalog.charts import GPU_OPERATOR
from spec.catalog.mig import DISABLED
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons.gpu import GpuOperator as Settings


class GpuOperator(AddOn[Settings]):
    """The operator, its configurations, and a rule that keeps it from doing Bottlerocket's work twice."""

    name: ClassVar[str] = "gpu-operator"
    namespace: ClassVar[Namespace] = Namespace(name="gpu-operator", enforce="privileged")

    def parts(self, context: AddOnContext) -> Parts:
        """One release; its chart brings the CRD of the rule."""
        given = values(
            self.settings, pools=context.pools, placement=system_placement(context), monitored=scraped(context)
        )
        return Parts(
            releases=[ChartRelease(ref=GPU_OPERATOR, release_name="gpu-operator", values=given)],
            objects=bottlerocket_rule(context.pools.values()),
        )


def values(
    settings: Settings, *, pools: Mapping[str, PoolSpec], placement: Mapping[str, Any], monitored: bool
) -> dict[str, Any]:
    """Values of the chart (v26.7.0) that differ from its own.

    Args:
        settings: Settings of the add-on.
        pools: Pools by name.
        placement: `nodeSelector` and `tolerations` of the operator itself.
        monitored: Whether Prometheus' kinds are there.
    """
    gpu_pools = [pool for _, pool in sorted(pools.items()) if pool.gpu is not None]
    tolerations = gpu_tolerations(pools)
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "operator": dict(placement),
        "daemonsets": {"tolerations": tolerations},
        # Each configuration of the device plugin says its own (`plugin.configurations`); without one here the operator
        # leaves it to them (controllers/object_controls.go, applyMIGConfiguration).
        "mig": {"strategy": ""},
        "devicePlugin": {
            "config": config_map("device-plugin", plugin.EXCLUSIVE, plugin.configurations(gpu_pools)),
            "resources": sized("10m", "256Mi"),
        },
        "gfd": {"resources": sized("10m", "256Mi")},
        "validator": {"resources": sized("10m", "256Mi")},
        "migManager": _mig_manager(gpu_pools),
        "dcgmExporter": _dcgm_exporter(settings, gpu_pools, monitored=monitored),
        "node-feature-discovery": _discovery(placement, tolerations),
    }


def _mig_manager(pools: Sequence[PoolSpec]) -> dict[str, Any]:
    """On where a GPU could be cut, though none is: a pool that gives up its layout must become whole again."""
    if not any(mig.managed(pool) for pool in pools):
        return {"enabled": False}
    reboot = [{"name": "WITH_REBOOT", "value": "true"}] if mig.needs_reboot(pools) else []
    return {
        "config": config_map("mig-layouts", DISABLED, {"config.yaml": mig.configuration(pools)}),
        "env": reboot,
        "resources": sized("10m", "512Mi"),
    }


def _dcgm_exporter(settings: Settings, pools: Sequence[PoolSpec], *, monitored: bool) -> dict[str, Any]:
    """`honorLabels` keeps `namespace` and `pod` those of the pod that uses the GPU, and not the exporter's."""
    monitor: dict[str, Any] = {"enabled": monitored}
    if monitored:
        monitor |= {"interval": f"{settings.metrics_seconds}s", "honorLabels": True}
    # Without it one of the pods that share a GPU gets all of its series (dcgm-exporter, pkg/cmd/app.go).
    shared = any(pool.sharing is not None for pool in pools)
    env = [{"name": "KUBERNETES_VIRTUAL_GPUS", "value": "true"}] if shared else []
    return {"serviceMonitor": monitor, "env": env, "resources": sized("100m", "1Gi")}


def _discovery(placement: Mapping[str, Any], tolerations: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Node Feature Discovery looks at GPU nodes alone: what it would find on others, nobody asks for. Its chart
    (0.19.0) has requests and limits of memory for each of the three."""
    return {
        "master": dict(placement),
        "gc": dict(placement),
        "worker": {"nodeSelector": {keys.GPU: "true"}, "tolerations": list(tolerations)},
    }
