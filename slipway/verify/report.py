"""The report of a verification, for people (Markdown) and for programs (JSON)."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from slipway.verify.checks import CheckStatus, ClusterCheck
from slipway.verify.fabric import NODES, measurable
from slipway.verify.model import RUNTIME, of_model
from spec.pools.resolution import resolve_all
from spec.pricing.pools import node_hourly
from spec.settings.platform import Platform


def cost(platform: Platform, hours: Decimal) -> tuple[Decimal, list[str]]:
    """The most that new nodes cost in that time, in USD, and the pools without a price: one node of each pool, and as
    many as nccl-tests needs where it runs."""
    pools = {name: pool for name, pool in sorted(resolve_all(platform).items()) if not pool.waiting}
    prices = {name: node_hourly(pool) for name, pool in pools.items()}
    known = (price * (NODES if measurable(pools[name]) else 1) for name, price in prices.items() if price is not None)
    return sum(known, Decimal(0)) * hours, [name for name, price in prices.items() if price is None]


def not_covered(platform: Platform) -> tuple[str, ...]:
    """What nothing looks at on this stack."""
    fabrics = [name for name, pool in sorted(resolve_all(platform).items()) if pool.efa_count and not measurable(pool)]
    lacks = [f"bandwidth of EFA on pool {name}, which has no two nodes with whole GPUs" for name in fabrics]
    if not of_model(platform, 1):
        lacks.append(f"a model that answers, which needs KServe's runtime `{RUNTIME}` and a CPU pool of a serving team")
    if platform.addons.kueue is None:
        lacks.append("preemption, which needs Kueue")
    if platform.addons.kube_prometheus_stack is None:
        lacks.append("metrics and the cost of teams, which need a Prometheus of the stack's own")
    return tuple(lacks)


def counts(checks: Sequence[ClusterCheck]) -> str:
    """`12 passed, 1 failed, 8 need AWS`."""
    by = Counter(one.status for one in checks)
    measured = f", {by[CheckStatus.MEASURED]} measured" if by[CheckStatus.MEASURED] else ""
    passed, failed, needs = by[CheckStatus.PASSED], by[CheckStatus.FAILED], by[CheckStatus.NEEDS_AWS]
    return f"{passed} passed, {failed} failed, {needs} need AWS{measured}"


def markdown(stack: str, checks: Sequence[ClusterCheck], lacks: Sequence[str], *, simulated: bool) -> str:
    """A table of all checks, and what is not covered (`lacks`)."""
    where = "in the sandbox" if simulated else "on AWS"
    rows = [f"| {one.subject} | {one.what} | {one.status} | {_cell(one.detail)} |" for one in checks]
    return "\n".join(
        [
            f"# Verification of stack {stack} {where}", "", f"{counts(checks)}.", "",
            "| Subject | Check | Result | Detail |", "|---|---|---|---|", *rows, "",
            *([f"Not covered: {'; '.join(lacks)}.", ""] if lacks else []),
        ]
    )  # fmt: skip


def document(stack: str, checks: Sequence[ClusterCheck], lacks: Sequence[str], *, simulated: bool) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "stack": stack,
        "sandbox": simulated,
        "checks": [
            {"subject": one.subject, "check": one.what, "status": str(one.status), "detail": one.detail}
            for one in checks
        ],
        "notCovered": list(lacks),
    }


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
