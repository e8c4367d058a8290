"""Statements of a replay and of recorded series on stack dev: what nodes cost, who had what of it, and the split."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.observability import recording
from components.observability.promql import NODE, POD_JOB
from slipway.replay.text import Source, TraceError
from slipway.statement import recorded, replayed
from slipway.statement.charges import Nodes, Period, charges
from slipway.statement.output import COLUMNS, Shown, page, table, text
from slipway.statement.split import NO_JOB, PLATFORM, Charge, Key, Row, Use, among, divide, split, to_cents
from spec.errors import SlipwayError
from spec.pricing import estimate
from tests.slipway.conftest import Slipway
from tests.slipway.replay.examples import result
from tests.slipway.replay.test_page import HOSTILE, parsed
from tests.support.stacks import platform_of

STEP = 3600
SAMPLES = 720
"""November 2026, an hour each."""
FIRST = 1793491200
"""2026-11-01T00:00:00Z."""


def series(name: str, value: str, first: int = 0, last: int = SAMPLES, **labels: str) -> dict[str, Any]:
    """A series with one value, as Prometheus' API answers it."""
    values = [[FIRST + at * STEP, value] for at in range(first, last)]
    return {"metric": {"__name__": name, **labels}, "values": values}


def node(name: str, pool: str, usd: str | None, first: int = 0, last: int = SAMPLES) -> Iterator[dict[str, Any]]:
    labels = {"node": name, "pool": pool, "instance_type": "x", "capacity_type": "on-demand"}
    yield series(NODE, "1", first, last, **labels)
    if usd is not None:
        yield series(recording.NODE_COST, usd, first, last, **labels)


def pod(name: str, node_name: str, usd: str, first: int, last: int, **labels: str) -> dict[str, Any]:
    return series(recording.POD_COST, usd, first, last, namespace="vision", pod=name, node=node_name, **labels)


VISION = {"team": "vision", "project": "perception"}
LANGUAGE = {"team": "language", "project": "assistant"}


def month() -> list[dict[str, Any]]:
    """Two nodes of a100, one of them for a day; jobs of two teams; system nodes; and one without a price."""
    return [
        *node("a", "a100", "21.957643", 0, 240),
        *node("b", "a100", "21.957643", 100, 124),
        *node("s", "system", "0.1008"),
        *node("u", "cpu", None, 0, 10),
        pod("lost", "u", "0.4", 0, 10, **VISION),
        pod("train-0-xyz", "a", "10.9788215", 0, 200, **VISION),
        pod("sweep-1", "a", "5.48941075", 50, 90, **LANGUAGE),
        pod("sweep-2", "b", "21.957643", 100, 120, **LANGUAGE),
        # A DaemonSet's pod has no team: it is idle cost.
        pod("exporter", "a", "0.01", 0, 240),
        series(POD_JOB, "1", 0, 200, namespace="vision", pod="train-0-xyz", workload="train"),
        series("kube_pod_owner", "1", 50, 90, namespace="vision", pod="sweep-1", owner_kind="Job", owner_name="sweep"),
    ]


def answer(result_: list[dict[str, Any]]) -> Source:
    document = {"status": "success", "data": {"resultType": "matrix", "result": result_}}
    return Source("november.json", json.dumps(document))


def recorded_month() -> Period:
    return recorded.period(answer(month()), platform_of("dev"))


def test_a_month_of_series_sums_to_its_bill() -> None:
    found = recorded_month()
    assert found.start == "2026-11-01T00:00:00Z"
    assert found.hours == Fraction(720)
    assert found.pools["a100"].usd == Fraction("21.957643") * 264
    assert found.pools["system"].usd == Fraction("0.1008") * 720
    assert found.pools["cpu"] == Nodes(usd=Fraction(0), hours=Fraction(10), unpriced=True)
    items, unpriced = charges(found, platform_of("dev"))
    assert "nodes of pool cpu (no dated price)" in unpriced
    others = [line for line in estimate(platform_of("dev")).lines if line.pool not in ("a100", "system", "cpu")]
    rest = sum((720 * Fraction(line.expected) for line in others), Fraction(0))
    nodes = sum((one.usd for one in found.pools.values()), Fraction(0))
    volumes = sum((one.usd for one in items if one.pool and not one.item.endswith(": nodes")), Fraction(0))
    statement = split(items, found.uses)
    assert statement.cents == to_cents(nodes + volumes + rest) == sum(row.total for row in statement.rows)


def test_pods_are_their_jobs_and_pay_their_part_of_the_nodes() -> None:
    uses = {(use.key, use.pool): use for use in recorded_month().uses}
    train = uses[("vision", "perception", "vision/train"), "a100"]
    assert train.usd == Fraction("10.9788215") * 200
    assert train.gpu_hours == Fraction(1, 2) * 8 * 200
    assert {key[2] for key, _ in uses} == {"vision/train", "vision/sweep", "vision/sweep-2"}


