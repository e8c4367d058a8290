"""What the output of nccl-tests proves about the fabric between two nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from slipway.verify.checks import Check, Observed, Status, message, placed
from slipway.verify.fabric import NODES, FabricProbe

TOLERANCE: Final = Decimal("0.2")
"""How much less than the published result is accepted: what AWS ParallelCluster's tests of EFA accept
(aws-parallelcluster, tests/integration-tests/tests/efa/test_efa.py, `_check_osu_benchmarks_results`, 2026-11-22)."""
_ROW: Final = re.compile(
    r"^\s*(\d+)\s+\d+\s+[a-z]\w*\s+\S+\s+-?\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s+(\d+|N/A)\s", re.MULTILINE
)
"""`size count type redop root time algbw busbw #wrong ...`, first out of place, then in place (nccl-tests v2.18)."""
_PROVIDER: Final = re.compile(r"selected provider is ([a-z0-9-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Result:
    """The row of the largest message.

    Attributes:
        size: Its size, in bytes.
        busbw: Bus bandwidth, in GB/s, out of place.
        wrong: How many values were wrong; None if that was not checked.
    """

    size: int
    busbw: Decimal
    wrong: int | None


def parse(output: str) -> Result | None:
    """The result for the largest message; None if there is no row."""
    rows = [
        Result(int(size), Decimal(busbw), None if wrong == "N/A" else int(wrong))
        for size, busbw, wrong in _ROW.findall(output)
    ]
    return max(rows, key=lambda row: row.size, default=None)


def of_fabric_probe(probe: FabricProbe, seen: Observed, *, simulated: bool) -> Iterator[Check]:
    """The checks of nccl-tests on one pool."""
    subject, name = probe.subject, probe.pool.name
    what = "the API server admits nccl-tests on two nodes"
    if seen.refused:
        yield Check(subject, what, Status.FAILED, seen.refused)
        return
    yield Check(subject, what, Status.PASSED)
    nodes = {str(node["metadata"]["name"]) for _, node in seen.pods if node and placed(node, probe)}
    what = f"its {NODES} pods are placed on {NODES} nodes of pool {name}"
    if len(nodes) < NODES:
        yield Check(subject, what, Status.FAILED, seen.why or f"on {len(nodes)}")
        return
    yield Check(subject, what, Status.PASSED, ", ".join(sorted(nodes)))
    checks = ("NCCL uses EFA", "all_reduce_perf computes right values", "the bus bandwidth is that of the type")
    if simulated:
        yield from (Check(subject, each, Status.NEEDS_AWS, "no container runs in the sandbox") for each in checks)
        return
    output = message(seen)
    result, provider = parse(output), _PROVIDER.search(output)
    phase = ((seen.pod or {}).get("status") or {}).get("phase")
    if result is None or phase != "Succeeded":
        yield Check(subject, "all_reduce_perf runs", Status.FAILED, output or seen.why or f"the pod is {phase}")
        return
    on_efa = provider is not None and provider.group(1).lower() == "efa"
    yield Check(
        subject, checks[0], Status.PASSED if on_efa else Status.FAILED,
        f"provider {provider.group(1)}" if provider else "its log names no provider of libfabric",
    )  # fmt: skip
    right = Status.FAILED if result.wrong != 0 else Status.PASSED
    yield Check(subject, checks[1], right, "not checked" if result.wrong is None else f"{result.wrong} wrong")
    yield _bandwidth(probe, result, checks[2])


def _bandwidth(probe: FabricProbe, result: Result, what: str) -> Check:
    measured = f"{result.busbw} GB/s at {result.size} bytes"
    if probe.published is None:
        kinds = ", ".join(kind.name for kind in probe.pool.instance_types)
        return Check(probe.subject, what, Status.MEASURED, f"{measured}; no result is published for {kinds}")
    least = probe.published.busbw * (1 - TOLERANCE)
    passed = result.size == probe.published.size and result.busbw >= least
    expected = f"published: {probe.published.busbw} at {probe.published.size}, at least {least:.1f} is accepted"
    return Check(probe.subject, what, Status.PASSED if passed else Status.FAILED, f"{measured}; {expected}")
