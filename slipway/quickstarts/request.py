"""What a reader asks for: a name, a team's namespace, and where the team's models are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from components.workloads import Target, WorkloadManifests
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.settings import Platform

CLAIM: Final = "models"
"""Claim of a team's namespace that shows its models; its annotation `spec.teams.labels.S3_URI` has their address."""
PLACEHOLDER: Final = "s3://BUCKET/{team}/"
"""Address of a team's models on a page, where the bucket's name isn't known: the engine ends it in a random suffix."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One quickstart for one reader.

    Attributes:
        name: Name of the objects.
        target: The reader's namespace on the platform.
        models: Address of the team's models: `s3://bucket/team/`.
    """

    name: str
    target: Target
    models: str

    def priority(self, preferred: str) -> str:
        """A priority class that the team may use: the preferred one, or the lowest that it has."""
        return preferred if preferred in self.target.priorities else self.target.priorities[-1]


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A workload on one pool. `build` raises WorkloadRefused if it doesn't fit there.

    Attributes:
        place: The pool or runtime, for the reader.
        pool: Name of the pool.
        build: Makes the manifests.
    """

    place: str
    pool: str
    build: Callable[[], WorkloadManifests]


def namespace_of(platform: Platform, team: str, purposes: tuple[str, ...], wanted: str | None = None) -> str:
    """The wanted namespace of the team, or its first one with one of these purposes, in their order.

    Raises:
        SlipwayError: The stack has no such team, or the team no such namespace.
    """
    settings = platform.teams.get(team)
    if settings is None:
        known = ", ".join(sorted(platform.teams)) or "none"
        msg = f"--team: the stack must have the team (given: {team!r}). It has: {known}."
        raise SlipwayError(msg, EXIT_REFUSED)
    spaces = settings.namespaces_of(team)
    if wanted in spaces:
        return wanted
    if wanted is not None:
        msg = f"--namespace: it must be a namespace of team {team} (given: {wanted!r}). It has: {', '.join(spaces)}."
        raise SlipwayError(msg, EXIT_REFUSED)
    for purpose in purposes:
        for name, space in sorted(spaces.items()):
            if space.purpose == purpose:
                return name
    has = ", ".join(f"{name} ({space.purpose})" for name, space in sorted(spaces.items()))
    msg = (
        f"--namespace: a namespace for it must have one of the purposes {', '.join(purposes)} "
        f"(team {team} has: {has}). Name one with --namespace, or add one to the team."
    )
    raise SlipwayError(msg, EXIT_REFUSED)
