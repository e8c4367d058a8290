"""Karpenter: nodes for pending pods, on the instance type with the lowest price that fits (karpenter.sh)."""

from components.addons.karpenter.controller import Karpenter, KarpenterArgs

__all__ = ["Karpenter", "KarpenterArgs"]
