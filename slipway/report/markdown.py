"""The report as a comment on a pull request: what changes, what it costs, what is wrong with it.

GitHub takes 65,536 characters in a comment; every list here ends after a few, and the page has the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from slipway.report.model import FindingView, Report
from slipway.report.numbers import cents, counted, signed
from slipway.report.plan import Plan, ResourceChange, Verb, kind
from spec.pricing import Amounts

KINDS: Final = 12
TAKEN: Final = 10
FINDINGS: Final = 8
_LONGEST: Final = 400
_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~])")
_REFERENCE: Final = re.compile(r"([@#])(?=\w)")
_COLUMNS: Final = (Verb.CREATE, Verb.UPDATE, Verb.MAYBE, Verb.REPLACE, Verb.DELETE)


def marker(stack: str) -> str:
    """What a comment begins with, so that the next run finds it and updates it in place."""
    return f"<!-- slipway-report:{stack} -->"


def markdown(report: Report) -> str:
    """The comment; it ends with a newline."""
    blocks = [marker(report.stack), f"## Slipway: stack {prose(report.stack)}"]
    blocks += [*_plan(report.plan), *_cost(report), *_findings(report), _end(report)]
    return "\n\n".join(blocks) + "\n"


def _plan(plan: Plan) -> Iterator[str]:
    if not plan.asked:
        return
    if plan.problem:
        yield f"**Not compared with {prose(plan.against)}:** {prose(plan.problem)}"
        return
    parts = [f"{count} to {verb}" for verb, count in _counts(plan)]
    if not parts:
        yield f"**No resource changes** against {prose(plan.against)}; {plan.unchanged} stay as they are."
        return
    yield f"**{', '.join(parts)}** against {prose(plan.against)}; {plan.unchanged} stay as they are."
    taken = [change for verb in Verb for change in plan.own(verb) if change.takes]
    if taken:
        more = [f"- and {len(taken) - TAKEN} more, on the page"] if len(taken) > TAKEN else []
        more += [
            f"- {counted(len(ones), 'resource')} that name {code(name)} may be replaced with it"
            for name, ones in plan.followers().items()
        ]
        yield "\n".join([*map(_taken, taken[:TAKEN]), *more])
    yield "\n".join(_table(plan))


def _counts(plan: Plan) -> list[tuple[Verb, int]]:
    return [(verb, plan.counts[verb]) for verb in _COLUMNS if plan.counts[verb]]


def _taken(change: ResourceChange) -> str:
    what = f"{change.verb} {kind(change.type)} {code(change.name)}"
    reasons = [one for one in change.properties if one.forces is not False]
    why = "".join(f"; {code(one.path)}: {code(one.before)} → {code(one.after)}" for one in reasons[:2])
    if change.because:
        why = f", which follows from {code(change.because)}"
    if change.stays:
        why += ", which leaves the stack and stays in AWS"
    if change.dangerous:
        return f"- **{what}**{why}. **Loses {prose(change.loses)}.** Mend: {prose(change.fix)}."
    return f"- {what}{why}"


def _table(plan: Plan) -> Iterator[str]:
    verbs = [verb for verb, _ in _counts(plan)]
    yield f"| Kind | {' | '.join(verbs)} |"
    yield f"|---|{'--:|' * len(verbs)}"
    rows = list(plan.by_kind().items())
    for name, counts in rows[:KINDS]:
        yield f"| {prose(name)} | {' | '.join(str(counts[verb] or '') for verb in verbs)} |"
    if len(rows) > KINDS:
        rest = [sum(counts[verb] for _, counts in rows[KINDS:]) for verb in verbs]
        yield f"| {len(rows) - KINDS} more kinds | {' | '.join(map(str, rest))} |"


def _cost(report: Report) -> Iterator[str]:
    bill = report.bill
    rows = ["| Cost a month | floor | expected | ceiling |", "|---|--:|--:|--:|"]
    rows.append(f"| this change | {_cells(bill.total)} |")
    if bill.delta is not None:
        delta = bill.delta
        rows.append(f"| **difference** | **{'** | **'.join(map(signed, _three(delta)))}** |")
    rows += [f"| {prose(bar.name)} | {' | '.join(map(signed, _three(bar.amounts)))} |" for bar in bill.movers]
    yield "\n".join(rows)
    if bill.delta_problem:
        yield f"No difference in cost: {prose(bill.delta_problem)}"


def _three(amounts: Amounts) -> tuple[Decimal, Decimal, Decimal]:
    return (amounts.floor, amounts.expected, amounts.ceiling)


def _cells(amounts: Amounts) -> str:
    return " | ".join(map(cents, _three(amounts)))


def _findings(report: Report) -> Iterator[str]:
    found = report.evaluation
    broken, advice = found.count("mandatory"), found.count("advisory")
    head = f"{broken} mandatory and {counted(advice, 'advisory finding')}, {found.suppressed} suppressed"
    yield f"**Policies: {head}**" if broken else f"Policies: {head}"
    if found.findings:
        more = [f"- and {len(found.findings) - FINDINGS} more, on the page"] if len(found.findings) > FINDINGS else []
        yield "\n".join([*map(_finding, found.findings[:FINDINGS]), *more])


def _finding(one: FindingView) -> str:
    resource, message = one.cases[0]
    more = f" and {counted(len(one.cases) - 1, 'other')}" if len(one.cases) > 1 else ""
    name = f"{one.level} {code(one.rule)} on {code(resource)}{more}"
    return f"- {f'**{name}**' if one.level == 'mandatory' else name}: {prose(message)}"


def _end(report: Report) -> str:
    caveats = ", ".join(caveat.what[0].lower() + caveat.what[1:] for caveat in report.caveats)
    at = f" of {code(report.commit)}" if report.commit else ""
    return f"<sub>Report{at}, without credentials. Not proven here: {prose(caveats)}. The page tells more.</sub>"


def prose(text: str) -> str:
    """Text that is shown as it is: no markup, no mention, no reference to an issue; cut where it is long."""
    short = " ".join(text.split())
    short = short if len(short) <= _LONGEST else f"{short[: _LONGEST - 1]}…"
    safe = short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A space of no width ends a mention without being seen.
    return _REFERENCE.sub("\\1\u200b", _SPECIAL.sub(r"\\\1", safe))


def code(text: str) -> str:
    """Text as code, inside a table as well; a dash for nothing."""
    short = " ".join(text.split()).replace("`", "'")
    short = short if len(short) <= _LONGEST else f"{short[: _LONGEST - 1]}…"
    return f"`{short.replace('|', '¦')}`" if short else "\N{EM DASH}"
