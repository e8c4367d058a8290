"""Samples: queues, topics, events, logs and alarms."""

import json

from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import document

SAMPLES: dict[str, Sample] = {
    "aws:cloudwatch/logGroup:LogGroup": Sample(lambda world: {"name": "/eks/logs", "retentionInDays": 30, **TAGGED},
        {"retentionInDays": 90, **RETAGGED},
        aws_call("logs", "put_retention_policy", logGroupName="ID", retentionInDays=1), ("retentionInDays",)),
    "aws:cloudwatch/metricAlarm:MetricAlarm": Sample(lambda world: {"name": "alarm",
            "comparisonOperator": "GreaterThanThreshold", "evaluationPeriods": 1, "metricName": "m", "namespace": "n",
            "period": 60, "statistic": "Average", "threshold": 1, "dimensions": {"a": "b"}}, {"threshold": 2}),
    "aws:sqs/queue:Queue": Sample(
        lambda world: {"name": "interruptions", "messageRetentionSeconds": 300, "sqsManagedSseEnabled": True, **TAGGED},
        {"messageRetentionSeconds": 600, "visibilityTimeoutSeconds": 60, **RETAGGED},
        aws_call("sqs", "set_queue_attributes", QueueUrl="ID", Attributes={"MessageRetentionPeriod": "900"}),
        ("messageRetentionSeconds",)),
    "aws:sqs/queuePolicy:QueuePolicy": Sample(lambda world: {"queueUrl": (queue := world.queue())["url"],
            "policy": document("sqs:SendMessage", queue["arn"], Principal={"Service": "events.amazonaws.com"})}),
    "aws:cloudwatch/eventRule:EventRule": Sample(
        lambda world: {"name": "spot", "eventPattern": json.dumps({"source": ["aws.ec2"]}), **TAGGED},
        {"eventPattern": json.dumps({"source": ["aws.health"]}), "description": "d", **RETAGGED},
        aws_call("events", "put_rule", Name="ID", Description="d", EventPattern=json.dumps({"source": ["aws.s3"]})),
        ("eventPattern",)),
    "aws:cloudwatch/eventTarget:EventTarget": Sample(
        lambda world: {"rule": world.rule(), "targetId": "queue", "arn": world.queue()["arn"]}, {"input": '{"a": 1}'}),
    "aws:sns/topic:Topic": Sample(lambda world: {"name": "alerts", "displayName": "Alerts", **TAGGED},
        {"displayName": "Other", **RETAGGED},
        aws_call("sns", "set_topic_attributes", TopicArn="ID", AttributeName="DisplayName", AttributeValue="z"),
        ("displayName",)),
    "aws:sns/topicPolicy:TopicPolicy": Sample(
        lambda world: {"arn": (arn := world.topic()), "policy": document("SNS:Publish", arn, Principal="*", Sid="a")},
        stays=True),
    "aws:sns/topicSubscription:TopicSubscription": Sample(
        lambda world: {"topic": world.topic(), "protocol": "sqs", "endpoint": world.queue()["arn"]}),
}  # fmt: skip
