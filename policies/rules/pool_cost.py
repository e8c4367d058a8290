"""Which machines a pool may be of, and what it may cost at its largest."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fnmatch import fnmatchcase

from pulumi_policy import Severity

from policies.access import Node
from policies.levels import Levels
from policies.pools import machines
from policies.resource import Resource
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from policies.tokens import NODE_GROUP, NODE_POOL
from spec.catalog import instances


def _unlisted(pool: Resource, context: Context) -> Iterator[Violation]:
    allowed = context.settings["types"]
    for node, machine in machines(pool):
        if machine is not None and not any(fnmatchcase(machine.name, pattern) for pattern in allowed):
            yield violation(node)


def _unheard_of(pool: Resource, _: Context) -> Iterator[Violation]:
    for node, machine in machines(pool):
        if machine is None:
            near = instances.closest(str(node.raw))
            yield violation(node, f"{node.shown}; the nearest is {near!r}" if near else None)


def _elsewhere(pool: Resource, _: Context) -> Iterator[Violation]:
    region = Node("region", pool.provider.get("region") if "region" in list(pool.provider) else None).text()
    for node, machine in machines(pool):
        if machine is not None and region and machine.offered_in(region) is False:
            yield violation(node, f"{node.shown}, which {region} does not offer")


def _other_processor(pool: Resource, _: Context) -> Iterator[Violation]:
    image = pool["amiType"].text() if pool.type == NODE_GROUP else None
    if image is None or image == "CUSTOM":
        return
    for node, machine in machines(pool):
        if machine is not None and machine.arch.lower() not in image.lower():
            yield violation(node, f"{node.shown} ({machine.arch}), and the image is {image}")


TYPE_ALLOWED = ResourceRule(
    name="gpu-type-allowed",
    title="A pool's machines are of types that the environment may have and the region offers",
    types=(NODE_GROUP, NODE_POOL),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="A typing error is a pool that never starts; an H100 in a sandbox is a bill that nobody planned.",
    fix="Choose other instanceTypes for the pool, or have the type allowed in the rule's setting.",
    settings={
        "types": Setting(
            asks="globs of instance types that pools may have",
            schema={"type": "array", "items": {"type": "string"}},
            values={
                "dev": ["m*", "c*", "r*", "t*", "g*", "p4d.24xlarge", "p5.4xlarge"],
                "staging": ["m*", "c*", "r*", "g*", "p4*", "p5*"],
                # No g4dn: a T4 has no bfloat16 (NVIDIA Turing tuning guide), in which models are trained.
                "prod": ["m*", "c*", "r*", "g5.*", "g6*", "p*"],
            },
        )
    },
    checks={
        "allowed": Check(
            asks="must be of a type that the environment may have",
            find=_unlisted,
        ),
        "known": Check(
            asks="must be a type that the catalog knows",
            find=_unheard_of,
        ),
        "region": Check(
            asks="must be offered in the region",
            find=_elsewhere,
        ),
        "architecture": Check(
            asks="must have the processor that the image is for",
            find=_other_processor,
        ),
    },
)


def _maximum(pool: Resource) -> Node:
    return pool["scalingConfig"]["maxSize"] if pool.type == NODE_GROUP else pool["spec"]["limits"]["nodes"]


def _endless(pool: Resource, _: Context) -> Iterator[Violation]:
    if _maximum(pool).missing:
        yield violation(_maximum(pool))


def _expensive(pool: Resource, context: Context) -> Iterator[Violation]:
    maximum = _maximum(pool).number()
    prices = [machine.usd_per_hour for _, machine in machines(pool) if machine and machine.usd_per_hour]
    if maximum is None or not prices:
        return
    total = max(prices) * Decimal(str(maximum))
    if total > Decimal(str(context.settings["usdPerHour"])):
        yield violation(_maximum(pool), f"{maximum:g}, at most {total:.2f} USD an hour (on-demand, us-east-1)")


def _unpriced(pool: Resource, context: Context) -> Iterator[Violation]:
    for node, machine in machines(pool):
        if machine and machine.usd_per_hour is None and machine.name not in context.settings["unpriced"]:
            yield violation(node, f"{node.shown}, for which the catalog has no price")


COST_CAP = ResourceRule(
    name="pool-cost-cap",
    title="No pool can cost more than the environment allows, however much is asked of it",
    types=(NODE_GROUP, NODE_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="An autoscaler has no budget: the largest size times the dearest type is what a mistake costs each hour.",
    fix="Lower max of the pool, take smaller types, or have the cap raised in the rule's setting.",
    settings={
        "usdPerHour": Setting(
            asks="USD that one pool may cost an hour, all machines on-demand",
            schema={"type": "number", "exclusiveMinimum": 0},
            values={"dev": 50, "staging": 150, "prod": 500},
        ),
        "unpriced": Setting(
            asks="instance types that may be used although the catalog has no price for them",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere([]),
        ),
    },
    checks={
        "bound": Check(
            asks="must be set",
            find=_endless,
        ),
        "cap": Check(
            asks="must keep the pool below the environment's cap",
            find=_expensive,
        ),
        "priced": Check(
            asks="must be of a type whose price is known",
            find=_unpriced,
        ),
    },
)

RULES = (TYPE_ALLOWED, COST_CAP)
