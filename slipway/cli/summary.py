"""What is said after a run in the sandbox: what stands, what it would cost, what was not done as AWS would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from slipway.cli import coverage
from slipway.cli.nodes import PoolNodes, read
from slipway.cli.output import table
from slipway.engine.invocation import Operation, Request
from slipway.engine.state import StackState, counts
from slipway.sandbox.notes import load_notes
from spec.pricing import Estimate, estimate

if TYPE_CHECKING:
    from slipway.cli.offline import Sandbox
    from spec.settings import Platform

KINDS_SHOWN: Final = 6
"""Kinds of a service that are named; `pulumi stack` and `slipway render` have them all."""


def after(request: Request, platform: Platform, state: Callable[[], StackState], sandbox: Sandbox) -> str:
    """The summary of a run that went well; `state` is what it left, and takes a run of the engine to read."""
    if request.operation is Operation.PREVIEW:
        parts = [cost(estimate(platform)), "This was a preview: nothing was changed."]
    else:
        left = state()
        parts = [existing(left), open_operations(left, request.stack)]
        if left.existing and request.operation is not Operation.DESTROY:
            parts += _in_detail(request, platform, left, sandbox)
    return "\n" + "\n\n".join(part for part in parts if part)


def _in_detail(request: Request, platform: Platform, state: StackState, sandbox: Sandbox) -> list[str]:
    return [
        nodes(read(sandbox.kubeconfig, platform.cluster_name)),
        cost(estimate(platform)),
        coverage.of_aws(state, sandbox.in_moto),
        coverage.of_charts(state, load_notes(sandbox.home)),
        coverage.of_kubernetes(state, load_notes(sandbox.home)),
        where(sandbox, platform.cluster_name, request.stack),
    ]


def existing(state: StackState) -> str:
    """Resources by service, the largest service first."""
    services = counts(state)
    total = sum(kinds.total() for kinds in services.values())
    if not total:
        return "Nothing stands."
    rows = [(str(kinds.total()), service, _kinds(kinds)) for service, kinds in services.items()]
    return f"{total} resources stand:\n{table(rows, right=frozenset({0}), indent='  ')}"


def open_operations(state: StackState, stack: str) -> str:
    """A warning about what a killed run left open; nothing where all is well."""
    if not state.pending:
        return ""
    rows = "".join(f"  - {one}\n" for one in state.pending)
    return (
        f"A run that was killed left {len(state.pending)} operation(s) open:\n{rows}"
        "What it had begun to make may stand in the sandbox without the state knowing of it. To forget these entries:\n"
        f"  slipway refresh {stack} --sandbox -- --clear-pending-creates\n"
        f"To be rid of what they made as well: `slipway sandbox stop`, then `slipway up {stack} --sandbox`."
    )


def nodes(pools: Sequence[PoolNodes]) -> str:
    """Nodes by pool; a pool at zero shows what its first node will be."""
    if not pools:
        return ""
    rows = [
        (
            "0" if pool.placeholder else str(pool.count),
            pool.pool,
            pool.instance_type + (" (at zero)" if pool.placeholder else ""),
        )
        for pool in pools
    ]
    total = sum(pool.count for pool in pools if not pool.placeholder)
    names = {pool.pool for pool in pools}
    return f"{total} nodes in {len(names)} pools:\n{table(rows, right=frozenset({0}), indent='  ')}"


def cost(priced: Estimate) -> str:
    """The bill's two ends, what is expected, and how much it leaves out."""
    cent, whole = Decimal("0.01"), priced.amounts
    floor, ceiling = (amount.quantize(cent) for amount in (whole.floor, whole.ceiling))
    out = f" {len(priced.unpriced)} items have no price in it." if priced.unpriced else ""
    return (
        f"On AWS this would cost {floor:,} USD an hour with every pool at its least, {ceiling:,} at its most; "
        f"{whole.month.expected.quantize(cent):,} a month is expected.{out} `slipway cost` has the lines."
    )


def where(sandbox: Sandbox, cluster: str, stack: str) -> str:
    """How to look."""
    return "\n".join(
        [
            f"kubeconfig: {sandbox.kubeconfig} (context {cluster})",
            f"  KUBECONFIG={sandbox.kubeconfig} kubectl --context {cluster} get nodes",
            f'  eval "$(slipway sandbox env)" && pulumi stack -s {stack}',
        ]
    )


def _kinds(kinds: Counter[str]) -> str:
    shown = kinds.most_common(KINDS_SHOWN)
    rest = kinds.total() - sum(count for _, count in shown)
    return ", ".join([*(f"{count} {kind}" for kind, count in shown), *([f"{rest} more"] if rest else [])])
