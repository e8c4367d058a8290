"""Whose bill it is: parts of teams in what they share.

A pool, whole, goes to the teams that have a nominal share of it, in proportion to those shares: who has a right to
machines pays for them, whether the machines run for him or wait for him. What teams' claims live on (shared file
systems, block volumes of claims) goes by the storage that each team may claim (`storageGib`). All else - control
plane, network, the system pool, keys, logs, buckets - is the platform's own and is nobody's part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from spec.pricing.model import Line
from spec.pricing.pricer import Item
from spec.settings.platform import Platform

Shares = tuple[tuple[str, Fraction], ...]


def of_pool(pool: str, platform: Platform) -> Shares:
    """Parts of teams in a pool, by their nominal shares of it; nothing where no team has any."""
    given = {name: team.shares.get(pool) for name, team in platform.teams.items()}
    return _parts({name: share.nominal_quota for name, share in given.items() if share is not None})


def of_claims(platform: Platform) -> Shares:
    """Parts of teams in what their volume claims are on, by the storage that each may claim."""
    return _parts({name: team.storage_gib for name, team in platform.teams.items()})


def shared(item: Item, shares: Shares) -> Item:
    """An item with its teams; what has no price has none."""
    return replace(item, shares=shares) if isinstance(item, Line) else item


def _parts(amounts: Mapping[str, int]) -> Shares:
    whole = sum(amounts.values())
    return tuple((name, Fraction(amount, whole)) for name, amount in sorted(amounts.items()) if amount)
