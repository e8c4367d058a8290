"""NVIDIA's GPU Operator on images that have driver and container toolkit already (docs/adr/0006-gpu-images.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from components.addons.gpu_operator import plugin
from components.addons.gpu_operator.configs import config_map
from components.addons.gpu_operator.rules import bottlerocket_rule
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from components.base.placement import gpu_tolerations, system_placement
from components.base.sizing import scraped, sized, uncapped
from spec.catalog.charts import GPU_OPERATOR
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons.gpu import GpuOperator as Settings


class GpuOperator(AddOn[Settings]):
    """The operator, its configurations, and a rule that disables the operands that Bottlerocket already has."""

    name: ClassVar[str] = "gpu-operator"
    namespace: ClassVar[Namespace] = Namespace(name="gpu-operator", enforce="privileged")

    def parts(self, context: AddOnContext) -> Parts:
        """One release, whose chart installs the CRD of the rule, and the rule."""
        chart_values = values(
            self.settings, pools=context.pools, placement=system_placement(context), monitored=scraped(context)
        )
        return Parts(
            releases=[ChartRelease(ref=GPU_OPERATOR, release_name="gpu-operator", values=chart_values)],
            objects=bottlerocket_rule(context.pools.values()),
        )


def values(
    settings: Settings, *, pools: Mapping[str, PoolSpec], placement: Mapping[str, Any], monitored: bool
) -> dict[str, Any]:
    """Values of the chart (v26.7.0) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        pools: Pools by name.
        placement: `nodeSelector` and `tolerations` of the operator.
        monitored: Whether the CRDs of Prometheus are installed.
    """
    gpu_pools = [pool for _, pool in sorted(pools.items()) if pool.gpu is not None]
    tolerations = gpu_tolerations(pools)
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "operator": {**placement, "resources": uncapped("100m", "512Mi")},
        "daemonsets": {"tolerations": tolerations},
        # Each configuration of the device plugin sets its own strategy (`plugin.configurations`); an empty value here
        # makes the operator leave it to them (controllers/object_controls.go, applyMIGConfiguration).
        "mig": {"strategy": ""},
        "devicePlugin": {
            "config": config_map("device-plugin", plugin.EXCLUSIVE, plugin.configurations(gpu_pools)),
            "resources": sized("10m", "256Mi"),
        },
        "gfd": {"resources": sized("10m", "256Mi")},
        "validator": {"resources": sized("10m", "256Mi")},
        # User data partitions the GPUs before the kubelet starts (`components.pools.mig`). The manager would do so on a
        # running node, for which it stops the kubelet (docs/adr/0062-mig-before-the-kubelet.md).
        "migManager": {"enabled": False},
        "dcgmExporter": _dcgm_exporter(settings, gpu_pools, monitored=monitored),
        "node-feature-discovery": _discovery(placement, tolerations),
    }


def _dcgm_exporter(settings: Settings, pools: Sequence[PoolSpec], *, monitored: bool) -> dict[str, Any]:
    """`honorLabels` keeps the `namespace` and `pod` labels of the pod that uses the GPU instead of the exporter's."""
    monitor: dict[str, Any] = {"enabled": monitored}
    if monitored:
        monitor |= {"interval": f"{settings.metrics_seconds}s", "honorLabels": True}
    # Otherwise one of the pods that share a GPU gets all of its series (dcgm-exporter, pkg/cmd/app.go).
    shared = any(pool.sharing is not None for pool in pools)
    env = [{"name": "KUBERNETES_VIRTUAL_GPUS", "value": "true"}] if shared else []
    return {"serviceMonitor": monitor, "env": env, "resources": sized("100m", "1Gi")}


def _discovery(placement: Mapping[str, Any], tolerations: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Node Feature Discovery on GPU nodes only: nothing uses its labels on other nodes. Its chart (0.19.0) sets memory
    requests and limits for all three parts."""
    return {
        "master": dict(placement),
        "gc": dict(placement),
        "worker": {"nodeSelector": {keys.GPU: "true"}, "tolerations": list(tolerations)},
    }
