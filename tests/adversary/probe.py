"""A probe: who tries what, and whether it has to be refused."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Object = dict[str, Any]
MEMBER: Final = "edit"
ADMINISTRATOR: Final = "admin"
AUTHOR: Final = "author of a pull request"


@dataclass(frozen=True, kw_only=True, eq=False)
class Probe:
    """One act.

    Attributes:
        act: What the actor does, as a phrase.
        actor: A member or an administrator of a team, or the author of a pull request.
        accepted: Why it is accepted; empty if it has to be refused. docs/security.md lists what is accepted.
    """

    act: str
    actor: str
    accepted: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Request(Probe):
    """A request to the API server of a cluster with everything that stack prod declares for a team.

    Attributes:
        manifest: The object, or what a PATCH merges into it. Without a namespace it is in the team's.
        method: POST creates, PATCH merges, GET reads, LIST lists, DELETE deletes.
        subresource: `scale`, for example.
        before: The object that the platform or a controller has created already.
    """

    manifest: Object
    actor: str = MEMBER
    method: str = "POST"
    subresource: str = ""
    before: Object | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Change(Probe):
    """A change of the program of stack prod, as the policy pack sees it.

    Attributes:
        type: Type token of a resource that is added.
        props: Its inputs.
        name: Or the logical name of a resource of prod that is changed.
        edits: Its changed inputs, by path.
        options: Its changed options.
    """

    actor: str = AUTHOR
    type: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    edits: Mapping[tuple[Any, ...], Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Commit(Probe):
    """A pull request in a repository with a stack.

    Attributes:
        file: The changed file.
        changes: Replaced texts; `""` replaces the whole file.
        command: What the pipeline runs then.
        says: What its output has to contain.
    """

    actor: str = AUTHOR
    file: str
    changes: Mapping[str, str]
    command: Sequence[str]
    says: str


def held_out(probes: Iterable[Probe], seed: int) -> frozenset[Probe]:
    """Half of the probes, drawn by a seed."""
    listed = sorted(probes, key=lambda probe: (probe.actor, probe.act))
    return frozenset(random.Random(seed).sample(listed, len(listed) // 2))  # noqa: S311 - a draw, no secret
