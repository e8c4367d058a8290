"""Instance types of pools, and their maximum cost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fnmatch import fnmatchcase

from pulumi_policy import Severity

from policies.checks.pools import machines
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.resources.tokens import NODE_GROUP, NODE_POOL
from policies.rule import Check, Context, ResourceRule, Setting, Violation, everywhere, violation
from spec.catalog import instances


def _not_allowed(pool: Resource, context: Context) -> Iterator[Violation]:
    allowed = context.settings["types"]
    for node, machine in machines(pool):
        if machine is not None and not any(fnmatchcase(machine.name, pattern) for pattern in allowed):
            yield violation(node)


def _not_in_catalog(pool: Resource, _: Context) -> Iterator[Violation]:
    for node, machine in machines(pool):
        if machine is None:
            closest = instances.closest(str(node.raw))
            yield violation(node, f"{node.shown}; the closest is {closest!r}" if closest else None)


def _not_offered(pool: Resource, _: Context) -> Iterator[Violation]:
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
            yield violation(node, f"{node.shown} ({machine.arch}), while the image is {image}")


TYPE_ALLOWED = ResourceRule(
    name="gpu-type-allowed",
    title="Instance types of pools are allowed in the environment and offered in the Region",
    types=(NODE_GROUP, NODE_POOL),
    severity=Severity.MEDIUM,
    levels=Levels("M/M/M"),
    why="A pool with a misspelled type never starts; an H100 in a development environment is an unplanned cost.",
    fix="Choose other instanceTypes for the pool, or allow the type in the rule's setting.",
    settings={
        "types": Setting(
            asks="globs of instance types that pools may use",
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
            asks="must be an instance type that the environment allows",
            find=_not_allowed,
        ),
        "known": Check(
            asks="must be an instance type of the catalog",
            find=_not_in_catalog,
        ),
        "region": Check(
            asks="must be offered in the Region",
            find=_not_offered,
        ),
        "architecture": Check(
            asks="must have the processor architecture of the image",
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
        yield violation(_maximum(pool), f"{maximum:g}, up to {total:.2f} USD an hour (on-demand, us-east-1)")


def _unpriced(pool: Resource, context: Context) -> Iterator[Violation]:
    for node, machine in machines(pool):
        if machine and machine.usd_per_hour is None and machine.name not in context.settings["unpriced"]:
            yield violation(node, f"{node.shown}, for which the catalog has no price")


COST_CAP = ResourceRule(
    name="pool-cost-cap",
    title="The maximum cost of a pool is within the environment's cap",
    types=(NODE_GROUP, NODE_POOL),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="An autoscaler has no budget: each hour, a mistake costs the maximum size times the most expensive type.",
    fix="Lower max of the pool, use smaller types, or raise the cap in the rule's setting.",
    settings={
        "usdPerHour": Setting(
            asks="maximum cost of a pool in USD an hour, with all instances on-demand",
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
            asks="must keep the pool within the environment's cap",
            find=_expensive,
        ),
        "priced": Check(
            asks="must be an instance type with a known price",
            find=_unpriced,
        ),
    },
)

RULES = (TYPE_ALLOWED, COST_CAP)
