"""The report of a verification, for people (Markdown) and for programs (JSON)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from slipway.verify.checks import NOT_COVERED, Check, Status
from spec.pools.resolution import resolve_all
from spec.pricing.pools import node_hourly
from spec.settings.platform import Platform


def cost(platform: Platform, hours: Decimal) -> tuple[Decimal, list[str]]:
    """The most that new nodes cost in that time, one for each pool, in USD; and the pools without a price."""
    prices = {name: node_hourly(pool) for name, pool in sorted(resolve_all(platform).items()) if not pool.waiting}
    known = (price for price in prices.values() if price is not None)
    return sum(known, Decimal(0)) * hours, [name for name, price in prices.items() if price is None]


def counts(checks: Sequence[Check]) -> str:
    """`12 passed, 1 failed, 8 need AWS`."""
    by = Counter(one.status for one in checks)
    return f"{by[Status.PASSED]} passed, {by[Status.FAILED]} failed, {by[Status.NEEDS_AWS]} need AWS"


def markdown(stack: str, checks: Sequence[Check], *, simulated: bool) -> str:
    """A table of all checks, and what is not covered."""
    where = "in the sandbox" if simulated else "on AWS"
    rows = [f"| {one.subject} | {one.what} | {one.status} | {_cell(one.detail)} |" for one in checks]
    return "\n".join(
        [
            f"# Verification of stack {stack} {where}", "", f"{counts(checks)}.", "",
            "| Subject | Check | Result | Detail |", "|---|---|---|---|", *rows, "",
            f"Not covered: {', '.join(NOT_COVERED)}.", "",
        ]
    )  # fmt: skip


def document(stack: str, checks: Sequence[Check], *, simulated: bool) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "stack": stack,
        "sandbox": simulated,
        "checks": [
            {"subject": one.subject, "check": one.what, "status": str(one.status), "detail": one.detail}
            for one in checks
        ],
        "notCovered": list(NOT_COVERED),
    }


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
