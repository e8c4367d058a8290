"""The bill of a stack over some hours: nodes as they ran, and everything else as the cost estimate expects it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from slipway.replay.result import LeftOut
from slipway.statement.split import NO_JOB, Charge, Key, Use
from spec.catalog import prices
from spec.pools import resolve_all
from spec.pricing import estimate
from spec.pricing.model import Line, Pricer, Shares, of_pool
from spec.pricing.pools import Running, metrics, storage
from spec.settings import Platform
from spec.settings.pools import Role

_ONE: Final = Running(minimum=Decimal(1), typical=Decimal(1), maximum=Decimal(1))


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """What the nodes of a pool cost in the period."""

    usd: Fraction  # their price
    hours: Fraction
    unpriced: bool = False  # whether some of them have no price, so that they are missing from `usd`


@dataclass(frozen=True, kw_only=True)
class Period:
    """What was measured, or replayed."""

    source: str  # where it comes from, in a sentence
    start: str  # its first moment, RFC 3339
    hours: Fraction  # its length
    pools: Mapping[str, Nodes]
    uses: tuple[Use, ...]  # what jobs had of them
    left_out: LeftOut  # Jobs that are not among the uses
    notes: tuple[str, ...] = ()  # what a reader must know of it


def charges(period: Period, platform: Platform, billed: Decimal | None = None) -> tuple[list[Charge], list[str]]:
    """The items of the bill, and what has no price.

    Args:
        billed: The amount of the bill of the period; the rest to the items is shared.
    """
    found = [*_of_pools(period, platform), *_others(period, platform)]
    unpriced = [f"{one.what} ({one.why})" for one in estimate(platform).unpriced]
    unpriced += [f"nodes of pool {name} (no dated price)" for name, one in period.pools.items() if one.unpriced]
    if billed is not None:
        rest = Fraction(billed) - sum((one.usd for one in found), Fraction(0))
        found.append(Charge(item="rest of the bill: what differs from list prices and declared usage", usd=rest))
    return found, unpriced


def projects(platform: Platform) -> Mapping[str, str]:
    """Project of each team."""
    return {name: team.project for name, team in platform.teams.items()}


def _of_pools(period: Period, platform: Platform) -> Iterator[Charge]:
    pricer = Pricer(prices.book(platform.account.region))
    specs = resolve_all(platform)
    for name, nodes in period.pools.items():
        spec = specs.get(name)
        # What runs on the system nodes serves all teams; a team's pod there pays for its part like elsewhere.
        system = spec is None or spec.role is Role.SYSTEM
        owners = _weights(of_pool(name, platform), platform)
        yield Charge(item=f"{name}: nodes", usd=nodes.usd, pool=name, system=system, owners=owners)
        for item in () if spec is None else (*storage(spec, _ONE, pricer), *metrics(spec, _ONE, pricer)):
            if isinstance(item, Line):
                usd = Fraction(item.expected) * nodes.hours
                yield Charge(item=f"{name}: {item.item}", usd=usd, pool=name, system=system, owners=owners)


def _others(period: Period, platform: Platform) -> Iterator[Charge]:
    for line in estimate(platform).lines:
        usd = Fraction(line.expected) * period.hours
        if usd and line.pool not in period.pools:
            what = f"{line.pool}: {line.item}" if line.pool else f"{line.service}: {line.item}"
            owners = {} if line.pool else _weights(line.shares, platform)
            yield Charge(item=what, usd=usd, owners=owners)


def _weights(shares: Shares, platform: Platform) -> dict[Key, Fraction]:
    of = projects(platform)
    return {(team, of[team], NO_JOB): part for team, part in shares}
