"""A MultiKueue manager against the stacks of its workers.

A job that a manager dispatches is created on the worker under the same namespace and LocalQueue; without them it is
never admitted there, and waits on the manager (kueue.sigs.k8s.io, "Setup a MultiKueue environment": the namespaces and
local queues of manager and workers should be the same; read 2026-11-22).
"""

from collections.abc import Callable, Iterator

from spec.settings.platform import Platform
from spec.settings.problems import Problem


def mismatches(manager: Platform, worker_of: Callable[[str], Platform | None]) -> Iterator[Problem]:
    """What the stacks of the workers lack.

    Args:
        manager: The manager's settings. A worker that names no stack is not compared.
        worker_of: The settings of a stack; None if there is no valid file of that name.
    """
    for name, worker in sorted(manager.queues.workers.items()):
        if worker.stack is None:
            continue
        path, platform = f"queues.workers.{name}.stack", worker_of(worker.stack)
        if platform is None:
            rule = "must be a stack whose file is valid"
            yield Problem(path, rule, worker.stack, f"Run `slipway check {worker.stack}`.")
            continue
        for rule, fix in _lacks(manager, platform):
            yield Problem(path, rule, worker.stack, f"{fix} in stacks/Pulumi.{worker.stack}.yaml.")


def _lacks(manager: Platform, worker: Platform) -> Iterator[tuple[str, str]]:
    kueue = worker.addons.kueue
    if kueue is None or kueue.multi_kueue != "worker":
        yield "the stack must be a MultiKueue worker", "Set `addons.kueue.multiKueue: worker`"
    for alias in manager.queues.aliases:
        if alias not in worker.queues.aliases:
            yield f"the worker needs the queue {alias}", "Add it to `queues.aliases`"
    for pool in manager.queues.remote_pools:
        if pool not in worker.pools:
            yield f"the worker needs the remote pool {pool}", f"Add `pools.{pool}`"
    remote = frozenset(manager.queues.remote_pools or manager.pools)
    for name, team in sorted(manager.teams.items()):
        used = sorted(remote & team.shares.keys())
        if team.retired or not used:
            continue
        there = worker.teams.get(name)
        if there is None or there.retired:
            yield f"the worker needs the team {name}", f"Add `teams.{name}`"
            continue
        for namespace in sorted(team.namespaces_of(name).keys() - there.namespaces_of(name).keys()):
            yield f"team {name} needs the namespace {namespace} there", f"Add it to `teams.{name}.namespaces`"
        for pool in used:
            if pool in worker.pools and pool not in there.shares:
                yield f"team {name} needs a share of the pool {pool} there", f"Add one to `teams.{name}`"
