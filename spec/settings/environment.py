"""Whose environment this is, and the one account and region that it may touch."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from spec.settings.base import Model, Name, Text


class Environment(Model):
    """Who owns the environment, and how much it would hurt to lose it."""

    name: Name
    """Name of the environment; it must be the name of the stack, so that a file can't be used for another one."""
    owner: Text
    """Team that answers for the environment; becomes the tag `owner`."""
    cost_center: Text
    """Where its bill goes; becomes the tag `cost-center`."""
    protect: bool = False
    """Protect what holds state or can't be made again (cluster, keys, network): `destroy` refuses to remove it."""
    tags: dict[Annotated[str, StringConstraints(min_length=1, max_length=128)], Text] = Field(default_factory=dict)
    """More tags for every resource."""


class Account(Model):
    """The guard: a run against any other account fails before it changes anything."""

    id: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$")]
    """AWS account, 12 digits, quoted (YAML would read it as a number and drop leading zeros)."""
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
    """AWS Region of everything in the stack."""
