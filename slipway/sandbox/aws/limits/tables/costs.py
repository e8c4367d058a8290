"""Budgets and cost anomaly detection."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

OPERATIONS = (
    sends(
        "aws:budgets/budget:Budget", "budgets", "create_budget", wrap="Budget",
        members={
            "name": "Budget.BudgetName", "limitAmount": "Budget.BudgetLimit.Amount",
            "limitUnit": "Budget.BudgetLimit.Unit", "tags": "ResourceTags",
            "notifications": "NotificationsWithSubscribers",
            "notifications.comparisonOperator": "Notification.ComparisonOperator",
            "notifications.notificationType": "Notification.NotificationType",
            "notifications.threshold": "Notification.Threshold",
            "notifications.thresholdType": "Notification.ThresholdType",
            "notifications.subscriberEmailAddresses": "Subscribers.Address",
            "notifications.subscriberSnsTopicArns": "Subscribers.Address",
        },
        # The provider takes the account of its credentials.
        supplied="AccountId",
        rendered="costFilters plannedLimits timePeriodEnd timePeriodStart",
    ),
    sends(
        "aws:costexplorer/anomalyMonitor:AnomalyMonitor", "ce", "create_anomaly_monitor", wrap="AnomalyMonitor",
        members={"name": "AnomalyMonitor.MonitorName", "tags": "ResourceTags"},
        rendered="monitorSpecification",
    ),
    sends(
        "aws:costexplorer/anomalySubscription:AnomalySubscription", "ce", "create_anomaly_subscription",
        wrap="AnomalySubscription",
        members={"name": "AnomalySubscription.SubscriptionName", "tags": "ResourceTags"},
    ),
)  # fmt: skip
