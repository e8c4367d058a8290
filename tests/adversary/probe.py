"""A probe: who tries what, and whether it has to be refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

Object = dict[str, Any]
MEMBER: Final = "edit"
ADMINISTRATOR: Final = "admin"


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A request to the API server of a cluster with everything that stack prod declares for a team.

    Attributes:
        act: What the actor does, as a phrase.
        manifest: The object, or what a PATCH merges into it. Without a namespace it is in the team's.
        actor: A member or an administrator of a team, or a controller.
        method: POST creates, PATCH merges, GET reads, LIST lists, DELETE deletes.
        subresource: `scale`, for example.
        before: The object that the platform or a controller has created already.
        accepted: Why it is accepted; empty if it has to be refused. docs/security.md lists what is accepted.
        legitimate: Whether it is work that nothing may refuse.
    """

    act: str = field(kw_only=False)
    manifest: Object = field(kw_only=False)
    actor: str = MEMBER
    method: str = "POST"
    subresource: str = ""
    before: Object | None = None
    accepted: str = ""
    legitimate: bool = False

    @property
    def due(self) -> bool:
        """Whether it has to be refused."""
        return not self.accepted and not self.legitimate
