"""NVIDIA GPU Operator: the operands on a node, and how its GPUs are shared.

The operator does not watch these ConfigMaps (NVIDIA GPU Operator documentation, "Time-Slicing GPUs", "Updating a
Time-Slicing Config Map"); a new name changes the ClusterPolicy, which starts new pods that read the new content.

Format: NVIDIA k8s-device-plugin v0.20.0, README, "Configuring the NVIDIA device plugin binary" and "Shared Access to
GPUs".

NVIDIA's GPU Operator on images that have driver and container toolkit already (docs/adr/0006-gpu-images.md).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import yaml

from components.base.addon import AddOn, AddOnSite, ChartRelease, Parts
from components.base.operator import object_of
from components.base.placement import gpu_tolerations, sized, uncapped
from spec.catalog.software import CHARTS
from spec.pools import keys
from spec.pools.pool_spec import GpuSharing, PoolSpec
from spec.settings.addons.gpu import GpuOperator as Settings


def config_map(prefix: str, default: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """`config` of the device plugin in the chart's values.

    Args:
        prefix: Prefix of the ConfigMap's name.
        default: Key of `data`, or name in it, for nodes without the label.
        data: Documents by key.
    """
    texts = {key: yaml.safe_dump(document, sort_keys=True) for key, document in sorted(data.items())}
    digest = hashlib.sha256("\0".join(f"{key}\0{text}" for key, text in texts.items()).encode()).hexdigest()
    return {"create": True, "name": f"{prefix}-{digest[:8]}", "default": default, "data": texts}


EXCLUSIVE: Final = "exclusive"  # for nodes without the label: each GPU or MIG instance goes to one pod


def configurations(pools: Iterable[PoolSpec]) -> dict[str, Any]:
    """Configurations by the name in the node label: `exclusive` and those that the pools use.

    The MIG strategy is here and not in the operator's setting, which applies to every node: the plugin refuses MPS with
    the strategy `mixed` even if no GPU is partitioned (cmd/nvidia-device-plugin/main.go, validateFlags).
    """
    shared: dict[str, tuple[GpuSharing, set[str]]] = {}
    for pool in pools:
        if pool.sharing is not None:
            _, names = shared.setdefault(pool.sharing.config, (pool.sharing, set()))
            names.update(name for name in pool.resources if name != keys.EFA)
    documents = {name: _document(sharing, sorted(names)) for name, (sharing, names) in sorted(shared.items())}
    return {EXCLUSIVE: _flags("mixed"), **documents}


def _document(sharing: GpuSharing, names: Iterable[str]) -> dict[str, Any]:
    """One configuration; a node ignores resources that it doesn't have, so pools with equal sharing use one document.
    Replicas keep the resource's name: pods that request `nvidia.com/gpu` run on a shared pool too, if they tolerate its
    taint."""
    settings: dict[str, Any] = {
        "renameByDefault": False,
        "resources": [{"name": name, "replicas": sharing.replicas} for name in names],
    }
    if sharing.mode == "mps":
        return {**_flags("none"), "sharing": {"mps": settings}}
    # Two replicas may be of the same GPU, so a request for two would not get twice as much: it is refused.
    return {**_flags("mixed"), "sharing": {"timeSlicing": {**settings, "failRequestsGreaterThanOne": True}}}


def _flags(strategy: str) -> Mapping[str, Any]:
    return {"version": "v1", "flags": {"migStrategy": strategy}}


RULE: Final = "slipway-bottlerocket"
OWN: Final = ("device-plugin", "mig-manager")
"""Operands included in Bottlerocket's NVIDIA variants (EKS User Guide, "Manage NVIDIA GPU devices on Amazon EKS",
Bottlerocket; 2026-08)."""


def bottlerocket_rule(pools: Iterable[PoolSpec]) -> dict[str, dict[str, Any]]:
    """A NodeFeatureRule that labels Bottlerocket nodes, by key; empty if no GPU pool runs Bottlerocket.

    Node Feature Discovery sets the labels and not the pool: if a node has `nvidia.com/gpu.present` before discovery, as
    with AWS's images, the operator assumes that it lost its GPUs and removes all its labels of this kind
    (NVIDIA/gpu-operator#2288, open in 2026-04). The rule's labels are set when the GPUs are discovered, and the
    operator respects existing ones (controllers/state_manager.go, addGPUStateLabels).
    """
    if not any(pool.gpu is not None and pool.settings.os == "bottlerocket" for pool in pools):
        return {}
    bottlerocket = {"feature": "system.osrelease", "matchExpressions": {"ID": {"op": "In", "value": ["bottlerocket"]}}}
    rule = {
        "name": RULE,
        "labels": {f"nvidia.com/gpu.deploy.{operand}": "false" for operand in OWN},
        "matchFeatures": [bottlerocket],
    }
    manifest = object_of("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", RULE, spec={"rules": [rule]})
    return {"bottlerocket": manifest}


class GpuOperator(AddOn[Settings]):
    """The operator, its configurations, and a rule that disables the operands that Bottlerocket already has."""

    name = "gpu-operator"
    software = CHARTS["gpu-operator"]

    def parts(self, context: AddOnSite) -> Parts:
        """One release, whose chart installs the CRD of the rule, and the rule."""
        chart_values = values(
            self.settings, pools=context.pools, placement=context.placement, monitored=context.monitored
        )
        return Parts(
            releases=[ChartRelease(ref=self.software, release_name="gpu-operator", values=chart_values)],
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
        # Each configuration of the device plugin sets its own strategy (`configurations`); an empty value here
        # makes the operator leave it to them (controllers/object_controls.go, applyMIGConfiguration).
        "mig": {"strategy": ""},
        "devicePlugin": {
            "config": config_map("device-plugin", EXCLUSIVE, configurations(gpu_pools)),
            "resources": sized("10m", "256Mi"),
        },
        "gfd": {"resources": sized("10m", "256Mi")},
        "validator": {"resources": sized("10m", "256Mi")},
        # User data partitions the GPUs before the kubelet starts (`components.pools.user_data`). The manager would do
        # so on a running node, for which it stops the kubelet (docs/adr/0062-mig-before-the-kubelet.md).
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
