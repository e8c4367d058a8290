"""The report as a pull request comment: changes, cost, policy findings.

GitHub limits a comment to 65,536 characters, so every list is cut off after a few entries; the page has all of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from slipway.report.advice import Replayed, Scenario
from slipway.report.model import FindingView, Report
from slipway.report.page import cents, counted, signed
from slipway.report.plan import Plan, ResourceChange, Verb, kind
from spec.errors import LINES, visible
from spec.pricing import Amounts

SETTINGS: Final = 12
EFFECTS: Final = 12
KINDS: Final = 12
REMOVALS: Final = 10
FINDINGS: Final = 8
SCENARIOS: Final = 40
EXPECTATIONS: Final = 4  # unmet expectations of one scenario
_LONGEST: Final = 400
_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~])")
_REFERENCE: Final = re.compile(r"([@#]|GH-)(?=\w)|(www)(?=\.)|(:)(?=//)", re.IGNORECASE)
"""What GitHub makes a link of: mentions, issues, addresses."""
_COLUMNS: Final = (Verb.CREATE, Verb.UPDATE, Verb.MAYBE, Verb.REPLACE, Verb.DELETE)


def marker(stack: str) -> str:
    """The first line of a comment, by which the next run finds and updates it."""
    return f"<!-- slipway-report:{stack} -->"


def markdown(report: Report) -> str:
    """The comment; it ends with a newline."""
    blocks = [marker(report.stack), f"## Slipway: stack {prose(report.stack)}"]
    blocks += [*_effects(report), *_cost(report), *_findings(report), *_folded(report.plan)]
    blocks += [*_scenarios(report.scenarios), *_replayed(report.advice.replayed), _end(report)]
    return "\n\n".join(blocks) + "\n"


def _effects(report: Report) -> Iterator[str]:
    """What a reviewer decides on: which settings change, and what that does to whom; then what is lost."""
    plan, effects = report.plan, report.effects
    if effects.settings:
        head = f"**{counted(len(effects.settings), 'setting changes', 'settings change')}** compared with "
        yield f"{head}{prose(plan.against)}:"
        yield _list([f"{code(one.path)}: {code(one.before)} → {code(one.after)}" for one in effects.settings], SETTINGS)
    if effects.to:
        yield _list([f"**{prose(who)}**: {_marked(what)}" for who, what in effects.to], EFFECTS)
    if plan.dangerous:
        yield _list([_removal(change) for change in plan.dangerous], REMOVALS)
    if not plan.asked:
        return
    if plan.problem:
        yield f"**Not compared with {prose(plan.against)}:** {prose(plan.problem)}"
        return
    if not plan.changes:
        yield f"**No resource changes** compared with {prose(plan.against)}; {plan.unchanged} unchanged."


def _folded(plan: Plan) -> Iterator[str]:
    """The resources, which follow from the settings."""
    if not plan.changes or plan.problem:
        return
    parts = ", ".join(f"{count} to {verb}" for verb, count in _counts(plan))
    yield f"<details><summary>Resources: {parts}, {plan.unchanged} unchanged</summary>"
    yield f"Compared with {prose(plan.against)}."
    removals = [one for verb in Verb for one in plan.own(verb) if one.removes and not one.dangerous]
    references = [
        f"{counted(len(ones), 'resource')} that reference {code(name)} may be replaced with it"
        for name, ones in plan.dependents().items()
    ]
    if removals or references:
        yield "\n".join(filter(None, (_list(list(map(_removal, removals)), REMOVALS), _list(references, REMOVALS))))
    yield "\n".join(_table(plan))
    yield "</details>"


def _list(lines: Sequence[str], most: int) -> str:
    """The first lines, each as an entry."""
    more = [f"{len(lines) - most} more on the page"] if len(lines) > most else []
    return "\n".join(f"- {line}" for line in (*lines[:most], *more))


def _marked(text: str) -> str:
    """A sentence of ours, in which names are in backticks."""
    parts = text.split("`")
    marked = (code(part) if number % 2 else prose(part) for number, part in enumerate(parts) if part.strip())
    return " ".join(marked).replace(" ,", ",")


def _counts(plan: Plan) -> list[tuple[Verb, int]]:
    return [(verb, plan.counts[verb]) for verb in _COLUMNS if plan.counts[verb]]


def _removal(change: ResourceChange) -> str:
    what = f"{change.verb} {kind(change.type)} {code(change.name)}"
    reasons = [one for one in change.properties if one.forces is not False]
    why = "".join(f"; {code(one.path)}: {code(one.before)} → {code(one.after)}" for one in reasons[:2])
    if change.cause:
        why = f", caused by {code(change.cause)}"
    if change.retained:
        why += ", which is removed from the stack and retained in AWS"
    if change.dangerous:
        return f"**{what}**{why}. **Loses {prose(change.loses)}.** Fix: {prose(change.fix)}."
    return f"{what}{why}"


def _table(plan: Plan) -> Iterator[str]:
    verbs = [verb for verb, _ in _counts(plan)]
    yield f"| Kind | {' | '.join(verbs)} |"
    yield f"|---|{'--:|' * len(verbs)}"
    kinds = list(plan.by_kind().items())
    for name, counts in kinds[:KINDS]:
        yield f"| {prose(name)} | {' | '.join(str(counts[verb] or '') for verb in verbs)} |"
    if len(kinds) > KINDS:
        rest = [sum(counts[verb] for _, counts in kinds[KINDS:]) for verb in verbs]
        yield f"| {len(kinds) - KINDS} more kinds | {' | '.join(map(str, rest))} |"


def _cost(report: Report) -> Iterator[str]:
    bill = report.bill
    lines = ["| Cost per month | floor | expected | ceiling |", "|---|--:|--:|--:|"]
    lines.append(f"| stack {prose(report.stack)} | {' | '.join(map(cents, _three(bill.total)))} |")
    if bill.delta is not None:
        delta = bill.delta
        changed = (_change(one, of) for one, of in zip(_three(delta), _three(bill.total), strict=True))
        lines.append(f"| **difference** | **{'** | **'.join(changed)}** |")
    lines += [f"| {prose(bar.name)} | {' | '.join(map(signed, _three(bar.amounts)))} |" for bar in bill.movers]
    yield "\n".join(lines)
    if bill.delta_problem:
        yield f"No cost difference: {prose(bill.delta_problem)}"


def _change(delta: Decimal, total: Decimal) -> str:
    """A difference with its part of what it was."""
    before = total - delta
    return signed(delta) + (f" ({delta / before:+.1%})" if delta and before else "")


def _three(amounts: Amounts) -> tuple[Decimal, Decimal, Decimal]:
    return (amounts.floor, amounts.expected, amounts.ceiling)


def _findings(report: Report) -> Iterator[str]:
    result, effects = report.evaluation, report.effects
    mandatory, advisory = result.count("mandatory"), result.count("advisory")
    if effects.new is not None:
        cases = [(one, case) for one in result.findings for case in one.cases if (one.rule, case[0]) in effects.new]
        new: dict[str, FindingView] = {}
        for one, case in cases:
            kept = new.get(one.rule, replace(one, cases=()))
            new[one.rule] = replace(kept, cases=(*kept.cases, case))
        before = f"{mandatory + advisory - len(cases)} as before; {mandatory} mandatory in all"
        head = f"{counted(len(cases), 'new finding')}, {len(effects.gone)} gone, {before}"
        yield f"**Policies: {head}**" if cases else f"Policies: {head}"
        lines = [_finding(one) for one in new.values()]
        lines += [f"gone: {code(rule)} on {code(name)}" for rule, name in effects.gone]
        if lines:
            yield _list(lines, FINDINGS)
        return
    checks = f" of {counted(len(result.findings), 'check')}" if result.findings else ""
    head = f"{mandatory} mandatory and {counted(advisory, 'advisory finding')}{checks}, {result.suppressed} suppressed"
    yield f"**Policies: {head}**" if mandatory else f"Policies: {head}"
    if result.findings:
        yield _list([_finding(one) for one in result.findings], FINDINGS)


def _finding(one: FindingView) -> str:
    resource, message = one.cases[0]
    more = f" and {counted(len(one.cases) - 1, 'other')}" if len(one.cases) > 1 else ""
    name = f"{one.level} {code(one.rule)} on {code(resource)}{more}"
    return f"{f'**{name}**' if one.level == 'mandatory' else name}: {prose(message)}"


def _scenarios(scenarios: Sequence[Scenario]) -> Iterator[str]:
    if not scenarios:
        return
    passed = sum(one.passed for one in scenarios)
    head = f"Scenarios: {passed} of {len(scenarios)} scenarios and bad variants as expected"
    yield head if passed == len(scenarios) else f"**{head}**"
    # What fails comes first, with the words of the layer that decides.
    lines = []
    for one in sorted(scenarios, key=lambda one: one.passed)[:SCENARIOS]:
        mark = "as expected" if one.passed else "**not as expected**"
        lines.append(f"- {code(one.name)} {mark}: {prose(one.description)}")
        lines += [f"  - {prose(text)}" for text, met in one.expectations if not met][:EXPECTATIONS]
    more = len(scenarios) - SCENARIOS
    yield "\n".join([*lines, *([f"- {more} more on the page"] if more > 0 else [])])


def _replayed(found: Replayed | None) -> Iterator[str]:
    if found is None:
        return
    yield f"What saves most, by replays of {prose(found.jobs)}: {prose(found.verdict)}"
    if found.changes:
        yield "\n".join(f"- {prose(what)} (but {prose(but)})" for what, but in found.changes)
    if found.diff:
        yield f"```diff\n{visible(found.diff.rstrip(), LINES).replace('```', '` ` `')}\n```"


def _end(report: Report) -> str:
    caveats = ", ".join(caveat.what[0].lower() + caveat.what[1:] for caveat in report.caveats)
    at = f" of {code(report.commit)}" if report.commit else ""
    return f"<sub>Report{at}, generated without credentials. Limitations: {prose(caveats)}. The page has details.</sub>"


def prose(text: str) -> str:
    """Text shown literally: without markup, mentions and issue references; truncated if it is long."""
    short = _short(text)
    safe = short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A zero-width space breaks a mention invisibly.
    return _REFERENCE.sub("\\g<0>\u200b", _SPECIAL.sub(r"\\\1", safe))


def code(text: str) -> str:
    """Text as inline code, safe in tables; a dash if it is empty."""
    short = _short(text).replace("`", "'")
    return f"`{short.replace('|', '¦')}`" if short else "\N{EM DASH}"


def _short(text: str) -> str:
    """One line, without what hides or turns text."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
