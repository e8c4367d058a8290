"""How the time of a rendering grows with the number of pools, and with that of teams."""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Final

from slipway.render.layout import files_of
from slipway.render.program import record_platform
from spec.settings import load, read_stack
from tests.bench.figure import Figure
from tests.bench.machine import ROOT, Bench

POOLS: Final = 4
TEAMS: Final = 10
TIMES: Final = 10
STACK: Final = "prod"
KINDS: Final[tuple[Mapping[str, Any], ...]] = (
    {"preset": "cpu", "max": 1},
    {"preset": "a100", "provisioner": "managed", "min": 1, "max": 1, "mig": {"layout": "all-1g.5gb"}},
    {"preset": "h100", "provisioner": "managed", "max": 1, "zones": ["us-east-1a"], "efa": True},
    {"preset": "gpu-spot", "max": 1},
)
"""Both provisioners, with and without GPUs, MIG and EFA. One node each, or the subnets would be too small for 40."""
TEAM: Final[Mapping[str, Any]] = {
    "project": "growth",
    "costCenter": "growth",
    "namespaces": {"training": {"purpose": "training"}, "serving": {"purpose": "serving"}},
    "gpus": {"a100": {"nominalQuota": 1, "borrowingLimit": 1}},
    "cpus": {"cpu": {"nominalQuota": 4}},
}
"""A team of two namespaces, with a quota in a pool that MIG partitions and in a CPU pool."""
TEAM_NODES: Final = 13
"""Nodes of eight GPUs: one GPU for each of a hundred teams."""

Settings = Callable[[Mapping[str, Any], int], dict[str, Any]]


def pool_settings(base: Mapping[str, Any], pools: int) -> dict[str, Any]:
    """The base without teams and a bill, with its system pool and so many others, of each kind in turn."""
    others = {f"p{number}": dict(KINDS[number % len(KINDS)]) for number in range(pools)}
    cost = {key: value for key, value in base["cost"].items() if key != "usage"}
    return {**base, "pools": {"system": base["pools"]["system"], **others}, "teams": {}, "cost": cost}


def team_settings(base: Mapping[str, Any], teams: int) -> dict[str, Any]:
    """The base with this number of teams instead of its own."""
    arn = f"arn:aws:iam::{base['account']['id']}:role"
    many = {f"t{number}": {**TEAM, "members": {"all": {"principalArn": f"{arn}/t{number}"}}} for number in range(teams)}
    a100 = {**base["pools"]["a100"], "max": TEAM_NODES}
    return {**base, "pools": {**base["pools"], "a100": a100}, "teams": many}


def growth(_: Bench) -> list[Figure]:
    """Settings checked, program run, files made, in this process and for 0, 4 and 40 pools in turn; then for 0, 10 and
    100 teams, fewer times: a hundred teams take many times what forty pools do."""
    return [*_figures(pool_settings, POOLS, "pools", 5), *_figures(team_settings, TEAMS, "teams", 3)]


def _figures(make: Settings, some: int, what: str, rounds: int) -> list[Figure]:
    """The growth of the whole, which has the bound, and that of the pools or teams alone, without the rest."""
    raw: Any = read_stack(STACK, ROOT / "stacks")
    many = some * TIMES
    taken: dict[int, list[float]] = {0: [], some: [], many: []}
    resources: dict[int, int] = {}
    _render(make(raw, 0))  # the first only imports the SDK
    for _ in range(rounds):
        for size, seconds in taken.items():
            resources[size], spent = _render(make(raw, size))
            seconds.append(spent)
    medians = {size: median(seconds) for size, seconds in taken.items()}
    notes = tuple(f"{size} {what}: {medians[size]:.2f} s for {resources[size]} resources" for size in medians)
    how = f"{many} {what} against {some}, processor time in one process, imports excluded; medians of {rounds} in turn"
    whole = medians[many] / medians[some]
    alone = (medians[many] - medians[0]) / max(medians[some] - medians[0], 1e-9)
    without = f"growth by {what} alone"
    return [
        Figure(name=f"growth by {what}", value=whole, unit="x", bound=10.0, how=how, notes=notes),
        Figure(name=without, value=alone, unit="x", how="the same less the time of a stack without them"),
    ]


def _render(raw: Mapping[str, Any]) -> tuple[int, float]:
    started = time.process_time()
    recording = record_platform(load(raw, stack=STACK).platform, stack=STACK)
    files_of(recording)
    return len(recording), time.process_time() - started
