"""All cost guards of a stack: notifications, budgets, scheduled scaling, notebook shutdown. Each only where
configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.base.outputs import ClusterOutputs
from components.composition.notebook_shutdown import NotebookShutdown, NotebookShutdownArgs
from components.cost.budgets import Budgets, BudgetsArgs
from components.cost.schedules import Schedules, SchedulesArgs
from components.observability.notifications import Notifications, NotificationsArgs
from components.pools.managed import ManagedPool
from components.tenancy import TeamOutputs
from spec.settings.platform import Platform


@dataclass(frozen=True, kw_only=True)
class GuardsArgs:
    """Inputs of the cost guards.

    Attributes:
        platform: All settings.
        cluster: The cluster.
        pools: Managed pools by name.
        teams: Teams by name.
    """

    platform: Platform
    cluster: ClusterOutputs
    pools: Mapping[str, ManagedPool]
    teams: Mapping[str, TeamOutputs]


def guards(args: GuardsArgs, cloud: pulumi.ResourceOptions, inside: pulumi.ResourceOptions) -> None:
    """Declare the SNS topic, the budgets, the scheduled scaling of pools, and the shutdown of notebooks.

    Args:
        args: Settings, cluster, pools and teams.
        cloud: Resource options with the AWS provider.
        inside: Resource options with the AWS and Kubernetes providers.
    """
    platform, cost = args.platform, args.platform.cost
    notifications = (
        Notifications("notices", NotificationsArgs(platform=platform), cloud) if platform.notifications.wanted else None
    )
    if notifications is not None or cost.allocation_tags:
        budgets = BudgetsArgs(
            settings=cost,
            environment=platform.environment.name,
            teams=platform.teams,
            notifications=notifications,
            account_id=platform.account.id,
        )
        Budgets("budgets", budgets, cloud)
    if any(schedule.pools for schedule in cost.schedules.values()):
        groups = {name: pool.node_group for name, pool in args.pools.items()}
        Schedules("schedules", SchedulesArgs(schedules=cost.schedules, pools=platform.pools, groups=groups), cloud)
    ending = {name: schedule for name, schedule in cost.schedules.items() if schedule.notebooks}
    spaces = {space: waits for team in args.teams.values() for space, waits in team.namespaces.items()}
    if ending and spaces:
        NotebookShutdown(
            "evenings", NotebookShutdownArgs(schedules=ending, namespaces=spaces, cluster=args.cluster), inside
        )
