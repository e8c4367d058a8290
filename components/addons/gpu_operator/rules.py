"""Disables operands on Bottlerocket nodes, which have their own device plugin and MIG manager."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from spec.pools.pool_spec import PoolSpec

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
    bottlerocket = {
        "feature": "system.osrelease",
        "matchExpressions": {"ID": {"op": "In", "value": ["bottlerocket"]}},
    }
    rule = {
        "name": RULE,
        "labels": {f"nvidia.com/gpu.deploy.{operand}": "false" for operand in OWN},
        "matchFeatures": [bottlerocket],
    }
    manifest = {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": RULE},
        "spec": {"rules": [rule]},
    }
    return {"bottlerocket": manifest}
