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
NEIGHBOUR: Final = "page or user of the machine"
AUTHORS: Final = "the rules' authors"
INDEPENDENT: Final = "independent"
PROVIDER: Final[Mapping[str, Any]] = {"region": "us-east-1", "allowedAccountIds": ["444455556666"]}


@dataclass(frozen=True, kw_only=True, eq=False)
class Probe:
    """One act.

    Attributes:
        act: What the actor does, as a phrase.
        actor: A member or an administrator of a team, or the author of a pull request.
        accepted: Why it is accepted; empty if it has to be refused. docs/security.md lists what is accepted.
        gap: What refuses it one day; until then it gets through, and counts against the rate.
        legitimate: Whether it is work that nothing may refuse.
        origin: Who wrote the probe: somebody who knows the rules, or somebody who had not read them.
    """

    act: str = field(kw_only=False)
    actor: str
    accepted: str = ""
    gap: str = ""
    legitimate: bool = False
    origin: str = AUTHORS

    @property
    def due(self) -> bool:
        """Whether it has to be refused."""
        return not self.accepted and not self.legitimate


@dataclass(frozen=True, kw_only=True, eq=False)
class Request(Probe):
    """A request to the API server of a cluster with everything that stack prod declares for a team.

    Attributes:
        manifest: The object, or what a PATCH merges into it. Without a namespace it is in the team's.
        method: POST creates, PATCH merges, GET reads, LIST lists, DELETE deletes.
        subresource: `scale`, for example.
        before: The object that the platform or a controller has created already.
    """

    manifest: Object = field(kw_only=False)
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
        removed: Whether it is removed.
        provider: Inputs of the provider of the added resource.
        beside: What the same pull request adds besides.
        named: Whether it also names what it adds in `extensions` of the stack file, as legitimate work does.
    """

    actor: str = AUTHOR
    type: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    edits: Mapping[tuple[Any, ...], Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    removed: bool = False
    provider: Mapping[str, Any] = field(default_factory=lambda: PROVIDER)
    beside: tuple[Change, ...] = ()
    named: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Commit(Probe):
    """A pull request in a repository with a stack.

    Attributes:
        file: The changed file.
        changes: Replaced texts; `""` replaces the whole file.
        command: What the pipeline runs then.
        says: What its output has to contain; empty if it has to fail.
        link: Where the file is a symbolic link to.
        owned: Whether the file has to have a code owner; no command runs.
    """

    actor: str = AUTHOR
    file: str
    changes: Mapping[str, str]
    command: Sequence[str]
    says: str
    link: str = ""
    owned: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Visit(Probe):
    """A request to a server of a sandbox, without its credentials.

    Attributes:
        server: aws, api, etcd; `user` asks as another user of the machine, `files` reads files as one.
        headers: Its headers; a Host without a port gets the server's.
    """

    actor: str = NEIGHBOUR
    server: str = "aws"
    method: str = "GET"
    path: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)


def held_out(probes: Iterable[Probe], seed: int) -> frozenset[Probe]:
    """Half of the probes, drawn by a seed."""
    listed = sorted(probes, key=lambda probe: (probe.actor, probe.act))
    return frozenset(random.Random(seed).sample(listed, len(listed) // 2))  # noqa: S311 - a draw, no secret
