"""Scheduled scaling and budgets."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, find

_PUT_SCHEDULE = Call("put_scheduled_update_group_action", rename={"autoscalingGroupName": "AutoScalingGroupName"})


def _read_schedule(aws: Aws, id: str, names: Inputs) -> Item | None:
    actions = aws.call("autoscaling", "describe_scheduled_actions", ScheduledActionNames=[id])
    for action in actions["ScheduledUpdateGroupActions"]:
        if action["AutoScalingGroupName"] == names.get("autoscalingGroupName", action["AutoScalingGroupName"]):
            return dict(action)
    return None


# Moto does not check whether the group exists.
SCHEDULE = ResourceMapping(
    "aws:autoscaling/schedule:Schedule",
    "autoscaling",
    create=_PUT_SCHEDULE,
    id="{scheduledActionName}",
    read=_read_schedule,
    delete=Call(
        "delete_scheduled_action",
        target={"AutoScalingGroupName": "{autoscalingGroupName}", "ScheduledActionName": "{id}"},
    ),
    force_new=frozenset({"autoscalingGroupName", "scheduledActionName"}),
    settings=(Setting((ANY,), _PUT_SCHEDULE, at_create=False),),
    from_item={"arn": "ScheduledActionARN"},
    drift=("desiredCapacity", "minSize", "maxSize", "recurrence"),
)


def _create_budget(aws: Aws, inputs: Inputs) -> str:
    budget = {"BudgetName": inputs["name"], "BudgetType": inputs["budgetType"], "TimeUnit": inputs["timeUnit"]}
    if "limitAmount" in inputs:
        budget["BudgetLimit"] = {"Amount": str(inputs["limitAmount"]), "Unit": inputs.get("limitUnit", "USD")}
    aws.call("budgets", "create_budget", AccountId=aws.account, Budget=budget)
    return f"{aws.account}:{inputs['name']}"


def _read_budget(aws: Aws, id: str, names: Inputs) -> Item | None:
    name = id.split(":", 1)[1]
    budget = Call("describe_budget", {"AccountId": "{account}", "BudgetName": name}, item="Budget")
    item = find(aws, "budgets", budget, aws.names())
    if item is None:
        return None
    return {**item, "name": name, "limitAmount": item.get("BudgetLimit", {}).get("Amount")}


# Moto 5.2.5 has no UpdateBudget: updates are only recorded.
BUDGET = ResourceMapping(
    "aws:budgets/budget:Budget",
    "budgets",
    create=_create_budget,
    id="",
    read=_read_budget,
    delete=Call("delete_budget", target={"AccountId": "{account}", "BudgetName": "{name}"}),
    force_new=frozenset({"accountId", "name", "namePrefix"}),
    name_limit=100,
    computed={"arn": "arn:{partition}:budgets::{account}:budget/{name}", "accountId": "{account}"},
)

MAPPINGS = (SCHEDULE, BUDGET)
