"""`destroy` on AWS: empty the cluster, remove what is in the way, run the engine, remove and list what remains."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final

from sandbox.kubernetes.client import KubeClient, UnreachableError
from slipway.engine.invocation import Request
from slipway.teardown.inside import Emptied, empty
from slipway.teardown.leftovers import (
    IN_THE_WAY,
    INSTANCE,
    INTERFACE,
    ORDER,
    VOLUME,
    Client,
    Leftover,
    LeftoverSearch,
    clear_directories,
    sweep,
    warnings,
)
from spec.catalog import prices
from spec.errors import EXIT_CANCELLED, fail, refuse
from spec.pricing.pods import usd
from spec.quantities import seconds
from spec.settings.platform import Platform

MARGIN: Final = 3600
"""Seconds for a drained node to be terminated, and for load balancers, beyond the pools' `terminationGracePeriod`."""
EXIT_LEFT: Final = 1
NOTHING: Final = Emptied((), frozenset())
Empty = Callable[[Callable[[], KubeClient], Callable[[str], None], float], Emptied]
Clear = Callable[[Client, str, Callable[[str], None]], None]
Warn = Callable[[Client, list[Leftover]], list[str]]
Sweep = Callable[[LeftoverSearch, Callable[[Leftover], bool], Callable[[str], None]], list[Leftover]]


@dataclass(frozen=True, kw_only=True)
class Teardown:
    """How a stack is removed."""

    platform: Platform  # its settings
    client: Client  # clients of AWS, in the stack's region
    connect: Callable[[], KubeClient | None]  # connects to the cluster; None if EKS has no such cluster
    run: Callable[[Request], int]  # runs the engine
    say: Callable[[str], None]  # reports progress
    delete_volumes: bool = False  # delete all volumes of the cluster's claims, also those that nothing is known about
    empty: Empty | None = empty  # empties a cluster; None if nothing in it makes AWS resources
    sweep: Sweep = sweep  # removes leftovers
    clear: Clear = clear_directories  # empties buckets without files
    warn: Warn = warnings  # says which keys of leftovers are about to be deleted

    def destroy(self, request: Request) -> int:
        """Remove the stack; the exit code of the engine, or `EXIT_LEFT` if it succeeds and something is left.

        Raises:
            SlipwayError: The credentials are of another account, or the cluster can't be emptied; nothing was
                destroyed then.
        """
        self._refuse_other_account()
        emptied = self._empty(request)
        if emptied is None:
            request = replace(request, unreachable=True)
        first = IN_THE_WAY - {INTERFACE} if emptied else IN_THE_WAY | {INSTANCE}
        self._sweep(first)
        if not self.platform.environment.protect:
            self.clear(self.client, self.platform.environment.name, self.say)
        code = self.run(request)
        if code not in (0, EXIT_CANCELLED) and self._retry(request):
            code = self.run(request)
        if code:
            return code
        # Instances and volumes of a cluster that exists are in use, whatever the engine says.
        everything = ORDER if self.connect() is None else ()
        left = self._sweep(everything, emptied.volumes if emptied else frozenset())
        if left:
            self.say("\n".join([_report(left, self.platform.account.region), *self.warn(self.client, left)]))
        return EXIT_LEFT if left else 0

    def longest_drain(self) -> int:
        """Seconds that the pools of Karpenter may take to drain, with a margin."""
        periods = [pool.disruption.termination_grace_period for pool in self.platform.karpenter_pools.values()]
        return max(map(seconds, periods), default=0) + MARGIN

    def _refuse_other_account(self) -> None:
        account = self.client("sts").get_caller_identity()["Account"]
        if account != self.platform.account.id:
            refuse(
                f"the credentials are of account {account}, and the stack is in {self.platform.account.id}: "
                "nothing was destroyed"
            )

    def _empty(self, request: Request) -> Emptied | None:
        """None if there is no cluster that answers, or if there need not be one."""
        name = self.platform.cluster_name
        if request.unreachable:
            return None
        if self.empty is None:
            return NOTHING
        if self.connect() is None:
            self.say(f"EKS has no cluster {name}: its objects are removed from the state only")
            return None
        hours = self.longest_drain() // 3600
        self.say(f"emptying cluster {name}; its nodes drain for at most {hours} h, and sooner if their jobs end")
        try:
            emptied = self.empty(self._connected, self.say, self.longest_drain())
        except UnreachableError as error:
            fail(
                f"{error}: the stack was not destroyed. Run from a network that reaches it (network.peers, "
                "publicAccessCidrs); if it will never answer again, add --unreachable",
                error,
            )
        if emptied.left:
            fail(
                "\n".join(
                    [
                        f"cluster {name} still keeps AWS resources; the stack was not destroyed:",
                        *(f"  - {one}" for one in emptied.left),
                        "See their events and finalizers, then run the command again.",
                    ]
                )
            )
        return emptied

    def _connected(self) -> KubeClient:
        client = self.connect()
        if client is None:
            fail(f"cluster {self.platform.cluster_name} disappeared while it was emptied: run the command again")
        return client

    def _retry(self, request: Request) -> bool:
        """After a failure: whether something was in the way and is removed, now that nodes may be gone."""
        if "--yes" not in request.extra and not request.yes:
            return False
        left = self._sweep(())
        if not any(one.kind in IN_THE_WAY for one in left):
            return False
        self._sweep(IN_THE_WAY)
        return True

    def _sweep(self, kinds: Collection[str], volumes: frozenset[str] = frozenset()) -> list[Leftover]:
        def wanted(one: Leftover) -> bool:
            return one.kind in kinds and (one.kind != VOLUME or self.delete_volumes or one.id in volumes)

        return self.sweep(LeftoverSearch(self.client, self.platform.cluster_name, volumes), wanted, self.say)


def _report(left: list[Leftover], region: str) -> str:
    lines = [f"these remain, with tags of the cluster ({len(left)}):", *(f"  - {one}" for one in left)]
    if any(one.kind == VOLUME for one in left):
        gib, price = sum(one.gib for one in left), prices.book(region).get("ebs-gp3")
        lines.append(
            f"Volumes hold data: {gib} GiB, {usd(price.monthly * gib)} USD a month as gp3 ({price.source.day}). Delete "
            "those that nobody needs, or run the command with --delete-volumes."
        )
    return "\n".join(lines)
