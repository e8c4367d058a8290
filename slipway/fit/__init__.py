"""Estimates a model's GPU memory, and which GPUs of a stack hold it: pure arithmetic, each formula with its source."""

from slipway.fit.architectures import Architecture
from slipway.fit.catalog import architectures
from slipway.fit.checks import problems
from slipway.fit.choose import Answer, Choice, choose, fixes
from slipway.fit.memory import Memory, memory
from slipway.fit.workload import Workload

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
