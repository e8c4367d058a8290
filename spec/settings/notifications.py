"""Settings of notifications: recipients of alerts, budget and anomaly notifications."""

from typing import Annotated

from pydantic import Field, StringConstraints

from spec.settings.base import HTTPS, Model, pattern

Email = Annotated[
    str,
    pattern(
        r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        rule="an email address has one @ and a domain",
        fix="Write it like ml-platform@example.com.",
        max_length=254,
    ),
]
"""An email address, as far as a pattern can check."""
Endpoint = Annotated[str, HTTPS, StringConstraints(max_length=2048)]


class Notifications(Model):
    """Subscribers of the environment's SNS topic. Each must confirm its subscription before it gets notifications."""

    emails: Annotated[tuple[Email, ...], Field(max_length=50)] = ()
    """Email addresses; prefer a team's distribution list to personal ones."""
    https: Annotated[tuple[Endpoint, ...], Field(max_length=50)] = ()
    """Endpoints of paging and chat services. Don't put a URL that contains a secret in a stack file."""

    @property
    def wanted(self) -> bool:
        """Whether there is any recipient."""
        return bool(self.emails or self.https)
