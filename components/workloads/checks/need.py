"""What a pod requests, and which pools it selects, read from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from components.workloads.target import Target
from spec.pools import PoolSpec, keys
from spec.pools.allocatable import HUGEPAGES
from spec.quantities import is_amount, parse

Spec = Mapping[str, Any]


def requests(container: Spec) -> dict[str, str]:
    """Requests of a container; a limit without a request counts as one (kubernetes.io, "Resource Management")."""
    resources = container.get("resources", {})
    return {**resources.get("limits", {}), **resources.get("requests", {})}


def need(spec: Spec) -> dict[str, Decimal]:
    """Effective requests of a pod: the sum of its containers, or the largest init container if that is more
    (kubernetes.io, "Init Containers"). Huge pages count as memory too, because nodes reserve them from it."""
    total: dict[str, Decimal] = {}
    for container in spec.get("containers", ()):
        for name, amount in _amounts(container).items():
            total[name] = total.get(name, Decimal(0)) + amount
    for container in spec.get("initContainers", ()):
        for name, amount in _amounts(container).items():
            total[name] = max(total.get(name, Decimal(0)), amount)
    if pages := total.get(HUGEPAGES):
        total["memory"] = total.get("memory", Decimal(0)) + pages
    return {name: amount for name, amount in total.items() if amount}


def _amounts(container: Spec) -> dict[str, Decimal]:
    return {name: parse(amount) for name, amount in requests(container).items() if is_amount(amount)}


@dataclass(frozen=True)
class Choice:
    """Pools that a pod's manifest selects.

    Attributes:
        named: Pool names in its selector or affinity; empty if there are none.
        pools: Pools of the target whose labels match, by name.
    """

    named: tuple[str, ...]
    pools: Mapping[str, PoolSpec]


def choice(spec: Spec, target: Target) -> Choice:
    """Read node selector and required affinity. Labels that aren't labels of pools (zone, instance type) are
    ignored."""
    known = {key for pool in target.pools.values() for key in pool.labels}
    wanted = {key: (value,) for key, value in spec.get("nodeSelector", {}).items()} | _affinity(spec)
    selected = {key: values for key, values in wanted.items() if key in known}
    pools = {
        name: pool
        for name, pool in target.pools.items()
        if all(pool.labels.get(key) in values for key, values in selected.items())
    }
    return Choice(tuple(wanted.get(keys.POOL, ())), pools)


def _affinity(spec: Spec) -> dict[str, tuple[str, ...]]:
    nodes = spec.get("affinity", {}).get("nodeAffinity", {})
    terms = nodes.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
    if len(terms) != 1:
        # Terms are alternatives, so none of them is certain to apply.
        return {}
    expressions = terms[0].get("matchExpressions", ())
    return {each["key"]: tuple(each["values"]) for each in expressions if each["operator"] == "In"}
