"""The split of a bill: charges in, rows by team, project and job out, whose cents sum to those of the bill.

The rule is `RULE`. Amounts are exact fractions until the bill is rounded to cents, once; from there on whole cents are
divided by the method of the largest remainder, first among teams, then among a team's projects, then among a project's
jobs, so that each sum is within a cent of its exact part.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

PLATFORM: Final = "platform"  # who has what no team caused
NO_JOB: Final = ""  # the job of what a team has without a job: its share of an unused pool, its storage
RULE: Final = (
    "A job pays for the part of a node that it had, while it had it.",
    (
        "What no job had of a pool (idle and starting nodes; volumes, monitoring) goes to the jobs that used it, in"
        " proportion to what they pay for it; if no job used it, to the teams by their nominal quota."
    ),
    "Storage of volume claims goes to the teams by the storage that each may claim.",
    (
        "Everything else (control plane, system pool, network, keys, logs, buckets, databases) is shared by all who"
        " pay, in proportion to what they pay so far."
    ),
    f"What nobody can be given by these stays with the {PLATFORM}.",
)

Key = tuple[str, str, str]  # team, project and job
Weights = Mapping[Key, Fraction]


@dataclass(frozen=True, kw_only=True)
class Use:
    """What a job had of a pool."""

    key: Key  # team, project and job
    pool: str
    usd: Fraction  # price of the part of its nodes that it had
    gpu_hours: Fraction = Fraction(0)  # GPU hours of that part


@dataclass(frozen=True, kw_only=True)
class Charge:
    """An item of the bill."""

    item: str  # what it is, for a reader
    usd: Fraction  # its amount; negative for a credit
    pool: str | None = None  # the pool whose users pay for it; None if it is of none
    system: bool = False  # whether what no job had of the pool is shared by all
    owners: Weights = field(default_factory=dict)
    """Who has it if no job used the pool, or in any case without a pool: teams by weight."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one job, or a team without a job, pays, in cents."""

    key: Key  # team, project and job
    pools: tuple[str, ...]  # pools that it used
    gpu_hours: Fraction
    used: int  # for what it had
    idle: int  # for what no job had of the pools that it used, or of its team's quota and storage
    shared: int  # its part of what is shared

    @property
    def total(self) -> int:
        """All three."""
        return self.used + self.idle + self.shared


@dataclass(frozen=True, kw_only=True)
class CostStatement:
    """A bill and its split."""

    charges: Sequence[tuple[Charge, int]]  # the items with their cents
    rows: Sequence[Row]  # who pays what: teams by name, of each the most expensive first

    @property
    def cents(self) -> int:
        """The bill."""
        return sum(cents for _, cents in self.charges)

    def grouped(self, parts: int) -> dict[tuple[str, ...], Row]:
        """Sums by team (1) or by team and project (2); their rows have no job."""
        groups: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[row.key[:parts]].append(row)
        return {name: summed(name, rows) for name, rows in groups.items()}


