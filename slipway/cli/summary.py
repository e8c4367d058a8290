"""The summary after a run in the sandbox: existing resources, estimated cost, and how far they were checked."""

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
"""Kinds listed per service; `pulumi stack` and `slipway render` list all of them."""


def after(request: Request, platform: Platform, state: Callable[[], StackState], sandbox: Sandbox) -> str:
    """The summary of a successful run. `state` reads the resulting state, which takes a run of the engine."""
    if request.operation is Operation.PREVIEW:
        parts = [cost(estimate(platform)), "This was a preview: nothing was changed."]
    else:
        after_run = state()
        parts = [existing(after_run)]
        if after_run.existing and request.operation is not Operation.DESTROY:
            parts += _in_detail(request, platform, after_run, sandbox)
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
        return "No resources exist."
    rows = [(str(kinds.total()), service, _kinds(kinds)) for service, kinds in services.items()]
    return f"{total} resources exist:\n{table(rows, right=frozenset({0}), indent='  ')}"


def nodes(pools: Sequence[PoolNodes]) -> str:
    """Nodes by pool; a pool at zero shows the instance type of its placeholder node."""
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
    """Floor and ceiling an hour, the expected cost a month, and the number of unpriced items."""
    cent, whole = Decimal("0.01"), priced.amounts
    floor, ceiling = (amount.quantize(cent) for amount in (whole.floor, whole.ceiling))
    unpriced = f" {len(priced.unpriced)} items are unpriced." if priced.unpriced else ""
    return (
        f"On AWS this would cost {floor:,} USD an hour at the floor, {ceiling:,} at the ceiling; "
        f"{whole.month.expected.quantize(cent):,} a month is expected.{unpriced} `slipway cost` lists every item."
    )


def where(sandbox: Sandbox, cluster: str, stack: str) -> str:
    """How to access the cluster and the stack."""
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
