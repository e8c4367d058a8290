"""Training pools, and EC2 quotas for all pools."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from policies.checks.pools import facts, label
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import KARPENTER_POOL, MANAGED_POOL, NODE_POOL
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.catalog import instances, quotas
from spec.jobs import DAY, LONGEST
from spec.pools.keys import ROLE

_TRAINING: Final = "training"
_TEMPLATE: Final = "spec.template.spec"
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_PART: Final = re.compile(r"([0-9]+)([hms])")
_DURATION: Final = re.compile(r"([0-9]+[hms])+")


def _seconds(text: str | None) -> int | None:
    """A duration in Karpenter's notation, `30s`, `5m`, `1h30m`; None for `Never` and unknown values."""
    if text is None or not _DURATION.fullmatch(text):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def _trains(pool: Resource) -> bool:
    return bool(label(pool, ROLE).raw == _TRAINING)


def _consolidated(pool: Resource, _: Context) -> Iterator[Violation]:
    policy = pool["spec"]["disruption"]["consolidationPolicy"]
    if _trains(pool) and policy.is_not("WhenEmpty"):
        yield violation(policy)


def _lasting(path: str, setting: str) -> Callable[[Resource, Context], Iterator[Violation]]:
    """Where it is set, it must be a duration of at least a setting. Without a limit, a drain waits for its pods for any
    time."""

    def find(pool: Resource, context: Context) -> Iterator[Violation]:
        node = pool.props.at(*path.split("."))
        seconds = _seconds(node.text())
        if _trains(pool) and seconds is not None and seconds < context.settings[setting]:
            yield violation(node)

    return find


TRAINING_DISRUPTION = ResourceRule(
    name="karpenter-training-disruption",
    types=(NODE_POOL,),
    settings={
        "idleSeconds": setting("minimum seconds that a node is empty before it is removed", 300, minimum=0),
        "lifeSeconds": setting("minimum lifetime of a node, in seconds", DAY, DAY, 7 * DAY, minimum=0),
        "jobSeconds": setting("longest deadline of a job, in seconds", LONGEST, minimum=0),
    },
    finds={
        "policy": _consolidated,
        "idle": _lasting("spec.disruption.consolidateAfter", "idleSeconds"),
        "life": _lasting(f"{_TEMPLATE}.expireAfter", "lifeSeconds"),
        "drain": _lasting(f"{_TEMPLATE}.terminationGracePeriod", "jobSeconds"),
    },
)


def _shared(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, pool in facts(stack):
        if pool["role"].raw == _TRAINING and pool["sharing"].known:
            yield violation(pool["sharing"], at=component)


def _too_many_replicas(stack: Stack, context: Context) -> Iterator[Violation]:
    for component, pool in facts(stack):
        replicas = pool["sharing"]["replicas"]
        number = replicas.number()
        if number is not None and number > context.settings["replicas"]:
            yield violation(replicas, at=component)


NO_TIMESLICING = StackRule(
    name="no-timeslicing-training",
    types=(MANAGED_POOL, KARPENTER_POOL),
    settings={"replicas": setting("maximum number of pods that share a GPU", 16, minimum=1)},
    finds={
        "training": _shared,
        "replicas": _too_many_replicas,
    },
)


def _quota(pool: Any) -> tuple[str, float]:
    """The quota that applies to a pool, and the vCPUs that the pool uses at its maximum."""
    kinds = [instances.find(str(entry.raw)) for entry in pool["instanceTypes"].items()]
    known = [kind for kind in kinds if kind is not None]
    spot = pool["market"].raw == "spot"
    key = quotas.vcpu_key(known[0].name, spot=spot) if known else None
    # A family without a listed quota is one of its own, which the rule's setting may name.
    family = known[0].family + ("-spot" if spot else "") if known else "unknown"
    return key or family, (pool["max"].number() or 0) * max((kind.vcpus for kind in known), default=0)


def _beyond(stack: Stack, context: Context) -> Iterator[Violation]:
    sums: dict[str, float] = {}
    for component, pool in facts(stack):
        if pool["market"].raw not in ("on-demand", "spot"):
            continue
        name, vcpus = _quota(pool)
        sums[name] = sums.get(name, 0) + vcpus
        granted = context.settings["vcpus"].get(name, 0)
        if sums[name] > granted:
            got = f"{vcpus:g} vCPUs of quota {name!r}, {sums[name]:g} with preceding pools, and the quota is {granted}"
            yield violation(pool["max"], got, component)


SERVICE_QUOTA = StackRule(
    name="service-quota-headroom",
    types=(MANAGED_POOL, KARPENTER_POOL),
    settings={
        "vcpus": setting(
            "vCPUs that the account may run, by EC2 quota",
            {"standard": 256, "g-spot": 256, "p": 192},
            {"standard": 512, "g-spot": 768, "p": 768},
            {"standard": 1152, "g-spot": 1536, "p": 768},
        )
    },
    finds={"vcpus": _beyond},
)
