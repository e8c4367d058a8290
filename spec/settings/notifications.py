"""Who is told of alerts, budgets and anomalies."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from spec.settings.base import Model

Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=254)]
"""A mail address, as far as a pattern can tell."""
Endpoint = Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=2048)]


class Notifications(Model):
    """Subscribers of the environment's topic. Each confirms its subscription once; until then it hears nothing."""

    emails: Annotated[tuple[Email, ...], Field(max_length=50)] = ()
    """Mail addresses; a distribution list of a team outlives its members."""
    https: Annotated[tuple[Endpoint, ...], Field(max_length=50)] = ()
    """Endpoints of paging and chat services. Addresses that are secrets themselves do not belong in a stack file."""

    @property
    def wanted(self) -> bool:
        """Whether anybody is told."""
        return bool(self.emails or self.https)
