"""`python -m tools.figures.filling --nodes FILE --pods FILE`: the filling test of FGD, on the paper's inputs.

Pods of openb, in the order that a seed gives, come to its empty nodes with GPUs until they ask for 130 % of these, and
none ever ends: how many of the GPUs are allocated then? ("Beware of Fragmentation", USENIX ATC '23, figure 9a.)
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from components.cluster.control_plane import GPU_WEIGHT
from slipway.cli.output import Progress
from slipway.replay import engine
from slipway.replay.figures import percent
from spec.catalog.kubernetes import scheduler_configuration
from spec.clock import today
from spec.pools.keys import GPU
from spec.quantities import CPU, MEMORY
from tools.figures.plain import ENOUGH, NAMESPACE, QUEUE, everything

ARRIVED: Final = 1.3  # GPUs that the pods ask for, of those of the nodes: the paper's
PAPER: Final = {"FGD": 0.954, "best fit": 0.931, "random": 0.879}  # GPUs allocated then, by the paper
WHOLE: Final = "kube-scheduler, whole GPUs"
FILLED: Final = "kube-scheduler with MostAllocated, whole GPUs"
PARTS: Final = "kube-scheduler, parts that may lie on two GPUs"
UNITS: Final[Mapping[str, Callable[[Mapping[str, str]], tuple[int, int]]]] = {
    WHOLE: lambda pod: (int(pod["num_gpu"]), 1),
    FILLED: lambda pod: (int(pod["num_gpu"]), 1),
    PARTS: lambda pod: (int(pod["num_gpu"]) * int(pod["gpu_milli"]), 1000),
}
"""Units of the device that a pod requests, and that one GPU has."""
_SCORING: Final = {"type": "MostAllocated", "resources": [{"name": GPU, "weight": GPU_WEIGHT}]}
_FILLS: Final = {"nodeResourcesFit": {"scoringStrategy": _SCORING}}
_STEP: Final = 10  # virtual seconds between two pods: Kueue looks at one a second at most after a change


def arrivals(pods: Sequence[Mapping[str, str]], gpus: int, seed: int) -> list[Mapping[str, str]]:
    """All pods in an order by seed, then drawn ones, until they ask for 130 % of the GPUs."""
    rng = Random(seed)  # noqa: S311 - a simulation
    order = sorted(pods, key=lambda _: rng.random())
    found: list[Mapping[str, str]] = []
    left = ARRIVED * gpus * 1000
    while left > 0:
        pod = order[len(found)] if len(found) < len(order) else pods[int(rng.random() * len(pods))]
        found.append(pod)
        left -= milli(pod)
    return found


def milli(pod: Mapping[str, str]) -> int:
    """Thousandths of a GPU that a pod asks for."""
    return int(pod["num_gpu"]) * int(pod["gpu_milli"])


def document(nodes: Sequence[Mapping[str, str]], pods: Sequence[Mapping[str, str]], column: str) -> dict[str, Any]:
    """The engine's input: a static pool of these nodes, one queue that admits everything, and a job for each pod."""
    offerings = [
        {
            "instanceType": one["sn"],
            "zone": "openb",
            "capacityType": "on-demand",
            "usdPerHour": float(number),  # keeps their order
            "allocatable": {
                CPU: f"{one['cpu_milli']}m",
                MEMORY: f"{one['memory_mib']}Mi",
                GPU: str(int(one["gpu"]) * UNITS[column]({"num_gpu": "0", "gpu_milli": "0"})[1]),
                "pods": "1000",
            },
            "labels": {},
        }
        for number, one in enumerate(nodes)
    ]
    pool = {
        "name": "openb",
        "scaler": "static",
        "labels": {},
        "taints": [],
        "min": len(nodes),
        "max": len(nodes),
        "limits": {},
        "weight": None,
        "launchSeconds": 0,
        "consolidateAfterSeconds": None,
        "consolidationPolicy": "",
        "expireAfterSeconds": None,
        "warmNodes": 0,
        "offerings": offerings,
    }
    return {
        "version": 1,
        "start": "2026-01-05T00:00:00Z",
        "until": float(len(pods) * _STEP),
        "maxWallSeconds": 3600,
        "kueue": {"configuration": {}, "objects": list(everything({"openb": ({}, ENOUGH)}))},
        "cluster": {"objects": [], "scheduler": scheduler_configuration(_FILLS if column == FILLED else {})},
        "pools": [pool],
        "jobs": [_job(number, one, column) for number, one in enumerate(pods)],
    }


