"""Workloads for tests."""

from typing import Any

from slipway.fit import Architecture, Workload
from slipway.fit.architectures import dense

GPT = dense(name="gpt", params=12.6e9, layers=40, hidden=5120, heads=40, ffn=20480, vocab=1000, dropout=True)
"""A GPT as Korthikanti et al. describe it."""


def work(model: Architecture = GPT, **options: Any) -> Workload:
    """Training in bf16, one sequence of 2048 tokens."""
    return Workload(**{"model": model, "mode": "train", "precision": "bf16", "batch": 1, "seq": 2048, **options})
