"""One team: its members' way into the cluster, and its namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.tenancy.namespace import Space, SpaceArgs, TeamContext
from components.tenancy.roles import TeamRoles, TeamRolesArgs, group
from spec.settings.platform import Platform
from spec.settings.teams import Team as Settings


@dataclass(frozen=True, kw_only=True)
class TeamOutputs:
    """A team as queues, workloads and cost guards see it.

    Attributes:
        name: Name of the team: of its queue, its prefix in the buckets, its label.
        settings: Its settings.
        namespaces: What must stand before something is put into a namespace, by the namespace's full name.
    """

    name: str
    settings: Settings
    namespaces: Mapping[str, Sequence[pulumi.Resource]]


@dataclass(frozen=True, kw_only=True)
class TeamArgs:
    """Inputs of `Team`.

    Attributes:
        team: Name of the team.
        settings: Its settings.
        context: What all teams stand on.
    """

    team: str
    settings: Settings
    context: TeamContext


class Team(pulumi.ComponentResource):
    """A team. Nothing of it is shared with another one, so that adding or removing a team touches no other."""

    PULUMI_TYPE: Final = "slipway:tenancy:Team"

    outputs: TeamOutputs

    def __init__(self, name: str, args: TeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster = args.context.cluster.resource
        # AWS removes access entries with their cluster.
        child = pulumi.ResourceOptions(parent=self, deleted_with=cluster)
        for key, member in sorted(args.settings.members.items()):
            aws.eks.AccessEntry(
                f"{name}-member-{key}",
                cluster_name=cluster.name,
                principal_arn=member.principal_arn,
                kubernetes_groups=[group(args.team, member.role)],
                type="STANDARD",
                opts=child,
            )
        made = {space: self._space(space, args) for space in args.settings.namespaces_of(args.team)}
        self.outputs = TeamOutputs(
            name=args.team,
            settings=args.settings,
            namespaces={namespace: space.ready for namespace, space in made.items()},
        )
        self.register_outputs(facts(args))

    def _space(self, namespace: str, args: TeamArgs) -> Space:
        inputs = SpaceArgs(
            namespace=namespace,
            settings=args.settings.namespaces_of(args.team)[namespace],
            team=args.team,
            team_settings=args.settings,
            context=args.context,
        )
        return Space(f"space-{namespace}", inputs, pulumi.ResourceOptions(parent=self))


def facts(args: TeamArgs) -> dict[str, object]:
    """A team in plain values, for policies over several teams: known before anything is made."""
    settings = args.settings
    return {
        "name": args.team,
        "namespaces": list(settings.namespaces_of(args.team)),
        "budgetUsd": settings.budget_usd,
        "shares": {pool: share.model_dump(by_alias=True) for pool, share in sorted(settings.shares.items())},
        "retired": settings.retired,
    }


def teams(platform: Platform, context: TeamContext, opts: pulumi.ResourceOptions) -> dict[str, TeamOutputs]:
    """Make every team of the stack, and the roles that they share; nothing where there is no team."""
    if not platform.teams:
        return {}
    TeamRoles("team-roles", TeamRolesArgs(cluster=context.cluster), opts)
    made = {
        name: Team(f"team-{name}", TeamArgs(team=name, settings=settings, context=context), opts)
        for name, settings in sorted(platform.teams.items())
    }
    return {name: team.outputs for name, team in made.items()}
