"""The split of a bill: whatever is charged and used, the cents of the rows are those of the bill."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from slipway.statement.split import NO_JOB, PLATFORM, Charge, Key, Row, Use, among, divide, split, to_cents

AMOUNTS = st.fractions(min_value=0, max_value=50_000, max_denominator=10_000)
CREDITS = st.fractions(min_value=-900, max_value=50_000, max_denominator=10_000)
KEYS = st.tuples(st.sampled_from("abc"), st.sampled_from("pq"), st.sampled_from(["1", "2", "3", NO_JOB]))
POOLS = st.sampled_from(["gpu", "cpu", None])


@st.composite
def bills(draw: st.DrawFn) -> tuple[list[Charge], list[Use]]:
    """Charges, and uses of two pools that cost at most what the pool does."""
    weights = st.dictionaries(KEYS, AMOUNTS, max_size=3)
    charges = [
        Charge(item=str(at), usd=draw(AMOUNTS if pool else CREDITS), pool=pool, owners=draw(weights))
        for at, pool in enumerate(draw(st.lists(POOLS, min_size=1, max_size=6)))
    ]
    uses = []
    for pool in ("gpu", "cpu"):
        whole = sum((one.usd for one in charges if one.pool == pool), Fraction(0))
        parts = draw(st.lists(st.tuples(KEYS, st.integers(0, 100)), max_size=8))
        uses += [Use(key=key, pool=pool, usd=whole * part / 800) for key, part in parts]
    return charges, uses


@given(bills())
def test_all_rows_sum_to_the_bill_to_the_cent(bill: tuple[list[Charge], list[Use]]) -> None:
    charges, uses = bill
    found = split(charges, uses)
    assert found.cents == to_cents(sum((one.usd for one in charges), Fraction(0)))
    assert sum(row.total for row in found.rows) == found.cents
    for parts in (1, 2):
        assert sum(row.total for row in found.grouped(parts).values()) == found.cents
    assert all(abs(cents - 100 * one.usd) < 1 for one, cents in found.charges)
    assert found == split(charges, uses)


@given(bills())
def test_a_job_pays_for_what_it_had_within_a_cent_a_pool_and_level(bill: tuple[list[Charge], list[Use]]) -> None:
    charges, uses = bill
    had: defaultdict[Key, Fraction] = defaultdict(Fraction)
    for use in uses:
        if any(one.pool == use.pool for one in charges):
            had[use.key] += 100 * use.usd
    used = {row.key: row.used for row in split(charges, uses).rows}
    assert all(abs(used.get(key, 0) - exact) < 2 * 4 for key, exact in had.items())


@given(st.integers(-10_000, 10_000), st.lists(AMOUNTS, min_size=1, max_size=20))
def test_parts_are_within_one_of_the_exact_ones(whole: int, weights: list[Fraction]) -> None:
    parts, total = divide(whole, weights), sum(weights, Fraction(0))
    if not total:
        assert not any(parts)
        return
    assert sum(parts) == whole
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - whole * weight / total) < 1


def test_a_team_of_many_small_jobs_pays_its_part() -> None:
    # Job by job, each of the 1,000 would have 0.4 cents, and the largest remainders would decide for the whole team.
    weights: dict[Key, Fraction] = {("many", "p", str(at)): Fraction(1) for at in range(1000)}
    weights["few", "p", "1"] = Fraction(1000)
    found = among(801, weights)
    assert sum(cents for key, cents in found.items() if key[0] == "many") in (400, 401)


def rows(charges: list[Charge], uses: list[Use]) -> dict[tuple[str, str], Row]:
    return {(row.key[0], row.key[2]): row for row in split(charges, uses).rows}


def test_the_rule_by_hand() -> None:
    uses = [
        Use(key=("a", "p", "train"), pool="gpu", usd=Fraction(30)),
        Use(key=("b", "q", "sweep"), pool="gpu", usd=Fraction(10)),
        Use(key=("b", "q", "pod"), pool="system", usd=Fraction(5)),
    ]
    owners: dict[Key, Fraction] = {("a", "p", NO_JOB): Fraction(1, 4), ("c", "r", NO_JOB): Fraction(3, 4)}
    charges = [
        Charge(item="gpu: nodes", usd=Fraction(50), pool="gpu", owners=owners),
        Charge(item="gpu: volumes", usd=Fraction(10), pool="gpu", owners=owners),
        Charge(item="idle: nodes", usd=Fraction(8), pool="idle", owners=owners),
        Charge(item="system: nodes", usd=Fraction(9), pool="system", system=True, owners=owners),
        Charge(item="claims", usd=Fraction(4), owners=owners),
        Charge(item="control plane", usd=Fraction(73)),
    ]
    found = rows(charges, uses)
    # Used: 40 of 60. The rest of 20 by 3 to 1; the unused pool and the claims by their owners.
    assert (found["a", "train"].used, found["a", "train"].idle) == (3000, 1500)
    assert (found["b", "sweep"].used, found["b", "sweep"].idle) == (1000, 500)
    assert (found["a", NO_JOB].idle, found["c", NO_JOB].idle) == (300, 900)
    # Shared: 73 and what is left of the system pool, 4, in proportion to the 77 so far.
    assert {key: row.shared for key, row in found.items()} == {
        ("a", "train"): 4500, ("b", "sweep"): 1500, ("b", "pod"): 500, ("a", NO_JOB): 300, ("c", NO_JOB): 900,
    }  # fmt: skip


def test_what_nobody_used_or_has_quota_of_stays_with_the_platform() -> None:
    found = rows([Charge(item="gpu", usd=Fraction(5), pool="gpu"), Charge(item="plane", usd=Fraction(2))], [])
    assert {key: row.shared for key, row in found.items()} == {(PLATFORM, NO_JOB): 700}


def test_a_credit_is_shared_like_a_cost() -> None:
    use = Use(key=("a", "p", "x"), pool="gpu", usd=Fraction(10))
    charges = [Charge(item="gpu", usd=Fraction(10), pool="gpu"), Charge(item="discount", usd=Fraction(-3))]
    assert rows(charges, [use])["a", "x"].total == 700
