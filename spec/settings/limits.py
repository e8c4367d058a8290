"""Settings of cost limits, which the policy pack enforces before anything is created."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from spec.settings.base import Model, Name, Text

UsdPerHour = Annotated[float, Field(ge=0.01, le=10_000_000)]


class Approval(Model):
    """Approval of on-demand premium GPUs in a pool outside production, until a date."""

    reference: Text
    """Where the approval is recorded: a ticket, an email, meeting minutes."""
    until: date
    """Last day of validity; from the next day, the pool fails the policies again."""


class Limits(Model):
    """Limits of the estimate of `slipway cost`, in USD per hour at list prices."""

    ceiling_usd_per_hour: UsdPerHour | None = None
    """Maximum cost with every pool at its maximum size."""
    floor_usd_per_hour: UsdPerHour | None = None
    """Maximum cost of an idle platform, with every pool at its minimum size."""
    pools: dict[Name, UsdPerHour] = Field(default_factory=dict)
    """Maximum cost of one pool at its maximum size, by pool."""
    premium: dict[Name, Approval] = Field(default_factory=dict)
    """Approvals of on-demand p4, p5 and p6 instances, by pool; production needs none."""
