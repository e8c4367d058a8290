"""One team: access entries of its members, and its namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.kubernetes import ObjectsArgs
from components.tenancy.namespace import Space, SpaceArgs, TeamContext
from components.tenancy.roles import TeamRoles, group, roles
from spec.settings.teams import Team as Settings


@dataclass(frozen=True, kw_only=True)
class TeamOutputs:
    """Outputs of a team, for queues, workloads and cost guards."""

    name: str  # name of the team, of its queue, of its prefix in the buckets, and value of its label
    settings: Settings
    namespaces: Mapping[str, Sequence[pulumi.Resource]]
    """Dependencies of objects in a namespace, by the namespace's full name."""


@dataclass(frozen=True, kw_only=True)
class TeamArgs:
    """Inputs of `Team`.

    Attributes:
        team: Name of the team.
        settings: Its settings.
        context: What all teams depend on.
    """

    team: str
    settings: Settings
    context: TeamContext


class Team(pulumi.ComponentResource):
    """A team. It shares no resource with other teams, so that adding or removing one doesn't change others."""

    PULUMI_TYPE: Final = "slipway:tenancy:Team"

    outputs: TeamOutputs

    def __init__(self, name: str, args: TeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster = args.context.cluster
        # EKS deletes access entries with their cluster.
        child = pulumi.ResourceOptions(parent=self, deleted_with=cluster.resource)
        for key, member in sorted(args.settings.members.items()):
            aws.eks.AccessEntry(
                f"{name}-member-{key}",
                cluster_name=cluster.known_as,
                principal_arn=member.principal_arn,
                kubernetes_groups=[group(args.team, member.role)],
                type="STANDARD",
                opts=child,
            )
        spaces = {space: self._space(space, args) for space in args.settings.namespaces_of(args.team)}
        self.outputs = TeamOutputs(
            name=args.team,
            settings=args.settings,
            namespaces={namespace: space.ready for namespace, space in spaces.items()},
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
    """A team as plain values for the policy pack, known at preview."""
    settings = args.settings
    return {
        "name": args.team,
        "namespaces": list(settings.namespaces_of(args.team)),
        "budgetUsd": settings.budget_usd,
        "shares": {pool: share.model_dump(by_alias=True) for pool, share in sorted(settings.shares.items())},
        "retired": settings.retired,
    }


def teams(wanted: Mapping[str, Settings], context: TeamContext, opts: pulumi.ResourceOptions) -> dict[str, TeamOutputs]:
    """Declare these teams and the roles that they share; nothing if there is no team."""
    if not wanted:
        return {}
    TeamRoles("team-roles", ObjectsArgs(objects=roles(), cluster=context.cluster), opts)
    declared = {
        name: Team(f"team-{name}", TeamArgs(team=name, settings=settings, context=context), opts)
        for name, settings in sorted(wanted.items())
    }
    return {name: team.outputs for name, team in declared.items()}
