"""Nights and weekends of managed pools: their Auto Scaling groups go to zero and come back.

Both bounds go to zero, not the size alone: Cluster Autoscaler never grows a group past its maximum, so a pod that waits
at night waits until the morning. The settings of the EKS node group stay as they are: whoever changes a pool's bounds
at night opens it until the next evening (docs/adr/0026).
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
    """Inputs of schedules.

    Attributes:
        schedules: Schedules by name.
        pools: Settings of all pools by name.
        groups: Node groups of managed pools by pool.
    """

    schedules: Mapping[str, Schedule]
    pools: Mapping[str, Pool]
    groups: Mapping[str, aws.eks.NodeGroup]


class Schedules(pulumi.ComponentResource):
    """Two scheduled actions for each pool that sleeps."""

    PULUMI_TYPE: Final = "slipway:cost:Schedules"

    def __init__(self, name: str, args: SchedulesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        for action in actions(args.schedules, args.pools):
            group = args.groups[action.pool]
            aws.autoscaling.Schedule(
                f"{name}-{action.pool}-{action.role}",
                # An action has a name within its group, so that of its pool and role can't be taken.
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
    """What happens to a pool at a time: `stop` or `start`, and the bounds that it gets."""

    pool: str
    role: str
    recurrence: str
    timezone: str
    minimum: int
    maximum: int


def actions(schedules: Mapping[str, Schedule], pools: Mapping[str, Pool]) -> list[Action]:
    """Actions of all pools that have a schedule, in the order of pools."""
    found: list[Action] = []
    for schedule in schedules.values():
        for name in schedule.pools:
            pool = pools[name]
            for role, when, minimum, maximum in (
                ("stop", schedule.stop, 0, 0),
                ("start", schedule.start or "", pool.min, pool.max),
            ):
                found.append(
                    Action(
                        pool=name,
                        role=role,
                        recurrence=when,
                        timezone=schedule.timezone,
                        minimum=minimum,
                        maximum=maximum,
                    )
                )
    return sorted(found, key=lambda action: (action.pool, action.role))
