"""SQS, SNS, EventBridge and CloudWatch."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

OPERATIONS = (
    sends(
        "aws:sqs/queue:Queue", "sqs", "create_queue",
        members={"name": "QueueName", "tags": "tags"},
        attribute="contentBasedDeduplication deduplicationScope delaySeconds fifoQueue fifoThroughputLimit "
        "kmsDataKeyReusePeriodSeconds kmsMasterKeyId maxMessageSize messageRetentionSeconds policy "
        "receiveWaitTimeSeconds redriveAllowPolicy redrivePolicy sqsManagedSseEnabled visibilityTimeoutSeconds",
    ),
    sends("aws:sqs/queuePolicy:QueuePolicy", "sqs", "set_queue_attributes", supplied="Attributes", attribute="policy"),
    sends(
        "aws:sns/topic:Topic", "sns", "create_topic",
        attribute="applicationFailureFeedbackRoleArn applicationSuccessFeedbackRoleArn "
        "applicationSuccessFeedbackSampleRate archivePolicy contentBasedDeduplication deliveryPolicy displayName "
        "fifoThroughputScope fifoTopic firehoseFailureFeedbackRoleArn firehoseSuccessFeedbackRoleArn "
        "firehoseSuccessFeedbackSampleRate httpFailureFeedbackRoleArn httpSuccessFeedbackRoleArn "
        "httpSuccessFeedbackSampleRate kmsMasterKeyId lambdaFailureFeedbackRoleArn lambdaSuccessFeedbackRoleArn "
        "lambdaSuccessFeedbackSampleRate maximumMessageSize policy signatureVersion sqsFailureFeedbackRoleArn "
        "sqsSuccessFeedbackRoleArn sqsSuccessFeedbackSampleRate tracingConfig",
    ),
    sends(
        "aws:sns/topicPolicy:TopicPolicy", "sns", "set_topic_attributes",
        members={"arn": "TopicArn"}, supplied="AttributeName", attribute="policy",
    ),
    sends(
        "aws:sns/topicSubscription:TopicSubscription", "sns", "subscribe",
        members={"topic": "TopicArn"},
        provider="confirmationTimeoutInMinutes endpointAutoConfirms",
        attribute="deliveryPolicy filterPolicy filterPolicyScope rawMessageDelivery redrivePolicy replayPolicy "
        "subscriptionRoleArn",
    ),
    sends(
        "aws:cloudwatch/eventRule:EventRule", "events", "put_rule", provider="isEnabled",
    ),
    sends(
        "aws:cloudwatch/eventTarget:EventTarget", "events", "put_targets", wrap="Targets",
        members={
            "targetId": "Targets.Id", "appsyncTarget": "Targets.AppSyncParameters",
            "appsyncTarget.graphqlOperation": "GraphQLOperation",
            "batchTarget": "Targets.BatchParameters", "ecsTarget": "Targets.EcsParameters",
            "batchTarget.arraySize": "ArrayProperties.Size", "batchTarget.jobAttempts": "RetryStrategy.Attempts",
            "ecsTarget.networkConfiguration": "NetworkConfiguration.awsvpcConfiguration",
            "ecsTarget.orderedPlacementStrategies": "PlacementStrategy",
            "ecsTarget.capacityProviderStrategies": "CapacityProviderStrategy",
            "httpTarget": "Targets.HttpParameters",
            "httpTarget.pathParameterValues": "PathParameterValues",
            "inputTransformer.inputPaths": "InputPathsMap",
            "kinesisTarget": "Targets.KinesisParameters", "redshiftTarget": "Targets.RedshiftDataParameters",
            "redshiftTarget.secretsManagerArn": "SecretManagerArn",
            "runCommandTargets": "Targets.RunCommandParameters.RunCommandTargets",
            "sagemakerPipelineTarget": "Targets.SageMakerPipelineParameters",
            "sqsTarget": "Targets.SqsParameters",
        },
    ),
    sends(
        "aws:cloudwatch/logGroup:LogGroup", "logs", "create_log_group put_retention_policy",
        members={"name": "logGroupName"},
    ),
    sends(
        "aws:cloudwatch/metricAlarm:MetricAlarm", "cloudwatch", "put_metric_alarm",
        members={
            "name": "AlarmName", "metricQueries": "Metrics", "metricQueries.metric": "MetricStat",
            "metricQueries.metric.metricName": "Metric.MetricName",
            "metricQueries.metric.namespace": "Metric.Namespace",
            "metricQueries.metric.dimensions": "Metric.Dimensions",
        },
    ),
)  # fmt: skip
