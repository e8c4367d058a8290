"""Scheduled scaling of managed pools: their Auto Scaling groups go to zero at night and on weekends, and come back.

Minimum and maximum go to zero, not only the size: Cluster Autoscaler never scales a group beyond its maximum, so a pod
that is pending at night stays pending until the morning. The EKS node group keeps its settings: changing a pool's `min`
or `max` at night scales it up until the next scheduled stop (docs/adr/0026).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.settings.cost import Schedule
from spec.settings.pools import Pool


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


@dataclass(frozen=True, kw_only=True)
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
            for role, when, minimum, maximum in (
                ("stop", schedule.stop, 0, 0),
                ("start", schedule.start or "", pool.min, pool.max),
            ):
                scheduled.append(
                    Action(
                        pool=name,
                        role=role,
                        recurrence=when,
                        timezone=schedule.timezone,
                        minimum=minimum,
                        maximum=maximum,
                    )
                )
    return sorted(scheduled, key=lambda action: (action.pool, action.role))
