"""How the time of a rendering grows with the number of pools."""

from __future__ import annotations

import time
from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from infra.config import load, read_stack
from slipway.render.layout import files_of
from slipway.render.program import record_platform
from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure

BOUND: Final = 10.0
POOLS: Final = 4
TIMES: Final = 10
ROUNDS: Final = 5
STACK: Final = "prod"
KINDS: Final[tuple[Mapping[str, Any], ...]] = (
    {"preset": "cpu", "max": 1},
    {"preset": "a100", "provisioner": "managed", "min": 1, "max": 1, "mig": {"layout": "all-1g.5gb"}},
    {"preset": "h100", "provisioner": "managed", "max": 1, "zones": ["us-east-1a"], "efa": True},
    {"preset": "gpu-spot", "max": 1},
)
"""Both provisioners, with and without GPUs, MIG and EFA. One node each: else the subnets would be too small for 40."""


def settings(base: Mapping[str, Any], pools: int) -> dict[str, Any]:
    """The base with its system pool and so many others, of each kind in turn."""
    others = {f"p{number}": dict(KINDS[number % len(KINDS)]) for number in range(pools)}
    return {**base, "pools": {"system": base["pools"]["system"], **others}}


def measure(bench: Bench) -> list[Figure]:
    """Settings checked, program run, files made, in this process and for 0, 4 and 40 pools in turn."""
    raw: Any = read_stack(STACK, ROOT / "stacks")
    sizes = (0, POOLS, POOLS * TIMES)
    seconds: dict[int, list[float]] = {size: [] for size in sizes}
    resources: dict[int, int] = {}
    for round_number in range(ROUNDS + 1):
        for size in sizes:
            resources[size], taken = _render(settings(raw, size))
            if round_number:  # the first imports the SDK
                seconds[size].append(taken)
    return figures({size: median(taken) for size, taken in seconds.items()}, resources)


def figures(seconds: Mapping[int, float], resources: Mapping[int, int]) -> list[Figure]:
    """The growth of the whole, which is held, and that of the pools alone, without network and control plane."""
    none, some, many = sorted(seconds)
    notes = [f"{size} pools: {seconds[size]:.2f} s for {resources[size]} resources" for size in (none, some, many)]
    alone = (seconds[many] - seconds[none]) / max(seconds[some] - seconds[none], 1e-9)
    how = f"{many} pools against {some}, processor time in one process, imports excluded; medians of {ROUNDS} in turn"
    return [
        Figure(name="growth", value=seconds[many] / seconds[some], unit="x", bound=BOUND, how=how, notes=tuple(notes)),
        Figure(name="growth, pools", value=alone, unit="x", how="the same less the time of a stack without them"),
    ]


def _render(raw: Mapping[str, Any]) -> tuple[int, float]:
    started = time.process_time()
    platform = load(raw, stack=STACK).platform
    recording = record_platform(platform, stack=STACK)
    files_of(recording)
    return len(recording), time.process_time() - started
