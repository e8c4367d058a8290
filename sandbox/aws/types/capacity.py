"""Functions of the types in capacity.yaml: launch templates, scheduled scaling and budgets."""

from __future__ import annotations

from typing import Any

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.mapping import Call, Inputs, Item, find
from sandbox.aws.types import network

# Launch templates: every change other than one of tags creates a new version.

_TEMPLATE = network.described("describe_launch_templates", "LaunchTemplateIds", "LaunchTemplates")
# Properties of the template that aren't part of a version's data.
_OUTSIDE = frozenset({"defaultVersion", "updateDefaultVersion"})
_RENAMED = {
    "name": "LaunchTemplateName", "description": "VersionDescription", "vpcSecurityGroupIds": "SecurityGroupIds",
    "networkInterfaces.securityGroups": "Groups",
}  # fmt: skip


def with_tagging(inputs: Inputs) -> Inputs:
    """Without tag specifications that tag nothing: moto 5.2.5 fails on one without a resource type or tags."""
    tagging = [one for one in inputs.get("tagSpecifications") or [] if one.get("resourceType") and one.get("tags")]
    return {**inputs, "tagSpecifications": tagging} if tagging else _without(inputs, "tagSpecifications")


def _without(inputs: Inputs, *names: str) -> Inputs:
    return {key: value for key, value in inputs.items() if key not in names}


def new_version(aws: Aws, id: str, inputs: Inputs) -> None:
    data = _without(inputs, "name", "namePrefix", "tags")
    create = Call(
        "create_launch_template_version",
        {"LaunchTemplateId": "{id}"},
        rename=_RENAMED,
        omit=_OUTSIDE,
        adapt=with_tagging,
        wrap="LaunchTemplateData",
    )
    answer = create(aws, network.SERVICE, data, {"id": id})
    if inputs.get("updateDefaultVersion"):
        newest = str(answer["LaunchTemplateVersion"]["VersionNumber"])
        aws.call(network.SERVICE, "modify_launch_template", LaunchTemplateId=id, DefaultVersion=newest)


def choose_default(aws: Aws, id: str, inputs: Inputs) -> None:
    if inputs.get("defaultVersion"):
        version = str(inputs["defaultVersion"])
        aws.call(network.SERVICE, "modify_launch_template", LaunchTemplateId=id, DefaultVersion=version)


def read_template(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The template with the data of its latest version, as the AWS provider reads it."""
    template = find(aws, network.SERVICE, _TEMPLATE, {"id": id})
    if template is None:
        return None
    versions = aws.call(
        network.SERVICE, "describe_launch_template_versions", LaunchTemplateId=id, Versions=["$Latest"]
    )["LaunchTemplateVersions"]
    data = dict(versions[0]["LaunchTemplateData"]) if versions else {}
    data["VpcSecurityGroupIds"] = data.pop("SecurityGroupIds", None)
    return {**data, **template}


# Scheduled scaling and budgets.


def read_schedule(aws: Aws, id: str, names: Inputs) -> Item | None:
    actions = aws.call("autoscaling", "describe_scheduled_actions", ScheduledActionNames=[id])
    for action in actions["ScheduledUpdateGroupActions"]:
        if action["AutoScalingGroupName"] == names.get("autoscalingGroupName", action["AutoScalingGroupName"]):
            return dict(action)
    return None


def create_budget(aws: Aws, inputs: Inputs) -> str:
    budget = {"BudgetName": inputs["name"], "BudgetType": inputs["budgetType"], "TimeUnit": inputs["timeUnit"]}
    if "limitAmount" in inputs:
        budget["BudgetLimit"] = {"Amount": str(inputs["limitAmount"]), "Unit": inputs.get("limitUnit", "USD")}
    aws.call("budgets", "create_budget", AccountId=aws.account, Budget=budget)
    return f"{aws.account}:{inputs['name']}"


def read_budget(aws: Aws, id: str, names: Inputs) -> Item | None:
    name = id.split(":", 1)[1]
    budget = Call("describe_budget", {"AccountId": "{account}", "BudgetName": name}, item="Budget")
    item = find(aws, "budgets", budget, aws.names())
    if item is None:
        return None
    return {**item, "name": name, "limitAmount": item.get("BudgetLimit", {}).get("Amount")}


def report_tag(aws: Aws, old: Inputs | None, new: Inputs | None) -> None:
    """The tags of a node group's Auto Scaling group describe its nodes to the Cluster Autoscaler."""
    if old is not None and new is None:
        try:
            aws.call("autoscaling", "delete_tags", Tags=[_asg_tag(old)])
        except AwsError as error:
            if not error.not_found:
                raise
    if new is not None:
        aws.call("autoscaling", "create_or_update_tags", Tags=[_asg_tag(new)])


def _asg_tag(inputs: Inputs) -> dict[str, Any]:
    tag = inputs["tag"]
    return {
        "ResourceId": inputs["autoscalingGroupName"],
        "ResourceType": "auto-scaling-group",
        "Key": tag["key"],
        "Value": str(tag.get("value", "")),
        "PropagateAtLaunch": tag.get("propagateAtLaunch") in (True, "true"),
    }
