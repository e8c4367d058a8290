"""Karpenter: nodes for what is pending, on the cheapest machine that fits (karpenter.sh)."""

from components.addons.karpenter.controller import Karpenter, KarpenterArgs

__all__ = ["Karpenter", "KarpenterArgs"]