def test_the_bill_of_the_month_is_what_is_split() -> None:
    found = recorded_month()
    items, _ = charges(found, platform_of("dev"), Decimal("9000.01"))
    statement = split(items, found.uses)
    assert statement.cents == 900_001 == sum(row.total for row in statement.rows)


def test_a_replay_sums_to_its_bill() -> None:
    found = replayed.period(result(), platform_of("dev"), "dev")
    items, _ = charges(found, platform_of("dev"))
    statement = split(items, found.uses)
    assert statement.cents == sum(row.total for row in statement.rows)
    nodes = sum(cents for one, cents in statement.charges if one.item.endswith(": nodes") and one.item[:6] != "system")
    assert abs(nodes - 100 * result().usd) < 3
    used = {row.key: row.used for row in statement.rows}
    # Two nodes of 6 USD an hour for 1800 and 3600 s; one for 600 s.
    assert used["language", "assistant", "train"] == 1800
    assert used["language", "assistant", "sweep"] == 100
    assert sum(used.values()) + 100 * result().idle_usd == pytest.approx(nodes, abs=3)


def test_another_stack_is_refused() -> None:
    with pytest.raises(SlipwayError, match="the replay is of stack dev, not of prod"):
        replayed.period(result(), platform_of("prod"), "prod")


WRONG: list[tuple[list[dict[str, Any]], str]] = [
    ([], "it has two samples of slipway:node:usd_per_hour"),
    (list(node("a", "a100", "1", 0, 1)), "it has two samples"),
    ([series(recording.NODE_COST, "1", pool="a100")], "a series of a node names it"),
    ([series(recording.POD_COST, "1", namespace="n", pod="p")], "names namespace, pod and node"),
    ([series(recording.NODE_COST, "NaN", node="a")], "it must be a number from 0"),
    ([{"metric": {"__name__": recording.NODE_COST, "node": "a"}, "values": ["12"]}], "a value is a time and a number"),
]


@pytest.mark.parametrize(("wrong", "says"), WRONG, ids=[says for _, says in WRONG])
def test_wrong_series_are_refused(wrong: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(TraceError, match=says):
        recorded.period(answer(wrong), platform_of("dev"))


def test_the_command_writes_rows_and_a_page_that_sum_to_the_bill(tmp_path: Path, slipway: Slipway) -> None:
    path, out = tmp_path / "november.json", tmp_path / "out"
    path.write_text(answer(month()).text)
    shown = slipway("statement dev --prometheus", path, "--bill", "9000.01", "--out", out).out
    assert " ".join(shown.split()).startswith(
        "In no figure: 1 of 4 jobs, 0.0 of 1,040.0 GPU hours (0.0%) and unknown ones of 1"
    )
    assert "9,000.01" in shown
    assert max(map(len, shown.splitlines())) <= 80
    rows = list(csv.DictReader(io.StringIO((out / "statement.csv").read_text())))
    assert list(rows[0]) == list(COLUMNS)
    assert sum(Decimal(row["total_usd"]) for row in rows) == Decimal("9000.01")
    assert (rows[-1]["team"], rows[-1]["job"].split(",")[0]) == ("(left out)", "In no figure: 1 of 4 jobs")
    assert "<h1>$9,000.01</h1>" in (out / "index.html").read_text()

    path.write_text(result().as_json())
    found = json.loads(slipway("statement dev --replay", path, "--json").out)
    assert (list(found)[1], found["leftOut"]["jobs"]) == ("leftOut", 1)
    for name in ("charges", "teams", "projects", "jobs"):
        amounts = [one["usd"] if name == "charges" else one["usd"]["total"] for one in found[name]]
        assert sum(map(Decimal, amounts)) == Decimal(found["usd"]), name


def test_names_of_jobs_are_no_markup_and_no_formulas() -> None:
    outcomes = [one.model_copy(update={"job": f"={HOSTILE}"}) for one in result().outcomes]
    found = replayed.period(result().model_copy(update={"outcomes": outcomes}), platform_of("dev"), "dev")
    items, unpriced = charges(found, platform_of("dev"))
    shown = Shown(stack="dev", statement=split(items, found.uses), period=found, unpriced=unpriced)
    assert "<script" not in page(shown)
    assert {row["job"][:2] for row in csv.DictReader(io.StringIO(table(shown)))} >= {"'="}
    assert not [row for row in csv.DictReader(io.StringIO(table(shown))) if row["job"].startswith("=")]
    assert parsed(page(shown)).open == []
    assert "total" in text(shown)
    assert page(shown).index("In no figure: 1 of 5 jobs") < page(shown).index('class="tiles"')


# The split of amounts among those who used a node.


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
