"""What the operator leaves alone on Bottlerocket, which brings a device plugin and a MIG manager of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from spec.pools.pool_spec import PoolSpec

RULE: Final = "slipway-bottlerocket"
OWN: Final = ("device-plugin", "mig-manager")
"""Operands that Bottlerocket's NVIDIA variants have themselves (EKS User Guide, "Manage NVIDIA GPU devices on Amazon
EKS", Bottlerocket; 2026-08)."""


def bottlerocket_rule(pools: Iterable[PoolSpec]) -> dict[str, dict[str, Any]]:
    """A NodeFeatureRule that labels such nodes, by key; none where no GPU pool runs Bottlerocket.

    The labels come from Node Feature Discovery and not from the pool: a node that says `nvidia.com/gpu.present` before
    it was looked at, as AWS's images do, is taken by the operator for one that lost its GPUs, and all labels of this
    kind that it brought are removed (NVIDIA/gpu-operator#2288, open in 2026-04). The rule's are there at the moment at
    which the GPUs are found, and the operator honours what it finds (controllers/state_manager.go, addGPUStateLabels).
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
