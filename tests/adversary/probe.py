"""A probe: who tries what, and whether it has to be refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

Object = dict[str, Any]
MEMBER: Final = "edit"
ADMINISTRATOR: Final = "admin"


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A request to the API server of a cluster with everything that stack prod declares for a team."""

    act: str = field(kw_only=False)  # what the actor does, as a phrase
    manifest: Object = field(kw_only=False)
    """The object, or what a PATCH merges into it. Without a namespace it is in the team's."""
    actor: str = MEMBER  # a member or an administrator of a team, or a controller
    method: str = "POST"  # POST creates, PATCH merges, GET reads, LIST lists, DELETE deletes
    subresource: str = ""  # `scale`, for example
    before: Object | None = None  # the object that the platform or a controller has created already
    accepted: str = ""  # why it is accepted; empty if it has to be refused. docs/security.md lists what is accepted.
    legitimate: bool = False  # whether it is work that nothing may refuse

    @property
    def due(self) -> bool:
        """Whether it has to be refused."""
        return not self.accepted and not self.legitimate
