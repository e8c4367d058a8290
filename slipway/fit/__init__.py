"""Estimates a model's GPU memory, and which GPUs of a stack hold it: pure arithmetic, each formula with its source."""

from slipway.fit.activations import Memory, memory
from slipway.fit.architectures import Architecture
from slipway.fit.checkpoint import architectures
from slipway.fit.places import Answer, Choice, choose, fixes
from slipway.fit.workload import Workload, problems

__all__ = [
    "Answer",
    "Architecture",
    "Choice",
    "Memory",
    "Workload",
    "architectures",
    "choose",
    "fixes",
    "memory",
    "problems",
]
