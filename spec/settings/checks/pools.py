"""Checks of each pool on its own: bounds, role, provisioner, versions, zones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spec.catalog import kubernetes
from spec.settings.checks.base import Context
from spec.settings.cluster import Cluster
from spec.settings.network import Network
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.problems import Problem

MAX_SKEW: Final = 3
"""Minor versions that a kubelet may be older than the API server (kubernetes.io, "Version Skew Policy")."""
KARPENTER_MIN_NODES: Final = 2
"""Nodes that Karpenter's two replicas need, which never run on the same node."""
_RELEASE: Final = {
    Provisioner.MANAGED: (re.compile(r"^\d+\.\d+\.\d+-\d{8}$|^\d+\.\d+\.\d+$"), "1.35.0-20261101"),
    Provisioner.KARPENTER: (re.compile(r"^v(\d{8}|\d+\.\d+\.\d+)$"), "v20261101"),
}


def bounds(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Minimum and maximum are consistent."""
    for name, pool in pools.items():
        if pool.min > pool.max:
            rule = f"min must be at most max ({pool.max})"
            yield Problem(f"pools.{name}.min", rule, pool.min, f"Use {pool.max} or less, or raise max.")
        if pool.provisioner is Provisioner.KARPENTER and pool.min > 0:
            rule = "a Karpenter pool starts from zero"
            yield Problem(f"pools.{name}.min", rule, pool.min, "Remove min, or use `provisioner: managed`.")


def settings_in_use(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """Settings in the file that the pool's provisioner would ignore."""
    for name, pool in pools.items():
        ignored = "disruption" if pool.provisioner is Provisioner.MANAGED else "update"
        own = context.own_keys("pools", name)
        if ignored in own:
            rule = f"`{ignored}` has no effect with `provisioner: {pool.provisioner}`"
            yield Problem(f"pools.{name}.{ignored}", rule, own[ignored], "Remove it, or change the provisioner.")


def system_pool(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A managed system pool exists, on which the controllers always run."""
    systems = {name: pool for name, pool in pools.items() if pool.role is Role.SYSTEM}
    if not systems and context.whole("pools"):
        yield Problem("pools", "one pool must have the role system", sorted(pools), "Add `system: {preset: system}`.")
    for name, pool in systems.items():
        if pool.provisioner is not Provisioner.MANAGED:
            rule = "the system pool can't depend on Karpenter, which runs on it"
            yield Problem(f"pools.{name}.provisioner", rule, str(pool.provisioner), "Use `provisioner: managed`.")
        elif pool.min < KARPENTER_MIN_NODES:
            rule = (
                f"the system pool needs at least {KARPENTER_MIN_NODES} nodes, one for each replica of the controllers"
            )
            yield Problem(f"pools.{name}.min", rule, pool.min, f"Use {KARPENTER_MIN_NODES} or more.")


def zones_of_network(context: Context, pools: dict[str, Pool], network: Network) -> Iterator[Problem]:
    """A pool's zones are zones of the network."""
    for name, pool in pools.items():
        for zone in pool.zones:
            if zone not in network.zones:
                rule = "the zone must be one of the network's"
                yield Problem(f"pools.{name}.zones", rule, zone, f"Use {', '.join(network.zones)}, or add it there.")


def versions(context: Context, pools: dict[str, Pool], cluster: Cluster) -> Iterator[Problem]:
    """Nodes are not newer than the control plane, and within the version skew."""
    for name, pool in pools.items():
        path = f"pools.{name}.version"
        if pool.version is not None:
            skew = kubernetes.skew(pool.version, cluster.version)
            if pool.provisioner is Provisioner.KARPENTER:
                fix = "Remove it: new nodes get the control plane's version; delay their replacement with `disruption`."
                yield Problem(path, "a Karpenter pool has no version of its own", pool.version, fix)
            elif skew is None or not 0 <= skew <= MAX_SKEW:
                rule = f"nodes may be 0 to {MAX_SKEW} minor versions older than the cluster's {cluster.version}"
                yield Problem(path, rule, pool.version, f"Use {cluster.version}, or remove it.")
        pattern, example = _RELEASE[pool.provisioner]
        if pool.ami_release is not None and not pattern.match(pool.ami_release):
            rule = f"an AMI release of a {pool.provisioner} pool looks like {example}"
            yield Problem(f"pools.{name}.amiRelease", rule, pool.ami_release, "Take it from the AMI's change log.")


def budgets(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A window has both a start and a length (Karpenter refuses one without the other)."""
    for name, pool in pools.items():
        for key, budget in pool.disruption.budgets.items():
            if (budget.schedule is None) != (budget.duration is None):
                path = f"pools.{name}.disruption.budgets.{key}"
                given = budget.schedule or budget.duration
                yield Problem(path, "schedule and duration go together", given, "Set both, or neither.")
