"""Checks of the queues: MultiKueue manager and workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spec.settings.addons import Addons
from spec.settings.checks.base import Context
from spec.settings.pools import Pool
from spec.settings.problems import Problem
from spec.settings.queues import Queues


def workers_managed(_context: Context, queues: Queues, addons: Addons) -> Iterator[Problem]:
    """Only a manager has workers, and a manager has at least one."""
    manages = addons.kueue is not None and addons.kueue.multi_kueue == "manager"
    if queues.workers and not manages:
        rule = "only a MultiKueue manager has workers"
        fix = "Set `addons.kueue.multiKueue: manager`, or remove them."
        yield Problem("queues.workers", rule, sorted(queues.workers), fix)
    if manages and not queues.workers:
        rule = "a MultiKueue manager needs at least one worker"
        fix = "Add `west: {secret: kubeconfig-west}`, or remove `addons.kueue.multiKueue`."
        yield Problem("queues.workers", rule, None, fix)
    if queues.remote_pools and not queues.workers:
        rule = "remote pools need a worker cluster"
        yield Problem("queues.remotePools", rule, list(queues.remote_pools), "Add `workers`, or remove it.")


def named_pools_exist(context: Context, queues: Queues, _pools: Mapping[str, Pool]) -> Iterator[Problem]:
    """Pools that the queues name exist in this stack."""
    for key, names in (("remotePools", queues.remote_pools), ("poolOrder", queues.pool_order)):
        for position, name in enumerate(names):
            if name not in context.named("pools"):
                fix = f"Use {', '.join(context.named('pools'))}."
                yield Problem(f"queues.{key}.{position}", "the pool must exist", name, fix)
