"""Settings of what a stack may cost at all: bounds that the policy pack enforces before anything is made."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from spec.settings.base import Model, Name, Text

UsdPerHour = Annotated[float, Field(ge=0.01, le=10_000_000)]


class Approval(Model):
    """Leave to have premium GPUs on demand in a pool outside production, until a day."""

    reference: Text
    """Where it was given: a ticket, a mail, a minute."""
    until: date
    """Last day on which it holds; the day after, the pool fails the policies again."""


class Limits(Model):
    """Bounds of the estimate of `slipway cost`, in USD an hour at list prices."""

    ceiling_usd_per_hour: UsdPerHour | None = None
    """What everything may cost at its largest."""
    floor_usd_per_hour: UsdPerHour | None = None
    """What may be spent while nobody works."""
    pools: dict[Name, UsdPerHour] = Field(default_factory=dict)
    """What one pool may cost at its largest, by pool."""
    premium: dict[Name, Approval] = Field(default_factory=dict)
    """Approvals of p4, p5 and p6 machines on demand, by pool; production needs none."""
