"""Cost controls: budgets and anomaly detection over actual spend, scheduled scaling, and the estimate for the policy
pack as component outputs.

Cost controls: budgets, anomaly detection, scheduled scaling, and the estimate for the policy pack.

The policy pack compares them. It sees resources but not settings, and prices depend on values that a preview doesn't
have. The program knows both and publishes them (`spec.pricing.estimate`) as outputs that are known at preview.

Scheduled scaling of managed pools: their Auto Scaling groups go to zero at night and on weekends, and come back.

Minimum and maximum go to zero, not only the size: Cluster Autoscaler never scales a group beyond its maximum, so a pod
that is pending at night stays pending until the morning. The EKS node group keeps its settings: changing a pool's `min`
or `max` at night scales it up until the next scheduled stop (docs/adr/0026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.observability.notifications import Notifications
from spec.settings.cost import Cost, Schedule
from spec.settings.pools import Pool, Provisioner


class Bill(pulumi.ComponentResource):
    """The cost estimate. It declares no resources."""

    PULUMI_TYPE: Final = "slipway:cost:Bill"

    def __init__(self, name: str, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self.register_outputs({"bill": dict(facts)})


# A budget has at most ten notifications, each with one topic (botocore 1.44.5, budgets `Notification`): the settings
# allow nine thresholds, and the forecast is the tenth.
FORECAST: Final = 100  # percent of a budget above which a forecast sends a notification


@dataclass(frozen=True, kw_only=True)
class BudgetsArgs:
    """Inputs of `Budgets`.

    Attributes:
        settings: Settings of cost.
        environment: Name of the environment.
        teams: Monthly budgets of teams, in USD.
        notifications: The topic; None where no one is notified, and then no budget is declared.
        account_id: AWS account, 12 digits.
    """

    settings: Cost
    environment: str
    teams: Mapping[str, int]
    notifications: Notifications | None
    account_id: str


class Budgets(pulumi.ComponentResource):
    """A budget for the environment, one per team, and anomaly detection over all services."""

    PULUMI_TYPE: Final = "slipway:cost:Budgets"

    def __init__(self, name: str, args: BudgetsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        if args.notifications is not None:
            child = pulumi.ResourceOptions(parent=self, depends_on=list(args.notifications.ready))
            self._make_budgets(name, args, args.notifications.topic.arn, child)
            self._make_watch(name, args.settings, args.notifications.topic.arn, child)
        for key in args.settings.allocation_tags:
            aws.costexplorer.CostAllocationTag(
                f"{name}-tag-{key.lower()}", tag_key=key, status="Active", opts=pulumi.ResourceOptions(parent=self)
            )
        self.register_outputs({})

    def _make_budgets(
        self, name: str, args: BudgetsArgs, topic: pulumi.Input[str], opts: pulumi.ResourceOptions
    ) -> None:
        for logical, wanted in budgets(args.settings, args.environment, args.teams).items():
            aws.budgets.Budget(
                f"{name}-{logical}",
                account_id=args.account_id,
                budget_type="COST",
                time_unit="MONTHLY",
                limit_amount=str(wanted.usd),
                limit_unit="USD",
                cost_filters=[
                    aws.budgets.BudgetCostFilterArgs(name=key, values=list(values))
                    for key, values in wanted.filters.items()
                ],
                notifications=[
                    aws.budgets.BudgetNotificationArgs(**each, subscriber_sns_topic_arns=[topic])
                    for each in notifications(args.settings.thresholds)
                ],
                opts=opts,
            )

    def _make_watch(self, name: str, settings: Cost, topic: pulumi.Input[str], opts: pulumi.ResourceOptions) -> None:
        if settings.anomaly_usd is None:
            return
        monitor: pulumi.Input[str]
        if settings.anomaly_monitor_arn is not None:
            monitor = settings.anomaly_monitor_arn
        else:  # the settings say that there is none yet
            monitor = aws.costexplorer.AnomalyMonitor(
                f"{name}-anomaly-monitor", monitor_type="DIMENSIONAL", monitor_dimension="SERVICE", opts=opts
            ).arn
        threshold = aws.costexplorer.AnomalySubscriptionThresholdExpressionArgs(
            dimension=aws.costexplorer.AnomalySubscriptionThresholdExpressionDimensionArgs(
                key="ANOMALY_TOTAL_IMPACT_ABSOLUTE",
                match_options=["GREATER_THAN_OR_EQUAL"],
                values=[str(settings.anomaly_usd)],
            )
        )
        aws.costexplorer.AnomalySubscription(
            f"{name}-anomaly-subscription",
            # A topic requires immediate alerts; email subscribers would get daily or weekly ones (botocore 1.44.5, ce
            # `AnomalySubscription`, `Frequency`).
            frequency="IMMEDIATE",
            monitor_arn_lists=[monitor],
            subscribers=[aws.costexplorer.AnomalySubscriptionSubscriberArgs(type="SNS", address=topic)],
            threshold_expression=threshold,
            opts=opts,
        )


@dataclass(frozen=True, kw_only=True)
class Budget:
    """One budget: USD per month, and the cost filters."""

    usd: int
    filters: Mapping[str, Sequence[str]]


def budgets(settings: Cost, environment: str, teams: Mapping[str, int]) -> dict[str, Budget]:
    """Budgets by the suffix of their logical name.

    Args:
        settings: Settings of cost.
        environment: Name of the environment, the value of its tag.
        teams: Monthly budgets of teams, in USD.
    """
    wanted: dict[str, Budget] = {}
    if settings.monthly_budget_usd is not None:
        tagged = {"TagKeyValue": [f"user:environment${environment}"]}
        filters = tagged if settings.budget_covers == "environment" else {}
        wanted["environment"] = Budget(usd=settings.monthly_budget_usd, filters=filters)
    for name, usd in sorted(teams.items()):
        wanted[f"team-{name}"] = Budget(usd=usd, filters={"TagKeyValue": [f"user:team${name}"]})
    return wanted


def notifications(thresholds: Sequence[int]) -> list[dict[str, Any]]:
    """Notifications of a budget: one per threshold of actual spend, and one for the forecast."""
    spent = [("ACTUAL", percent) for percent in thresholds]
    return [
        {
            "comparison_operator": "GREATER_THAN",
            "notification_type": kind,
            "threshold": percent,
            "threshold_type": "PERCENTAGE",
        }
        for kind, percent in (*spent, ("FORECASTED", FORECAST))
    ]


@dataclass(frozen=True, kw_only=True)
class SchedulesArgs:
    """Inputs of `Schedules`.

    Attributes:
        schedules: Schedules by name.
        pools: Settings of all pools by name.
        groups: Node groups of managed pools, by pool.
    """

    schedules: Mapping[str, Schedule]
    pools: Mapping[str, Pool]
    groups: Mapping[str, aws.eks.NodeGroup]


class Schedules(pulumi.ComponentResource):
    """Two scheduled actions for each pool with a schedule: stop and start."""

    PULUMI_TYPE: Final = "slipway:cost:Schedules"

    def __init__(self, name: str, args: SchedulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        for action in actions(args.schedules, args.pools):
            group = args.groups[action.pool]
            aws.autoscaling.Schedule(
                f"{name}-{action.pool}-{action.role}",
                # The name of an action is unique within its Auto Scaling group, so it needs no suffix.
                scheduled_action_name=f"slipway-{action.role}",
                autoscaling_group_name=group.resources[0].autoscaling_groups[0].name,
                recurrence=action.recurrence,
                time_zone=action.timezone,
                min_size=action.minimum,
                max_size=action.maximum,
                desired_capacity=action.minimum,
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({})


@dataclass(frozen=True)
class Action:
    """A scheduled action of a pool: `stop` or `start`, when, and the group's new minimum and maximum."""

    pool: str
    role: str
    recurrence: str
    timezone: str
    minimum: int
    maximum: int


def actions(schedules: Mapping[str, Schedule], pools: Mapping[str, Pool]) -> list[Action]:
    """Actions of all pools that have a schedule, sorted by pool."""
    scheduled: list[Action] = []
    for schedule in schedules.values():
        for name in schedule.pools:
            pool = pools[name]
            if pool.provisioner is Provisioner.KARPENTER:
                continue  # no Auto Scaling group: `components.composition.cost_guards`
            for role, when, minimum, maximum in (
                ("stop", schedule.stop, 0, 0),
                ("start", schedule.start or "", pool.min, pool.max),
            ):
                scheduled.append(Action(name, role, when, schedule.timezone, minimum, maximum))
    return sorted(scheduled, key=lambda action: (action.pool, action.role))
