"""What a reader asks for, and the manifests as YAML that a person reads and edits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from components.addons.kueue import FRAMEWORKS
from components.workloads import Target, WorkloadManifests
from components.workloads.metadata import SKIP_AWAIT
from spec.errors import EXIT_REFUSED, SlipwayError, refuse
from spec.pricing.pods import StartedNode
from spec.settings import Platform

# What a reader asks for: a name, a team's namespace, and where the team's models are.


LIFETIME: Final = 4 * 3600  # seconds that a server lives by default: an afternoon
CLAIM: Final = "models"
"""Claim of a team's namespace that shows its models; its annotation `spec.teams.labels.S3_URI` has their address."""
PLACEHOLDER: Final = "s3://BUCKET/{team}/"
"""Address of a team's models on a page, where the bucket's name isn't known: the engine ends it in a random suffix."""


@dataclass(frozen=True, kw_only=True)
class QuickstartRequest:
    """One quickstart for one reader."""

    name: str  # name of the objects
    platform: Platform  # the platform, for prices
    target: Target  # the reader's namespace on it
    models: str  # address of the team's models: `s3://bucket/team/`
    seconds: int | None = LIFETIME  # time after which a server ends by itself; None for one that stays

    def queued(self, kind: str) -> bool:
        """Whether Kueue starts this kind; without a queue it must not be created suspended."""
        queued = self.target.queued
        return self.target.queue is not None and queued is not None and FRAMEWORKS[kind] in queued

    def priority(self, preferred: str) -> str:
        """A priority class that the team may use: the preferred one, or the lowest that it has."""
        return preferred if preferred in self.target.priorities else self.target.priorities[-1]


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A workload on one pool. `build` raises WorkloadRefused if it doesn't fit there."""

    place: str  # the pool or runtime, for the reader
    pool: str
    build: Callable[[], WorkloadManifests]  # makes the manifests
    node: StartedNode | None = None  # the node that the pool starts for it; None for a runtime that is bound to no pool
    nodes: int = 1  # how many it starts


def namespace_of(platform: Platform, team: str, purposes: tuple[str, ...], wanted: str | None = None) -> str:
    """The wanted namespace of the team, or its first one with one of these purposes, in their order."""
    settings = platform.teams.get(team)
    if settings is None:
        known = ", ".join(sorted(platform.teams)) or "none"
        refuse(f"--team: the stack must have the team (given: {team!r}). It has: {known}.")
    spaces = settings.namespaces_of(team)
    if wanted in spaces:
        return wanted
    if wanted is not None:
        refuse(f"--namespace: it must be a namespace of team {team} (given: {wanted!r}). It has: {', '.join(spaces)}.")
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


# Manifests as YAML that a person reads and edits.


WIDTH: Final = 120
_OF_PULUMI: Final = (SKIP_AWAIT,)  # annotations for Pulumi, which `kubectl` has no use for


class _Dumper(yaml.SafeDumper):
    """Programs as blocks of lines, and no aliases of repeated parts."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's method
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _string)


def text(manifests: WorkloadManifests, comments: Iterable[str]) -> str:
    """One YAML document for each object, in the order in which they are created, below the comments."""
    head = "".join(f"# {line}\n" for line in comments)
    documents = [
        yaml.dump(_plain(one.manifest), Dumper=_Dumper, sort_keys=False, width=WIDTH) for one in manifests.values()
    ]
    return head + "---\n".join(documents)


def _plain(manifest: Mapping[str, Any]) -> dict[str, Any]:
    metadata = dict(manifest["metadata"])
    notes = {key: value for key, value in metadata.pop("annotations", {}).items() if key not in _OF_PULUMI}
    return {**manifest, "metadata": {**metadata, **({"annotations": notes} if notes else {})}}
