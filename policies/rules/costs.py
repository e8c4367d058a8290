"""Cost: limits of pools and of the stack, budgets, and tags that it is allocated by."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, Final

from policies.checks.pools import machines
from policies.checks.questions import present
from policies.checks.related import default_tags
from policies.resources import tokens
from policies.resources.access import Node, WrongTypeError, unknowns
from policies.resources.resource import Resource, Stack
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation
from spec.catalog import instances
from spec.teams.labels import COST_CENTER, PROJECT, TEAM


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
    image = pool["amiType"].text() if pool.type == tokens.NODE_GROUP else None
    if image is None or image == "CUSTOM":
        return
    for node, machine in machines(pool):
        if machine is not None and machine.arch.lower() not in image.lower():
            yield violation(node, f"{node.shown} ({machine.arch}), while the image is {image}")


TYPE_ALLOWED = ResourceRule(
    name="gpu-type-allowed",
    types=(tokens.NODE_GROUP, tokens.NODE_POOL),
    settings={
        "types": setting(
            "globs of instance types that pools may use",
            ["m*", "c*", "r*", "t*", "g*", "p4d.24xlarge", "p5.4xlarge"],
            ["m*", "c*", "r*", "g*", "p4*", "p5*"],
            # No g4dn in prod: a T4 has no bfloat16 (NVIDIA Turing tuning guide), in which models are trained.
            ["m*", "c*", "r*", "g5.*", "g6*", "p*"],
        )
    },
    finds={
        "allowed": _not_allowed,
        "known": _not_in_catalog,
        "region": _not_offered,
        "architecture": _other_processor,
    },
)


def _maximum(pool: Resource) -> Node:
    return pool["scalingConfig"]["maxSize"] if pool.type == tokens.NODE_GROUP else pool["spec"]["limits"]["nodes"]


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
    types=(tokens.NODE_GROUP, tokens.NODE_POOL),
    settings={
        "usdPerHour": setting(
            "maximum cost of a pool in USD an hour, with all instances on-demand",
            50,
            150,
            500,
            type="number",
            exclusiveMinimum=0,
        ),
        "unpriced": setting("instance types that may be used although the catalog has no price for them", []),
    },
    finds={
        "bound": present(_maximum),
        "cap": _expensive,
        "priced": _unpriced,
    },
)


def _bills(stack: Stack) -> Iterator[tuple[Resource, Node]]:
    return ((component, component["bill"]) for component in stack.of(tokens.BILL))


def _above(at: Resource, amount: Node, limit: Node) -> Iterator[Violation]:
    number, maximum = amount.number(), limit.number()
    if number is not None and maximum is not None and number > maximum:
        yield violation(amount, f"{number:.2f} USD an hour, and the limit is {maximum:.2f}", at)


def _over(key: str) -> Any:
    def find(stack: Stack, _: Context) -> Iterator[Violation]:
        for component, bill in _bills(stack):
            yield from _above(component, bill[key], bill["limits"][key])

    return find


def _pool_over(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, bill in _bills(stack):
        for name, limit in bill["limits"]["pools"].fields().items():
            yield from _above(component, bill["pools"][name], limit)


def _unbounded(stack: Stack, context: Context) -> Iterator[Violation]:
    for component, bill in _bills(stack):
        limit = bill["limits"]["ceilingUsdPerHour"]
        if context.settings["bounded"] and limit.missing:
            yield violation(limit, at=component)


STACK_COST_CAP = StackRule(
    name="stack-cost-cap",
    types=(tokens.BILL,),
    settings={"bounded": setting("whether a stack must have a limit", True)},
    finds={
        "ceiling": _over("ceilingUsdPerHour"),
        "floor": _over("floorUsdPerHour"),
        "pool": _pool_over,
        "bound": _unbounded,
    },
)


def _date(node: Node) -> date | None:
    text = node.text()
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise WrongTypeError(node, "a date") from error


def _unapproved(stack: Stack, _: Context) -> Iterator[Violation]:
    for component, bill in _bills(stack):
        for name in (str(entry.raw) for entry in bill["premiumOnDemand"].items() if entry.known):
            approval = bill["limits"]["premium"][name]
            if approval.missing:
                yield violation(approval, at=component)


def _expired(stack: Stack, context: Context) -> Iterator[Violation]:
    for component, bill in _bills(stack):
        for name in (str(entry.raw) for entry in bill["premiumOnDemand"].items() if entry.known):
            until = bill["limits"]["premium"][name]["until"]
            day = _date(until)
            if day is not None and day < context.today:
                yield violation(until, at=component)


PREMIUM_APPROVAL = StackRule(
    name="gpu-premium-approval",
    types=(tokens.BILL,),
    finds={"approved": _unapproved, "current": _expired},
)


def _no_budget(stack: Stack, _: Context) -> Iterator[Violation]:
    if not stack.of(tokens.BUDGET):
        yield Violation(path="", got="without one")


def _without_percentages(stack: Stack, context: Context) -> Iterator[Violation]:
    for budget in stack.of(tokens.BUDGET):
        notifications = budget["notifications"]
        entries = notifications.items()
        undecided = unknowns(entry[key] for entry in entries for key in ("threshold", "notificationType"))
        percents = {entry["threshold"].number() for entry in entries if entry["notificationType"].raw == "ACTUAL"}
        missing = [percent for percent in context.settings["percents"] if percent not in percents]
        if not notifications.unknown and len(missing) > undecided:
            yield violation(notifications, f"without {', '.join(map(str, missing))} percent", budget)


def _without_forecast(stack: Stack, _: Context) -> Iterator[Violation]:
    for budget in stack.of(tokens.BUDGET):
        notifications = budget["notifications"]
        kinds = [entry["notificationType"] for entry in notifications.items()]
        if not notifications.unknown and not any(kind.unknown or kind.raw == "FORECASTED" for kind in kinds):
            yield violation(notifications, "without one for a forecast", budget)


def _without_subscriber(stack: Stack, _: Context) -> Iterator[Violation]:
    for budget in stack.of(tokens.BUDGET):
        for entry in budget["notifications"].items():
            subscribers = [entry["subscriberSnsTopicArns"], entry["subscriberEmailAddresses"]]
            if all(node.missing or node.raw == [] for node in subscribers):
                yield violation(subscribers[0], at=budget)


BUDGET_ALARM = StackRule(
    name="budget-alarm-exists",
    types=(tokens.BUDGET,),
    settings={
        "percents": setting(
            "percentages of a budget at which a notification must be sent", [50, 80, 100], items={"type": "number"}
        )
    },
    finds={
        "budget": _no_budget,
        "percents": _without_percentages,
        "forecast": _without_forecast,
        "subscriber": _without_subscriber,
    },
)


_BILLED: Final = (
    tokens.CLUSTER,
    tokens.NODE_GROUP,
    tokens.NAT_GATEWAY,
    tokens.BUCKET,
    tokens.EFS,
    tokens.LUSTRE,
    tokens.OPEN_ZFS,
    tokens.DATABASE,
    tokens.VOLUME,
)
_LAUNCHED: Final = ("instance", "volume")
"""Resources that EC2 creates from a template and bills; the provider's default tags don't apply to them."""


def _lacking(tags: Node, defaults: Node, keys: list[str]) -> list[str]:
    return [key for key in keys if tags[key].missing and defaults[key].missing]


def _untagged(resource: Resource, context: Context) -> Iterator[Violation]:
    if resource.type in _BILLED:
        missing = _lacking(resource["tags"], default_tags(resource), context.settings["keys"])
        if missing:
            yield violation(resource["tags"], f"without {', '.join(missing)}")


def _untagged_machines(template: Resource, context: Context) -> Iterator[Violation]:
    specifications = template["tagSpecifications"]
    entries = specifications.items()
    for kind in _LAUNCHED if template.type == tokens.LAUNCH_TEMPLATE and not specifications.unknown else ():
        tags = [entry["tags"] for entry in entries if entry["resourceType"].raw in (kind, *_unknown(entry))]
        nothing = Node(f"{specifications.path}[{kind}]", None)
        if all(_lacking(node, nothing, context.settings["keys"]) for node in tags):
            yield violation(specifications, f"without {', '.join(context.settings['keys'])} for {kind}")


def _unknown(entry: Node) -> tuple[Any, ...]:
    kind = entry["resourceType"]
    return (kind.raw,) if kind.unknown else ()


def _untagged_nodes(node_class: Resource, context: Context) -> Iterator[Violation]:
    tags = node_class["spec"]["tags"]
    missing = _lacking(tags, Node("", None), context.settings["keys"]) if node_class.type == tokens.NODE_CLASS else []
    if missing:
        yield violation(tags, f"without {', '.join(missing)}")


COST_TAGS = ResourceRule(
    name="cost-tags-complete",
    types=(*_BILLED, tokens.LAUNCH_TEMPLATE, tokens.NODE_CLASS),
    settings={"keys": setting("required tag keys", ["owner", "cost-center", "environment"])},
    finds={
        "tags": _untagged,
        "machines": _untagged_machines,
        "nodes": _untagged_nodes,
    },
)


def _unlabelled(space: Resource, context: Context) -> Iterator[Violation]:
    labels = space["metadata"]["labels"]
    missing = [key for key in context.settings["labels"] if labels[key].missing]
    if labels[TEAM].known and missing:
        yield violation(labels, f"without {', '.join(missing)}")


WORKLOAD_LABELS = ResourceRule(
    name="workload-cost-labels",
    types=(tokens.NAMESPACE,),
    settings={"labels": setting("labels that a team's namespace must have", [COST_CENTER, PROJECT])},
    finds={"labels": _unlabelled},
)
