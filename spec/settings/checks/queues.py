"""Checks of the queues: what a manager and its workers need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spec.settings.addons import Addons
from spec.settings.checks.base import Context
from spec.settings.pools import Pool
from spec.settings.problems import Problem
from spec.settings.queues import Queues


def workers_managed(_context: Context, queues: Queues, addons: Addons) -> Iterator[Problem]:
    """Work is sent to workers by a manager, and a manager has workers."""
    manages = addons.kueue is not None and addons.kueue.multi_kueue == "manager"
    if queues.workers and not manages:
        rule = "only a manager has workers"
        fix = "Set `addons.kueue.multiKueue: manager`, or remove them."
        yield Problem("queues.workers", rule, sorted(queues.workers), fix)
    if manages and not queues.workers:
        rule = "a manager has at least one worker"
        fix = "Add `west: {secret: kubeconfig-west}`, or remove `addons.kueue.multiKueue`."
        yield Problem("queues.workers", rule, None, fix)
    if queues.remote_pools and not queues.workers:
        rule = "pools whose work is sent away need a cluster that takes it"
        yield Problem("queues.remotePools", rule, list(queues.remote_pools), "Add `workers`, or remove it.")


def remote_pools_exist(context: Context, queues: Queues, _pools: Mapping[str, Pool]) -> Iterator[Problem]:
    """Pools whose work is sent away are named."""
    for position, name in enumerate(queues.remote_pools):
        if name not in context.named("pools"):
            fix = f"Use {', '.join(context.named('pools'))}."
            yield Problem(f"queues.remotePools.{position}", "the pool must exist", name, fix)
