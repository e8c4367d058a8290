"""Pools for training, and what an account lets a stack have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.fixtures import Fixture, FixtureResource, edited, one, with_
from policies.levels import Levels
from policies.pools import ROLE, facts, label
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, ResourceRule, Setting, StackRule, everywhere, problem
from policies.tokens import KARPENTER_POOL, MANAGED_POOL, NODE_POOL
from spec.catalog import instances

_TRAINING: Final = "training"
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def _seconds(text: str | None) -> int | None:
    """A duration as Karpenter writes it: `30s`, `5m`, `24h`; none for `Never` and what is not known."""
    if text is None or text[-1:] not in _UNITS or not text[:-1].isdigit():
        return None
    return int(text[:-1]) * _UNITS[text[-1]]


def _trains(pool: Resource) -> bool:
    return bool(label(pool, ROLE).raw == _TRAINING)


def _moved(pool: Resource, _: Context) -> Iterator[Problem]:
    policy = pool["spec"]["disruption"]["consolidationPolicy"]
    if _trains(pool) and policy.is_not("WhenEmpty"):
        yield problem(policy)


def _soon(pool: Resource, context: Context) -> Iterator[Problem]:
    after = pool["spec"]["disruption"]["consolidateAfter"]
    seconds = _seconds(after.text())
    if _trains(pool) and seconds is not None and seconds < context.settings["idleSeconds"]:
        yield problem(after)


def _short(pool: Resource, context: Context) -> Iterator[Problem]:
    expiry = pool["spec"]["template"]["spec"]["expireAfter"]
    seconds = _seconds(expiry.text())
    if _trains(pool) and seconds is not None and seconds < context.settings["lifeSeconds"]:
        yield problem(expiry)


_POOL: Final[dict[str, Any]] = {
    "spec": {
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "10m"},
        "template": {"metadata": {"labels": {ROLE: _TRAINING}}, "spec": {"expireAfter": "720h"}},
    }
}
_GENERAL: Final = edited(_POOL, f"spec.template.metadata.labels.{ROLE.replace('.', '|')}", "general")

TRAINING_DISRUPTION = ResourceRule(
    name="karpenter-training-disruption",
    title="Nobody moves a training job to save a node",
    types=(NODE_POOL,),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A consolidation ends the job of all its nodes (EKS Best Practices, AI/ML compute).",
    fix="Give the pool role training, from which components.pools sets WhenEmpty and a long life.",
    settings={
        "idleSeconds": Setting(
            asks="seconds that a node must be empty before it goes",
            schema={"type": "integer", "minimum": 0},
            values=everywhere(300),
        ),
        "lifeSeconds": Setting(
            asks="seconds that a node must live at the least",
            schema={"type": "integer", "minimum": 0},
            values={"dev": 86400, "staging": 86400, "prod": 604800},
        ),
    },
    checks={
        "policy": Check(
            asks="must be WhenEmpty",
            find=_moved,
            bad=(
                one(edited(_POOL, "spec.disruption.consolidationPolicy", "WhenEmptyOrUnderutilized")),
                one(edited(_POOL, "spec.disruption.consolidationPolicy")),
            ),
        ),
        "idle": Check(
            asks="must be long enough for the next job",
            find=_soon,
            bad=(one(edited(_POOL, "spec.disruption.consolidateAfter", "299s")),),
        ),
        "life": Check(
            asks="must be longer than a job",
            find=_short,
            bad=(one(edited(_POOL, "spec.template.spec.expireAfter", "24h")),),
        ),
    },
    good=(
        one(_POOL),
        one(edited(_POOL, "spec.template.spec.expireAfter", "Never")),
        one(edited(_POOL, "spec.disruption.consolidateAfter", "")),
        one(
            edited(
                edited(
                    edited(_GENERAL, "spec.disruption.consolidationPolicy", "WhenEmptyOrUnderutilized"),
                    "spec.disruption.consolidateAfter",
                    "1m",
                ),
                "spec.template.spec.expireAfter",
                "1h",
            )
        ),
    ),
)


def _partitioned(stack: Stack, _: Context) -> Iterator[Problem]:
    for component, pool in facts(stack):
        if pool["role"].raw == _TRAINING and pool["sharing"].known:
            yield problem(pool["sharing"], at=component)


def _too_many_replicas(stack: Stack, context: Context) -> Iterator[Problem]:
    for component, pool in facts(stack):
        replicas = pool["sharing"]["replicas"]
        number = replicas.number()
        if number is not None and number > context.settings["replicas"]:
            yield problem(replicas, at=component)


_SHARED: Final[Fixture] = {
    "notebooks": FixtureResource(
        type=KARPENTER_POOL,
        props={"pool": {"name": "notebooks", "role": "interactive", "sharing": {"mode": "mps", "replicas": 4}}},
    ),
    "training": FixtureResource(
        type=MANAGED_POOL, props={"pool": {"name": "h100", "role": _TRAINING, "sharing": None}}
    ),
}

NO_TIMESLICING = StackRule(
    name="no-timeslicing-training",
    title="A training pool's GPUs are whole, and a shared one is not shared by a crowd",
    types=(MANAGED_POOL, KARPENTER_POOL),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="Time slices have no memory of their own: one job's tensors push out the other's.",
    fix="Remove sharing of the pool, or lower its replicas.",
    settings={
        "replicas": Setting(
            asks="pods that may share a GPU",
            schema={"type": "integer", "minimum": 1},
            values=everywhere(16),
        )
    },
    checks={
        "training": Check(
            asks="must not be set",
            find=_partitioned,
            bad=(with_(_SHARED, "training", "pool.sharing", {"mode": "time-slicing", "replicas": 2}),),
        ),
        "replicas": Check(
            asks="must be few",
            find=_too_many_replicas,
            bad=(with_(_SHARED, "notebooks", "pool.sharing.replicas", 17),),
        ),
    },
    good=(_SHARED,),
)

_CLASSES: Final = {"p": "p", "g": "g", "vt": "g"}
"""Quotas of EC2 are by family: P, G and VT together, and the standard ones (EC2 User Guide, "EC2 service quotas")."""


def _quota(pool: Any) -> tuple[str, float]:
    """The quota that a pool counts against, and the vCPUs that it takes at its largest."""
    kinds = [instances.find(str(entry.raw)) for entry in pool["instanceTypes"].items()]
    known = [kind for kind in kinds if kind is not None]
    family = _CLASSES.get(known[0].name[:1], "standard") if known else "standard"
    spot = "-spot" if pool["market"].raw == "spot" else ""
    return family + spot, (pool["max"].number() or 0) * max((kind.vcpus for kind in known), default=0)


def _beyond(stack: Stack, context: Context) -> Iterator[Problem]:
    sums: dict[str, float] = {}
    for component, pool in facts(stack):
        if pool["market"].raw not in ("on-demand", "spot"):
            continue
        name, vcpus = _quota(pool)
        sums[name] = sums.get(name, 0) + vcpus
        granted = context.settings["vcpus"].get(name, 0)
        if sums[name] > granted:
            got = f"{vcpus:g} vCPUs of quota {name!r}, {sums[name]:g} with the pools before, and {granted} are granted"
            yield problem(pool["max"], got, component)


_GROUNDED: Final[Fixture] = {
    "a100": FixtureResource(
        type=MANAGED_POOL,
        props={"pool": {"name": "a100", "instanceTypes": ["p4d.24xlarge"], "market": "on-demand", "max": 4}},
    ),
    "spot": FixtureResource(
        type=KARPENTER_POOL,
        props={"pool": {"name": "spot", "instanceTypes": ["g6.xlarge", "g6.2xlarge"], "market": "spot", "max": 8}},
    ),
    "h100": FixtureResource(
        type=MANAGED_POOL,
        props={"pool": {"name": "h100", "instanceTypes": ["p5.48xlarge"], "market": "reserved", "max": 99}},
    ),
}

SERVICE_QUOTA = StackRule(
    name="service-quota-headroom",
    title="The account may have the machines that the pools may ask for",
    types=(MANAGED_POOL, KARPENTER_POOL),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A new account may run no P instance at all, and an increase takes days (EKS Best Practices, quotas).",
    fix="Have the EC2 quota raised and the rule's setting with it, or lower max of the pool.",
    settings={
        "vcpus": Setting(
            asks="vCPUs that the account may run, by EC2 quota",
            schema={"type": "object", "additionalProperties": {"type": "integer"}},
            values={
                "dev": {"standard": 256, "g-spot": 256, "p": 192},
                "staging": {"standard": 512, "g-spot": 768, "p": 768},
                "prod": {"standard": 1152, "g-spot": 1536, "p": 768},
            },
        )
    },
    checks={
        "vcpus": Check(
            asks="must be within the account's quota",
            find=_beyond,
            bad=(
                with_(_GROUNDED, "a100", "pool.max", 9),
                with_(_GROUNDED, "spot", "pool.max", 193),
                with_(_GROUNDED, "spot", "pool.market", "on-demand"),
                {**_GROUNDED, "more": with_(_GROUNDED, "a100", "pool.max", 5)["a100"]},
            ),
        )
    },
    good=(_GROUNDED, with_(_GROUNDED, "spot", "pool.max", 192), with_(_GROUNDED, "spot", "pool.instanceTypes", [])),
)

RULES = (TRAINING_DISRUPTION, NO_TIMESLICING, SERVICE_QUOTA)
