"""Cost of a stack: the program's estimate against the limits of its stack file, and AWS budgets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.access import Node, WrongTypeError, unknowns
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import BILL, BUDGET
from policies.rule import Check, Context, Setting, StackRule, Violation, everywhere, violation


def _bills(stack: Stack) -> Iterator[tuple[Resource, Node]]:
    return ((component, component["bill"]) for component in stack.of(BILL))


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
    title="The stack's cost is within its limits, at the floor and at the ceiling",
    types=(BILL,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A bill arrives a month later; a limit is checked before the first instance starts.",
    fix="Reduce the pools, or raise the limit in cost.limits of the stack file; `slipway cost` lists the items.",
    settings={
        "bounded": Setting(
            asks="whether a stack must have a limit",
            schema={"type": "boolean"},
            values=everywhere(True),
        )
    },
    checks={
        "ceiling": Check(
            asks="must be within the limit",
            find=_over("ceilingUsdPerHour"),
        ),
        "floor": Check(
            asks="must be within the limit",
            find=_over("floorUsdPerHour"),
        ),
        "pool": Check(
            asks="must be within the pool's limit",
            find=_pool_over,
        ),
        "bound": Check(
            asks="must be set",
            find=_unbounded,
        ),
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
    title="Outside production, on-demand premium GPUs need an approval with an end date",
    types=(BILL,),
    severity=Severity.HIGH,
    levels=Levels("M/M/-"),
    why="One p5.48xlarge forgotten after a test costs 40,000 USD a month.",
    fix="Use Spot or smaller instances, or add the approval to cost.limits.premium of the stack file.",
    checks={
        "approved": Check(
            asks="must be approved",
            find=_unapproved,
        ),
        "current": Check(
            asks="must not have expired",
            find=_expired,
        ),
    },
)


def _no_budget(stack: Stack, _: Context) -> Iterator[Violation]:
    if not stack.of(BUDGET):
        yield Violation(path="", got="without one")


def _without_percentages(stack: Stack, context: Context) -> Iterator[Violation]:
    for budget in stack.of(BUDGET):
        notifications = budget["notifications"]
        entries = notifications.items()
        undecided = unknowns(entry[key] for entry in entries for key in ("threshold", "notificationType"))
        percents = {entry["threshold"].number() for entry in entries if entry["notificationType"].raw == "ACTUAL"}
        missing = [percent for percent in context.settings["percents"] if percent not in percents]
        if not notifications.unknown and len(missing) > undecided:
            yield violation(notifications, f"without {', '.join(map(str, missing))} percent", budget)


def _without_forecast(stack: Stack, _: Context) -> Iterator[Violation]:
    for budget in stack.of(BUDGET):
        notifications = budget["notifications"]
        kinds = [entry["notificationType"] for entry in notifications.items()]
        if not notifications.unknown and not any(kind.unknown or kind.raw == "FORECASTED" for kind in kinds):
            yield violation(notifications, "without one for a forecast", budget)


def _without_subscriber(stack: Stack, _: Context) -> Iterator[Violation]:
    for budget in stack.of(BUDGET):
        for entry in budget["notifications"].items():
            subscribers = [entry["subscriberSnsTopicArns"], entry["subscriberEmailAddresses"]]
            if all(node.missing or node.raw == [] for node in subscribers):
                yield violation(subscribers[0], at=budget)


BUDGET_ALARM = StackRule(
    name="budget-alarm-exists",
    title="Budget notifications are sent before the monthly budget is spent",
    types=(BUDGET,),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="AWS does not stop spending at a budget: only a notification leads to action (EKS Best Practices, "
    "Karpenter, billing alarms).",
    fix="Set cost.monthlyBudgetUsd and notifications of the stack file.",
    settings={
        "percents": Setting(
            asks="percentages of a budget at which a notification must be sent",
            schema={"type": "array", "items": {"type": "number"}},
            values=everywhere([50, 80, 100]),
        )
    },
    checks={
        "budget": Check(
            asks="must have a budget",
            find=_no_budget,
        ),
        "percents": Check(
            asks="must contain one for each required percentage",
            find=_without_percentages,
        ),
        "forecast": Check(
            asks="must contain one for a forecast",
            find=_without_forecast,
        ),
        "subscriber": Check(
            asks="must have a subscriber",
            find=_without_subscriber,
        ),
    },
)

RULES = (STACK_COST_CAP, PREMIUM_APPROVAL, BUDGET_ALARM)
