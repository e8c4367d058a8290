"""What a report can't vouch for, said beside what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from slipway.render.recording import Recording
from slipway.report.model import Caveat
from slipway.report.plan import Plan, Verb, kind
from slipway.sandbox.aws.mappings import MAPPINGS
from spec.catalog.prices import REGION
from spec.pricing import Estimate
from spec.settings import Problem


def caveats(recording: Recording, bill: Estimate, plan: Plan, warnings: Sequence[Problem]) -> tuple[Caveat, ...]:
    """Each with its cases; nothing that is certain."""
    return tuple(_all(recording, bill, plan, warnings))


def _all(recording: Recording, bill: Estimate, plan: Plan, warnings: Sequence[Problem]) -> Iterator[Caveat]:
    if warnings:
        cases = tuple(str(warning) for warning in warnings)
        yield Caveat(what="Warnings about the settings", why="They are valid, and worth a second look.", cases=cases)
    if bill.unpriced:
        yield Caveat(
            what="Costs money, and has no price here",
            why="The sums above are without it; it is never counted as zero.",
            cases=tuple(f"{item.what}: {item.why}" for item in bill.unpriced),
        )
    if bill.region != REGION:
        why = f"{bill.region} has its own; the difference is not known here."
        yield Caveat(what=f"Prices are those of {REGION}", why=why, cases=())
    yield from _of_plan(plan)
    yield from _recorded(recording)
    yield Caveat(
        what="Nothing was asked of AWS",
        why="The report is made from the program and its settings alone, without credentials. Quotas of the account, "
        "capacity, names that are taken and what was changed by hand show at slipway preview and up.",
        cases=(),
    )


def _of_plan(plan: Plan) -> Iterator[Caveat]:
    unsure = [change.name for change in plan.changes if change.verb is Verb.MAYBE]
    if unsure:
        why = "Nothing here knows whether AWS takes these changes in place: slipway preview on the stack tells."
        yield Caveat(what="Update or replacement", why=why, cases=tuple(sorted(unsure)))
    for note in plan.notes:
        yield Caveat(what="What the comparison is", why=note, cases=())


def _recorded(recording: Recording) -> Iterator[Caveat]:
    """Types that a sandbox run checks by the SDK's schema alone; releases depend on the charts that are at hand."""
    found = Counter(one.type for one in recording if one.type.startswith("aws:") and one.type not in MAPPINGS)
    if found:
        yield Caveat(
            what="Only written down in the sandbox",
            why="A rehearsal checks these against the SDK's schema; AWS's own checks of them happen at `up`.",
            cases=tuple(f"{kind(token)}: {count}" for token, count in sorted(found.items())),
        )
