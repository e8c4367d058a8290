"""The facts of a stack that rules depend on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from components.admission import placement
from components.admission.kinds import POD
from components.base.controllers import BUILT_IN, KUBE_SYSTEM, Controller, Scheduler, accounts
from spec.pools.pool_spec import PoolSpec


@dataclass(frozen=True, kw_only=True)
class StackContext:
    """The facts of a stack that rules depend on."""

    pools: Mapping[str, PoolSpec]
    queues: bool  # whether Kueue queues jobs
    max_replicas: int  # maximum number of pods of one workload
    aliases: Sequence[str] = ()  # LocalQueues of each namespace beside `default`
    controllers: Sequence[tuple[str, Controller]] = ()
    """Controllers of the add-ons, with the namespaces of their service accounts."""
    version: str = ""  # minor version of Kubernetes, `1.36`
    scheduler: Scheduler | None = None  # what schedules the pods of teams instead of kube-scheduler
    prices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Thousandths of a USD an hour of each device, by pool (`spec.pricing.pods.device_prices`)."""
    repairs_gpus: bool = False  # whether a node with a broken GPU is replaced
    by_topology: frozenset[str] = frozenset()
    """Pools to which Kueue admits only pods that say how near each other they are placed."""
    shares: Mapping[str, Collection[str]] | None = None
    """Pools of each team's queue; None if every queue has all of them."""

    @property
    def makers(self) -> dict[str, list[str]]:
        """Usernames of the controllers that make a kind for a parent that the rules check, by kind."""
        return accounts([*((KUBE_SYSTEM, each) for each in BUILT_IN), *self.controllers], "makes")

    @property
    def changers(self) -> dict[str, list[str]]:
        """Usernames of the controllers that change objects of a kind that users make, by kind."""
        return accounts(self.controllers, "changes")

    @property
    def parameters(self) -> dict[str, str]:
        """What every rule may find in `params.data`: pools, and controllers by the kinds that they make or change."""
        makers, changers = self.makers, self.changers
        trusted = [
            f"{operation} {kind} {name}"
            for operations, found in ((("CREATE", "UPDATE"), makers), (("UPDATE",), changers))
            for operation in operations
            for kind, names in found.items()
            for name in names
            if kind != POD.kind
        ]
        return {
            "pools": placement.pools(self.pools, self.prices),
            "queues": str(self.queues).lower(),
            "schedulers": ",".join(["default-scheduler", *([self.scheduler.name] if self.scheduler else [])]),
            "makesPods": ",".join(makers.get(POD.kind, ())),
            "changesPods": ",".join(changers.get(POD.kind, ())),
            "trusted": ",".join(["", *sorted({*trusted}), ""]),
        }
