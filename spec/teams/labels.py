"""Labels that identify the team of namespaces, pods and costs: a contract, like those of `spec.pools.keys`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spec.settings.teams import Team, TeamNamespace

TEAM: Final = "platform.slipway/team"  # label of namespaces and pods: their team
PROJECT: Final = "platform.slipway/project"
COST_CENTER: Final = "platform.slipway/cost-center"
JOB: Final = "platform.slipway/job"  # label of the pods of a job: its name
PURPOSE: Final = "platform.slipway/purpose"  # label of namespaces: their purpose
SERVING: Final = "platform.slipway/serving"
"""Label `true` of pods that load balancers may reach; pods of KServe have a label of KServe instead."""
S3_URI: Final = "platform.slipway/s3-uri"
"""Annotation of the claims whose files are in a bucket: where, with the team's prefix."""
NAMESPACE: Final = "kubernetes.io/metadata.name"
"""Label that every namespace has: its name (kubernetes.io, "Well-Known Labels")."""
TUNED: Final[Mapping[str, str]] = {"katib.kubeflow.org/metrics-collector-injection": "enabled"}
"""Label of namespaces in which Katib accepts Experiments (katib v0.19.0, pkg/webhook/v1beta1/experiment): those for
jobs."""


ADMISSION: Final = "admission.platform.slipway"
"""ConfigMap of kube-system with the parameters of the rules for workloads of teams."""


def of_team(team: str, settings: Team) -> dict[str, str]:
    """Labels of everything that belongs to a team: team, project and cost center."""
    return {TEAM: team, PROJECT: settings.project, COST_CENTER: settings.cost_center}


def of_namespace(team: str, settings: Team, space: TeamNamespace) -> dict[str, str]:
    """Labels of one of its namespaces, with the levels of Pod Security.

    With `baseline` enforced, violations of `restricted` cause warnings and audit entries.
    """
    levels = {"enforce": space.pod_security, "warn": "restricted", "audit": "restricted"}
    return {
        **of_team(team, settings),
        PURPOSE: space.purpose,
        **(TUNED if space.purpose in ("general", "training") else {}),
        **{f"pod-security.kubernetes.io/{mode}": level for mode, level in levels.items()},
    }


PRIORITIES: Final = "platform.slipway/priorities"
"""Annotation of a namespace: the priority classes of its team, separated by commas."""


JOB_USD: Final = "platform.slipway/job-usd"  # annotation of a namespace: the most that one job may cost, in USD


def notes_of_namespace(settings: Team, most: int | None) -> dict[str, str]:
    """Annotations of a namespace of a team, which admission rules read; `most` is what one job may cost, in USD."""
    return {
        PRIORITIES: ",".join(str(name) for name in settings.priorities),
        **({JOB_USD: str(most)} if most is not None else {}),
    }
