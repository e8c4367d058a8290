"""A statement as CSV, as plain values, as text for a terminal, and as a page."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slipway.cost.estimates import folded, numbered
from slipway.replay.page import environment
from slipway.report.page import cents as dollars
from slipway.statement.charges import Period
from slipway.statement.split import NO_JOB, RULE, CostStatement, Row, summed, usd

COLUMNS: Final = ("team", "project", "job", "pools", "gpu_hours", "used_usd", "idle_usd", "shared_usd", "total_usd")
WITHOUT_JOB: Final = "(without a job)"
LEFT_OUT: Final = "(left out)"
_FORMULA: Final = tuple("=+-@\t\r")
"""Begin what a spreadsheet evaluates (OWASP, "CSV Injection"): a quote before them makes it a text."""
_JOBS: Final = 200  # Jobs of a team that the page shows; the CSV has all


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What is shown: a statement, its period, and what has no price."""

    stack: str
    statement: CostStatement  # the split bill
    period: Period  # what it is of
    unpriced: Sequence[str]  # what is in no sum

    @property
    def title(self) -> str:
        """What it is of, in a sentence."""
        return f"{self.period.source}, from {self.period.start} for {float(self.period.hours):,.1f} h"


def table(shown: Shown) -> str:
    """The CSV: a row for each job, and one for each team without a job that pays; amounts sum to the bill. The last row
    says which jobs are in no figure, if any are."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in shown.statement.rows:
        amounts = (usd(cents) for cents in (row.used, row.idle, row.shared, row.total))
        names = (f"'{name}" if name.startswith(_FORMULA) else name for name in row.key)
        writer.writerow((*names, " ".join(row.pools), f"{float(row.gpu_hours):.3f}", *amounts))
    if left := shown.period.left_out.sentence:
        writer.writerow((LEFT_OUT, "", left, "", *(0 for _ in COLUMNS[4:])))
    return out.getvalue()


def document(shown: Shown) -> dict[str, Any]:
    """The same as plain values, with the bill and its sums; amounts are text, so that they stay exact."""
    statement = shown.statement
    return {
        "stack": shown.stack,
        "leftOut": shown.period.left_out.model_dump(by_alias=True),
        "source": shown.period.source,
        "start": shown.period.start,
        "hours": round(float(shown.period.hours), 3),
        "usd": str(usd(statement.cents)),
        "rule": list(RULE),
        "charges": [{"item": one.item, "pool": one.pool, "usd": str(usd(cents))} for one, cents in statement.charges],
        "teams": [_plain(row) for row in statement.grouped(1).values()],
        "projects": [_plain(row) for row in statement.grouped(2).values()],
        "jobs": [_plain(row) for row in statement.rows],
        "notes": list(shown.period.notes),
        "unpriced": list(shown.unpriced),
    }


def _plain(row: Row) -> dict[str, Any]:
    names = dict(zip(("team", "project", "job"), row.key, strict=True))
    amounts = {"used": row.used, "idle": row.idle, "shared": row.shared, "total": row.total}
    hours = round(float(row.gpu_hours), 3)
    return {**names, "gpuHours": hours, "usd": {name: str(usd(cents)) for name, cents in amounts.items()}}


def text(shown: Shown) -> str:
    """Sums by team and by item."""
    statement = shown.statement
    return "\n".join(
        [
            *(folded(text) for text in (shown.period.left_out.sentence,) if text),
            folded(f"statement of stack {shown.stack}: {shown.title}"),
            "",
            *numbered(list(_teams(statement)), 1),
            "",
            *numbered([("bill", "USD"), *_items(statement), ("total", f"{usd(statement.cents):,}")], 1),
            "",
            *(folded(note) for note in (*shown.period.notes, *_pointer(shown))),
        ]
    )


def _pointer(shown: Shown) -> Iterator[str]:
    if shown.unpriced:
        yield f"{len(shown.unpriced)} items without a price or declared usage are in no sum: --json and --out list them"


def _teams(statement: CostStatement) -> Iterator[tuple[str, ...]]:
    yield "team", "jobs", "GPU hours", "used USD", "idle", "shared", "total"
    jobs: dict[str, int] = {}
    for row in statement.rows:
        jobs[row.key[0]] = jobs.get(row.key[0], 0) + (row.key[2] != NO_JOB)
    rows = statement.grouped(1)
    whole = summed(("total",), [*rows.values()])
    for row in (*rows.values(), whole):
        count = sum(jobs.values()) if row is whole else jobs[row.key[0]]
        amounts = (f"{usd(cents):,}" for cents in (row.used, row.idle, row.shared, row.total))
        yield row.key[0], f"{count:,}", f"{float(row.gpu_hours):,.1f}", *amounts


def _items(statement: CostStatement) -> Iterator[tuple[str, str]]:
    for one, cents in sorted(statement.charges, key=lambda pair: -pair[1]):
        if cents:
            yield one.item, f"{usd(cents):,}"


def page(shown: Shown) -> str:
    """The page: one file without scripts that makes no network requests."""
    statement = shown.statement
    teams = [
        (total, [row for row in statement.rows if row.key[0] == total.key[0]])
        for total in statement.grouped(1).values()
    ]
    return (
        environment("slipway.statement")
        .get_template("statement.html")
        .render(
            shown=shown,
            teams=[(total, rows[:_JOBS], len(rows) - len(rows[:_JOBS])) for total, rows in teams],
            items=list(_items(statement)),
            rule=RULE,
            without=WITHOUT_JOB,
            cents=lambda amount: dollars(usd(amount)),
        )
    )
