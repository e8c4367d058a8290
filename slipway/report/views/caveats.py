"""The limitations of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from slipway.render.recording import Recording
from slipway.report.model import Caveat
from slipway.report.plan import Plan, Verb, kind
from slipway.sandbox.aws.mappings import MAPPINGS
from spec.catalog import prices
from spec.pricing import Estimate
from spec.settings import Problem


def caveats(recording: Recording, bill: Estimate, plan: Plan, warnings: Sequence[Problem]) -> tuple[Caveat, ...]:
    """Every limitation of the report, with its items."""
    return tuple(_all(recording, bill, plan, warnings))


def _all(recording: Recording, bill: Estimate, plan: Plan, warnings: Sequence[Problem]) -> Iterator[Caveat]:
    if warnings:
        cases = tuple(str(warning) for warning in warnings)
        yield Caveat(
            what="Warnings about the settings", why="The settings are valid, but should be reviewed.", cases=cases
        )
    if bill.unpriced:
        yield Caveat(
            what="Unpriced items",
            why="They cost money, but are not in the totals of this report.",
            cases=tuple(f"{item.what}: {item.why}" for item in bill.unpriced),
        )
    used = prices.book(bill.region).region
    if used != bill.region:
        why = f"The catalog has no prices for {bill.region}: run slipway prices refresh --region {bill.region}."
        yield Caveat(what=f"Prices are for {used}", why=why, cases=())
    yield from _of_plan(plan)
    yield from _recorded(recording)
    yield Caveat(
        what="No access to AWS",
        why="The report is generated from the program and its settings, without credentials. Account quotas, capacity, "
        "names already in use and manual changes only show in slipway preview and slipway up.",
        cases=(),
    )


def _of_plan(plan: Plan) -> Iterator[Caveat]:
    unsure = [change.name for change in plan.changes if change.verb is Verb.MAYBE]
    if unsure:
        why = "It is not known whether AWS applies these changes in place. Run slipway preview to see it."
        yield Caveat(what="Update or replacement unknown", why=why, cases=tuple(sorted(unsure)))
    for note in plan.notes:
        yield Caveat(what="Scope of the comparison", why=note, cases=())


def _recorded(recording: Recording) -> Iterator[Caveat]:
    """Types that the sandbox checks only against the SDK's schema. Helm releases depend on the available charts."""
    counts = Counter(one.type for one in recording if one.type.startswith("aws:") and one.type not in MAPPINGS)
    if counts:
        yield Caveat(
            what="Types only recorded by the sandbox",
            why="The sandbox checks these only against the SDK's schema; AWS validates them during slipway up.",
            cases=tuple(f"{kind(token)}: {count}" for token, count in sorted(counts.items())),
        )
