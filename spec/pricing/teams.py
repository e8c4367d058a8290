"""Allocation of costs to teams.

The whole cost of a pool is allocated to the teams with a nominal quota of it, in proportion: a team pays for its
guaranteed machines, whether they run for it or are idle. The storage of teams' claims (shared file systems, block
volumes of claims) is allocated by the storage that each team may claim (`storageGib`). Everything else - control plane,
network, the system pool, keys, logs, buckets - is the platform's own and is not allocated.
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
    """Parts of teams in a pool, by their nominal quotas of it; empty if no team has any."""
    shares = {name: team.shares.get(pool) for name, team in platform.teams.items()}
    return _parts({name: share.nominal_quota for name, share in shares.items() if share is not None})


def of_claims(platform: Platform) -> Shares:
    """Parts of teams in the storage of volume claims, by the storage that each may claim."""
    return _parts({name: team.storage_gib for name, team in platform.teams.items()})


def shared(item: Item, shares: Shares) -> Item:
    """An item with the parts of its teams; an unpriced item has none."""
    return replace(item, shares=shares) if isinstance(item, Line) else item


def _parts(amounts: Mapping[str, int]) -> Shares:
    whole = sum(amounts.values())
    return tuple((name, Fraction(amount, whole)) for name, amount in sorted(amounts.items()) if amount)
