"""The summary after a run in the sandbox: what exists and runs, and how far it was checked."""

from collections.abc import Callable, Sequence
from typing import Final

from sandbox.cluster.apiserver import emulation
from sandbox.kubernetes.controllers.running import Entry, State, load
from sandbox.kubernetes.controllers.table import CONTROLLERS
from sandbox.notes import load_notes
from sandbox.toolchain import building
from slipway.cli import coverage
from slipway.cli.offline import Sandbox
from slipway.cli.pods import Pods, read_pods
from slipway.engine.invocation import Operation, Request
from slipway.engine.state import StackState
from spec.settings import Platform

WAITING_SHOWN: Final = 10  # lines about pods that don't run


def after(
    request: Request, platform: Platform, state: Callable[[], StackState], sandbox: Sandbox, *, verbose: bool = False
) -> str:
    """The summary of a successful run. `state` reads the resulting state, which takes a run of the engine."""
    if request.only_shows:
        parts = ["This was a preview: nothing was changed."]
    else:
        after_run = state()
        parts = []
        if after_run.existing and request.operation is not Operation.DESTROY:
            parts += _in_detail(request, platform, after_run, sandbox, verbose=verbose)
        else:
            parts.append(existing(after_run))
    return "\n" + "\n\n".join(part for part in parts if part)


def _in_detail(
    request: Request, platform: Platform, state: StackState, sandbox: Sandbox, *, verbose: bool
) -> list[str]:
    cluster, notes = platform.cluster_name, load_notes(sandbox.home)
    running = read_pods(sandbox.kubeconfig, cluster)
    nothing = coverage.nothing_installed(state, notes, sandbox.charts)
    short = [
        "" if running is None else served(platform.cluster.version, sandbox.kubernetes),
        "" if running is None else pods(running, nothing),
        controllers(load(sandbox.home), nothing),
        coverage.in_short(state, sandbox.in_moto, notes, sandbox.charts),
    ]
    inventory = [
        coverage.of_aws(state, sandbox.in_moto),
        coverage.of_charts(state, notes),
        coverage.of_kubernetes(state, notes),
    ]
    return [
        "\n".join(part for part in short if part),
        *(inventory if verbose else [coverage.left_out(state, notes)]),
        where(sandbox, cluster, request.stack, verbose=verbose),
    ]


def served(version: str, binary: str) -> str:
    """Which Kubernetes version the cluster's API server serves."""
    return f"{emulation(version, binary).text}." if binary else ""


def pods(found: Pods, nothing_installed: str = "") -> str:
    """Pods that are wanted and run, and why the others don't; DaemonSets that don't reach every node they select.

    Args:
        nothing_installed: Why no chart is installed; empty if one is.
    """
    if not found.wanted and nothing_installed:
        return f"Pods: none, because no chart is installed: {nothing_installed}."
    missing = sum(one.count for one in found.waiting)
    lines = [
        f"Pods: {found.wanted} wanted, {found.running} running" + (f", {missing} not running:" if missing else ".")
    ]
    lines += [f"  {one.count}  {one.owner}: {one.reason}" for one in found.waiting[:WAITING_SHOWN]]
    if len(found.waiting) > WAITING_SHOWN:
        lines.append(f"  and {sum(one.count for one in found.waiting[WAITING_SHOWN:])} more: `kubectl get pods -A`")
    for one in found.unreached:
        lines.append(
            f"  DaemonSet {one.daemon_set} has no pod on nodes of {', '.join(one.pools)}: "
            f"it does not tolerate {', '.join(one.taints)}"
        )
    return "\n".join(lines)


def controllers(entries: Sequence[Entry], nothing_installed: str = "") -> str:
    """Controllers of add-ons that run, and what keeps the others from running; those of charts need their chart."""
    if not entries:
        return ""
    running = [f"{each.name} {each.version}" for each in entries if each.state is State.RUNNING]
    queue = waiting(entries)
    parts = [f"{', '.join(running) or 'none'} running"] if running or not queue else []
    if queue:
        left = building.about(building.minutes(queue, building.present()))
        parts.append(f"{', '.join(queue)} being built in the background, {left} (`slipway sandbox wait`)")
    others = [f"  {each.text}" for each in entries if each.state not in (State.RUNNING, State.BUILDING)]
    lines = [f"Controllers: {'; '.join(parts)}" + (", others:" if others else "."), *others]
    if nothing_installed:
        lines.append(f"  Those of charts are not there: {nothing_installed}.")
    return "\n".join(lines)


def waiting(entries: Sequence[Entry]) -> list[str]:
    """The controllers that are being built, in the order of their builds."""
    names = {each.name for each in entries if each.state is State.BUILDING}
    return [each.name for each in CONTROLLERS if each.name in names]


def existing(state: StackState) -> str:
    """How many resources there are."""
    count = len(state.existing)
    return f"{count} resources exist." if count else "No resources exist."


def where(sandbox: Sandbox, cluster: str, stack: str, *, verbose: bool) -> str:
    """How to access the cluster and the stack."""
    lines = [
        f"kubeconfig: {sandbox.kubeconfig} (context {cluster})",
        f"  KUBECONFIG={sandbox.kubeconfig} kubectl --context {cluster} get pods -A",
        f'  eval "$(slipway sandbox env)" && pulumi stack -s {stack}',
    ]
    if not verbose:
        lines.append("  --verbose lists how each resource was checked")
    return "\n".join(lines)
