"""CloudWatch log groups and metric alarms."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, Tags

SERVICE = "logs"
_ARN = "arn:{partition}:logs:{region}:{account}:log-group:{id}"


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    """AWS finds log groups by prefix only."""
    for group in aws.call(SERVICE, "describe_log_groups", logGroupNamePrefix=id)["logGroups"]:
        if group["logGroupName"] == id:
            return {**group, "name": id, "retentionInDays": group.get("retentionInDays", 0)}
    return None


def _set_retention(aws: Aws, id: str, inputs: Inputs) -> None:
    """0 days, or no value, means that logs never expire."""
    days = int(inputs.get("retentionInDays") or 0)
    if days:
        aws.call(SERVICE, "put_retention_policy", logGroupName=id, retentionInDays=days)
    else:
        aws.call(SERVICE, "delete_retention_policy", logGroupName=id)


LOG_GROUP = ResourceMapping(
    "aws:cloudwatch/logGroup:LogGroup",
    SERVICE,
    create=Call(
        "create_log_group",
        rename={"name": "logGroupName"},
        omit=frozenset({"namePrefix", "retentionInDays", "skipDestroy"}),
    ),
    id="{name}",
    read=_read,
    delete=Call("delete_log_group", target={"logGroupName": "{id}"}),
    force_new=frozenset({"name", "namePrefix", "logGroupClass"}),
    settings=(Setting(("retentionInDays",), _set_retention),),
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"resourceArn": _ARN},
        read=Call("list_tags_for_resource", target={"resourceArn": _ARN}, item="tags"),
    ),
    name_limit=512,
    computed={"arn": _ARN},
    defaults={"retentionInDays": 0},
    drift=("retentionInDays",),
)

_PUT_ALARM = Call("put_metric_alarm", rename={"name": "AlarmName"})

METRIC_ALARM = ResourceMapping(
    "aws:cloudwatch/metricAlarm:MetricAlarm",
    "cloudwatch",
    create=_PUT_ALARM,
    id="{name}",
    read=Call("describe_alarms", target={"AlarmNames": ["{id}"]}, item="MetricAlarms[0]"),
    delete=Call("delete_alarms", target={"AlarmNames": ["{id}"]}),
    force_new=frozenset({"name"}),
    settings=(Setting((ANY,), _PUT_ALARM, at_create=False),),
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"ResourceARN": "arn:{partition}:cloudwatch:{region}:{account}:alarm:{id}"},
        read=Call(
            "list_tags_for_resource",
            target={"ResourceARN": "arn:{partition}:cloudwatch:{region}:{account}:alarm:{id}"},
            item="Tags",
        ),
    ),
    from_item={"name": "AlarmName", "arn": "AlarmArn"},
    drift=("threshold", "evaluationPeriods", "comparisonOperator", "period", "alarmActions"),
)

MAPPINGS = (LOG_GROUP, METRIC_ALARM)
