"""How the time of a rendering grows with the number of pools, and with that of teams."""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Final

from slipway.render.layout import files_of
from slipway.render.program import record_platform
from spec.settings import load, read_stack
from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure

BOUND: Final = 10.0
POOLS: Final = 4
TEAMS: Final = 10
TIMES: Final = 10
ROUNDS: Final = 5
TEAM_ROUNDS: Final = 3
"""Fewer: a hundred teams take many times what forty pools do."""
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


def settings(base: Mapping[str, Any], pools: int) -> dict[str, Any]:
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


def measure(bench: Bench) -> list[Figure]:
    """Settings checked, program run, files made, in this process and for 0, 4 and 40 pools in turn; then for 0, 10 and
    100 teams."""
    pools = figures(*_timed(settings, (0, POOLS, POOLS * TIMES), ROUNDS), "pools", ROUNDS)
    teams = figures(*_timed(team_settings, (0, TEAMS, TEAMS * TIMES), TEAM_ROUNDS), "teams", TEAM_ROUNDS)
    return [*pools, *teams]


def _timed(make: Settings, sizes: tuple[int, ...], rounds: int) -> tuple[dict[int, float], dict[int, int]]:
    """Medians of the seconds, and numbers of resources, by size."""
    raw: Any = read_stack(STACK, ROOT / "stacks")
    seconds: dict[int, list[float]] = {size: [] for size in sizes}
    resources: dict[int, int] = {}
    for round_number in range(rounds + 1):
        for size in sizes:
            if round_number == 0 and size != sizes[0]:
                continue  # the first only imports the SDK
            resources[size], taken = _render(make(raw, size))
            if round_number:
                seconds[size].append(taken)
    return {size: median(taken) for size, taken in seconds.items()}, resources


def figures(seconds: Mapping[int, float], resources: Mapping[int, int], what: str, rounds: int) -> list[Figure]:
    """The growth of the whole, which has the bound, and that of the pools or teams alone, without the rest."""
    none, some, many = sorted(seconds)
    notes = [f"{size} {what}: {seconds[size]:.2f} s for {resources[size]} resources" for size in (none, some, many)]
    alone = (seconds[many] - seconds[none]) / max(seconds[some] - seconds[none], 1e-9)
    how = f"{many} {what} against {some}, processor time in one process, imports excluded; medians of {rounds} in turn"
    name, value = f"growth by {what}", seconds[many] / seconds[some]
    return [
        Figure(name=name, value=value, unit="x", bound=BOUND, how=how, notes=tuple(notes)),
        Figure(name=f"{name} alone", value=alone, unit="x", how="the same less the time of a stack without them"),
    ]


def _render(raw: Mapping[str, Any]) -> tuple[int, float]:
    started = time.process_time()
    platform = load(raw, stack=STACK).platform
    recording = record_platform(platform, stack=STACK)
    files_of(recording)
    return len(recording), time.process_time() - started