def _job(number: int, pod: Mapping[str, str], column: str) -> dict[str, Any]:
    units, _ = UNITS[column](pod)
    requests = {CPU: f"{pod['cpu_milli']}m", MEMORY: f"{pod['memory_mib']}Mi", **({GPU: str(units)} if units else {})}
    pods = {
        "name": "main",
        "count": 1,
        "requests": requests,
        "nodeSelector": {},
        "affinity": None,
        "tolerations": [],
        "topologyRequest": {"required": None, "preferred": None},
    }
    return {
        "name": f"p{number:05d}",
        "namespace": NAMESPACE,
        "queue": QUEUE,
        "team": "",
        "class": "",
        "priorityClass": "",
        "submitted": number * _STEP,
        "duration": 1e9,
        "gracePeriod": 0,
        "checkpointEvery": None,
        "podSets": [pods],
    }


def filled(nodes: Sequence[Mapping[str, str]], pods: Sequence[Mapping[str, str]], column: str) -> float:
    """GPUs that the pods on nodes ask for, of those of the nodes."""
    given = document(nodes, pods, column)
    asked = {f"p{number:05d}": milli(pod) for number, pod in enumerate(pods)}
    events = engine.run(given, say=lambda _: None)
    placed = sum(asked[event["job"]] for event in events if event["kind"] == "running")
    return placed / sum(int(one["gpu"]) * 1000 for one in nodes)


def rows(document: Mapping[str, Any]) -> str:
    """The table of the page."""
    found = document.get("filling", ())
    lines = ["| | GPUs allocated |", "|---|---:|"]
    lines += [f"| {name}, by the paper | {percent(share)} |" for name, share in PAPER.items()]
    for name in UNITS:
        shares = sorted(one["share"] for one in found if one["column"] == name)
        if shares:
            low, high = percent(shares[0]), percent(shares[-1])
            lines.append(f"| {name} | {low if low == high else f'{low} to {high}'} |")
    return "\n".join(lines)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    progress, nodes, pods = Progress(), _read(options.nodes), _read(options.pods)
    for seed in options.seed:
        come = arrivals(pods, sum(int(one["gpu"]) for one in nodes), seed)
        for column in UNITS:
            progress(f"seed {seed}, {len(come):,} pods: {column}")
            share = round(filled(nodes, come, column), 4)
            yield {"column": column, "seed": seed, "share": share, "measured": today().isoformat()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, keep the shares, and write the table; the exit code."""
    from tools.figures.__main__ import MEASURED, write  # noqa: PLC0415 - which writes the table of this module

    parser = argparse.ArgumentParser(prog="python -m tools.figures.filling", description=__doc__)
    parser.add_argument("--nodes", type=Path, metavar="FILE", required=True, help="openb_node_list_gpu_node.csv")
    parser.add_argument("--pods", type=Path, metavar="FILE", required=True, help="openb_pod_list_default.csv")
    parser.add_argument("--seed", nargs="+", type=int, default=[1])
    for one in _measured(parser.parse_args(arguments)):
        print(json.dumps(one), flush=True)
        kept: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
        others = [x for x in kept.get("filling", ()) if (x["column"], x["seed"]) != (one["column"], one["seed"])]
        kept["filling"] = sorted((*others, one), key=lambda x: (x["column"], x["seed"]))
        write(kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