def split(charges: Sequence[Charge], uses: Iterable[Use]) -> CostStatement:
    """The statement of a bill, by `RULE`."""
    whole = to_cents(sum((one.usd for one in charges), Fraction(0)))
    rounded = _rounded(whole, [100 * one.usd for one in charges])
    every = list(uses)
    used: dict[Key, int] = defaultdict(int)
    idle: dict[Key, int] = defaultdict(int)
    shared: dict[Key, int] = defaultdict(int)
    by_pool: defaultdict[str, defaultdict[Key, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for use in every:
        by_pool[use.pool][use.key] += use.usd
    open_cents = 0
    for pool in dict.fromkeys(one.pool for one in charges if one.pool is not None):
        cents = sum(amount for one, amount in zip(charges, rounded, strict=True) if one.pool == pool)
        first, weights = next(one for one in charges if one.pool == pool), by_pool[pool]
        had = min(max(cents, 0), to_cents(sum(weights.values(), Fraction(0))))
        owners = {} if first.system else weights if any(weights.values()) else first.owners
        _add(used, among(had, weights))
        if any(owners.values()):
            _add(idle, among(cents - had, owners))
        else:
            open_cents += cents - had
    for one, cents in zip(charges, rounded, strict=True):
        if one.pool is None and any(one.owners.values()):
            _add(idle, among(cents, one.owners))
        elif one.pool is None:
            open_cents += cents
    so_far = {key: Fraction(used[key] + idle[key]) for key in sorted({*used, *idle}) if used[key] + idle[key] > 0}
    _add(shared, among(open_cents, so_far or {(PLATFORM, "", NO_JOB): Fraction(1)}))
    rows = _rows(every, used, idle, shared)
    return CostStatement(charges=list(zip(charges, rounded, strict=True)), rows=rows)


def to_cents(usd: Fraction) -> int:
    """Cents of an amount, halves away from zero."""
    cents = int(abs(usd) * 100 + Fraction(1, 2))
    return cents if usd >= 0 else -cents


def usd(cents: int) -> Decimal:
    """Cents as an amount in USD, with two digits."""
    return Decimal(cents).scaleb(-2)


def divide(whole: int, weights: Sequence[Fraction]) -> list[int]:
    """A whole number in proportion to weights, of which one at least is not zero and none is negative."""
    total = sum(weights, Fraction(0))
    return _rounded(whole, [whole * weight / total for weight in weights]) if total else [0] * len(weights)


def _rounded(whole: int, exact: Sequence[Fraction]) -> list[int]:
    """Whole numbers by the largest remainder, among equal ones the first; their sum is that of the exact ones, rounded
    to `whole`."""
    parts = [int(each // 1) for each in exact]
    order = sorted(range(len(parts)), key=lambda at: (parts[at] - exact[at], at))
    for at in order[: whole - sum(parts)]:
        parts[at] += 1
    return parts


def among(cents: int, weights: Weights) -> dict[Key, int]:
    """Cents divided among keys: first among teams, then within each among projects, then jobs."""
    return {(key[0], key[1], key[2]): amount for key, amount in _among(cents, weights, 0).items()}


def _among(cents: int, weights: Mapping[Key, Fraction], depth: int) -> dict[Key, int]:
    groups: defaultdict[str, dict[Key, Fraction]] = defaultdict(dict)
    for key, weight in weights.items():
        groups[key[depth]][key] = weight
    names = sorted(groups)
    found: dict[Key, int] = {}
    for name, part in zip(
        names, divide(cents, [sum(groups[name].values(), Fraction(0)) for name in names]), strict=True
    ):
        if depth == 2:
            found |= dict.fromkeys(groups[name], part)
        elif part:
            found |= _among(part, groups[name], depth + 1)
    return found


def _add(sums: dict[Key, int], parts: Mapping[Key, int]) -> None:
    for key, cents in parts.items():
        sums[key] += cents


def _rows(
    uses: Sequence[Use], used: Mapping[Key, int], idle: Mapping[Key, int], shared: Mapping[Key, int]
) -> list[Row]:
    hours: defaultdict[Key, Fraction] = defaultdict(Fraction)
    pools: defaultdict[Key, dict[str, None]] = defaultdict(dict)
    for use in uses:
        hours[use.key] += use.gpu_hours
        pools[use.key][use.pool] = None
    keys = {*hours, *(key for sums in (used, idle, shared) for key, cents in sums.items() if cents)}
    rows = [
        Row(
            key=key,
            pools=tuple(pools[key]) if key in pools else (),
            gpu_hours=hours.get(key, Fraction(0)),
            used=used.get(key, 0),
            idle=idle.get(key, 0),
            shared=shared.get(key, 0),
        )
        for key in keys
    ]
    return sorted(rows, key=lambda row: (row.key[:2], -row.total, row.key))


def summed(name: tuple[str, ...], rows: Sequence[Row]) -> Row:
    """A row of a name with the sums of others."""
    team, project, job = (*name, "", "", "")[:3]
    return Row(
        key=(team, project, job),
        pools=tuple(sorted({pool for row in rows for pool in row.pools})),
        gpu_hours=sum((row.gpu_hours for row in rows), Fraction(0)),
        used=sum(row.used for row in rows),
        idle=sum(row.idle for row in rows),
        shared=sum(row.shared for row in rows),
    )
