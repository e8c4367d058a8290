"""Labels by which namespaces, pods and bills are told apart: a contract, as those of `spec.pools.keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spec.settings.teams import Team, TeamNamespace

TEAM: Final = "platform.slipway/team"
"""Label of namespaces and pods: whose they are."""
PROJECT: Final = "platform.slipway/project"
COST_CENTER: Final = "platform.slipway/cost-center"
JOB: Final = "platform.slipway/job"
"""Label of pods that belong together: name of the job."""
PURPOSE: Final = "platform.slipway/purpose"
"""Label of namespaces: what they are for."""
SERVING: Final = "platform.slipway/serving"
"""Label `true` of pods that load balancers may reach; those of KServe are known by a label of their own."""
NAMESPACE: Final = "kubernetes.io/metadata.name"
"""Label that every namespace has: its name (kubernetes.io, "Well-Known Labels")."""


def of_team(team: str, settings: Team) -> dict[str, str]:
    """Labels of all that is a team's: who uses it, what for, who pays."""
    return {TEAM: team, PROJECT: settings.project, COST_CENTER: settings.cost_center}


def of_namespace(team: str, settings: Team, space: TeamNamespace) -> dict[str, str]:
    """Labels of one of its namespaces, with the levels of Pod Security.

    Where `baseline` is enforced, `restricted` is warned of and audited: who applies a pod sees what would be refused.
    """
    levels = {"enforce": space.pod_security, "warn": "restricted", "audit": "restricted"}
    return {
        **of_team(team, settings),
        PURPOSE: space.purpose,
        **{f"pod-security.kubernetes.io/{mode}": level for mode, level in levels.items()},
    }
