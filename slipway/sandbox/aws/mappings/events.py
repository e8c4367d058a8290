"""EventBridge rules and targets."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "events"
_ARN = "arn:{partition}:events:{region}:{account}:rule/{id}"


def _state(inputs: Inputs) -> Inputs:
    """`isEnabled` is the deprecated form of `state`."""
    if "isEnabled" in inputs and "state" not in inputs:
        return {**inputs, "state": "ENABLED" if inputs["isEnabled"] in (True, "true") else "DISABLED"}
    return inputs


_OMITTED = frozenset({"forceDestroy", "isEnabled", "namePrefix"})

EVENT_RULE = ResourceMapping(
    "aws:cloudwatch/eventRule:EventRule",
    SERVICE,
    create=Call("put_rule", adapt=_state, omit=_OMITTED),
    id="{name}",
    read=Call("describe_rule", target={"Name": "{id}"}),
    delete=Call("delete_rule", target={"Name": "{id}"}),
    force_new=frozenset({"name", "namePrefix", "eventBusName"}),
    # AWS ignores tags when it updates a rule.
    settings=(Setting((ANY,), Call("put_rule", adapt=_state, omit=_OMITTED | {"tags"}), at_create=False),),
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"ResourceARN": _ARN},
        read=Call("list_tags_for_resource", target={"ResourceARN": _ARN}, item="Tags"),
    ),
    name_limit=64,
    defaults={"state": "ENABLED"},
    drift=("eventPattern", "scheduleExpression", "description"),
)


def _put_target(aws: Aws, id: str, inputs: Inputs) -> None:
    target = {**inputs, "id": inputs["targetId"]}
    bus = {"eventBusName": inputs["eventBusName"]} if "eventBusName" in inputs else {}
    put = Call("put_targets")
    put(aws, SERVICE, {"rule": inputs["rule"], "targets": [target], **bus}, {})


def _create_target(aws: Aws, inputs: Inputs) -> str:
    _put_target(aws, "", inputs)
    return f"{inputs['rule']}-{inputs['targetId']}"


def _read_target(aws: Aws, id: str, names: Inputs) -> Item | None:
    if "rule" not in names:
        return None
    listed = find(aws, SERVICE, Call("list_targets_by_rule", target={"Rule": "{rule}"}), names) or {}
    for target in listed.get("Targets", []):
        if target["Id"] == names["targetId"]:
            return {**target, "Rule": names["rule"], "TargetId": target["Id"]}
    return None


EVENT_TARGET = ResourceMapping(
    "aws:cloudwatch/eventTarget:EventTarget",
    SERVICE,
    create=_create_target,
    id="",
    read=_read_target,
    delete=Call("remove_targets", target={"Rule": "{rule}", "Ids": ["{targetId}"]}),
    force_new=frozenset({"rule", "targetId", "eventBusName"}),
    settings=(Setting((ANY,), _put_target, at_create=False),),
    name="targetId",
    name_limit=64,
    drift=("arn", "input", "roleArn"),
)

MAPPINGS = (EVENT_RULE, EVENT_TARGET)
