"""What a report advises, as data: what saves most, what is at risk, where prices come from, what belongs together.

Amounts are in USD per month of 730 hours.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from spec.catalog.prices import HOURS_PER_MONTH
from spec.pricing import Amounts


@dataclass(frozen=True, kw_only=True)
class CostShare:
    """One of the largest items: its part of the expected cost in percent, and the cost of one unit."""

    name: str
    expected: Decimal
    percent: float
    unit: str  # unit of its counts: `node`
    units: Decimal  # expected units, on average
    each: Decimal  # expected cost of one unit for a month

    @property
    def hourly(self) -> Decimal:
        """Expected cost of one unit for an hour."""
        return self.each / HOURS_PER_MONTH


@dataclass(frozen=True, kw_only=True)
class Lever:
    """Something that would make a large item cost less, and that no setting alone does: what, and why with numbers."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Saving:
    """A valid change of the settings that costs less: the setting, what it saves, and what it costs otherwise."""

    setting: str
    what: str
    price: str
    saved: Amounts


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """Changes of the stack file that were found by replays of jobs (`slipway replay --advise`)."""

    jobs: str
    verdict: str  # whether they are advised, and what they save on days that the search has not seen
    changes: tuple[tuple[str, str], ...] = ()  # what each does, and what it costs otherwise
    diff: str = ""  # the changes; empty if none are advised


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A rehearsed scenario, or a bad variant of one (`slipway rehearse`)."""

    name: str
    description: str
    how: str  # how it was played
    expectations: tuple[tuple[str, bool], ...]
    """Each in one line, in the words of the layer that decides, and whether it is met."""

    @property
    def passed(self) -> bool:
        """Whether all are met."""
        return all(met for _, met in self.expectations)


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Something that ends, or that is used up."""

    day: date | None  # when it happens; None if it already is so
    what: str  # what happens
    then: str  # what follows from it
    fix: str  # what to do
    section: str  # section of the page with more
    days: int = 0  # days until then; negative if it is past


@dataclass(frozen=True, kw_only=True)
class Month:
    """A month of the time axis, with the numbers of the risks in it."""

    name: str
    year: int
    risks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Answers to "what should I do": largest costs, what to weigh for them, changes that save, risks by date, and their
    time axis; and what was replayed, if it was."""

    largest: tuple[CostShare, ...]
    levers: tuple[Lever, ...]
    savings: tuple[Saving, ...]
    risks: tuple[Risk, ...]
    months: tuple[Month, ...]
    later: tuple[int, ...]
    replayed: Replayed | None = None


@dataclass(frozen=True, kw_only=True)
class PriceSource:
    """Where prices come from: `list`, `spot` or `declared`, the source, its date, and what they make of the total."""

    kind: str
    text: str
    day: date
    items: int
    expected: Decimal
    percent: float


@dataclass(frozen=True, kw_only=True)
class Box:
    """A box of the map: its key, its name, lines below it, and its place in the drawing."""

    key: str
    name: str
    lines: tuple[str, ...]
    x: int
    y: int
    height: int


@dataclass(frozen=True, kw_only=True)
class Link:
    """A line of the map from one box to another; `tone` selects the color of a team, -1 is none."""

    path: str
    tone: int


@dataclass(frozen=True, kw_only=True)
class TeamLinks:
    """What a team uses: the same as the map, as text."""

    team: str
    pools: tuple[tuple[str, str], ...]
    stores: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Map:
    """Zones with their subnets, pools, teams and stores in four columns, and what joins them."""

    width: int
    height: int
    box: int
    columns: tuple[tuple[str, tuple[Box, ...]], ...]
    links: tuple[Link, ...]
    teams: tuple[TeamLinks, ...]
