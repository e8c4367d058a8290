"""The changes of a stack as text for a terminal: by part, team and pool, then removals, cost and policy findings."""

import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sandbox.rpc import diff
from slipway.engine.invocation import Operation
from slipway.report.model import Bill, Evaluation
from slipway.report.page import cents, counted, signed
from slipway.report.plan import Plan, PropertyChange, ResourceChange, Verb, kind
from spec.pricing import Amounts

WIDTH: Final = 120
ROWS: Final = 20  # changes that are listed one by one; of more, each group is one line
REMOVALS: Final = 10
FINDINGS: Final = 5
VALUE: Final = 40  # characters of a value that a row shows; of a longer one it shows the property alone
_ORDER: Final = (Verb.CREATE, Verb.UPDATE, Verb.MAYBE, Verb.REPLACE, Verb.DELETE)
_OF_TEAMS: Final = ("tenancy", "queues")
_CHAIN: Final = re.compile(r"slipway:(?P<part>\w+):\w+")


@dataclass(frozen=True, kw_only=True)
class TerminalContext:
    """What the changes belong to, and what they cause."""

    stack: str
    teams: Collection[str] = ()
    pools: Collection[str] = ()  # names of its node pools
    bill: Bill | None = None  # its cost, with the difference from what is deployed; None to leave it out
    evaluation: Evaluation | None = None
    """Policy findings on the changed resources and the stack; None to leave them out."""
    operation: Operation = Operation.UP  # what the engine did, or would do
    done: bool = False  # whether the changes were made; else they are planned


def text(plan: Plan, context: TerminalContext) -> str:
    """The summary; without a final newline."""
    blocks = [_head(plan, context)]
    if plan.changes:
        blocks.append("\n".join(_groups(plan, context)))
    removals = "\n".join(_LOSSES.get(context.operation, _removals)(plan))
    if removals:
        blocks.append(removals)
    if context.bill is not None:
        blocks.append("\n".join(_cost(context.bill, context.stack)))
    if context.evaluation is not None:
        blocks.append("\n".join(_findings(context.evaluation)))
    return "\n\n".join(blocks)


def group(change: ResourceChange, context: TerminalContext) -> str:
    """The team, pool or part of the program that a resource belongs to: `team vision`, `pool a100`, `admission`."""
    found = _CHAIN.match(change.urn.split("::")[2])
    part = found["part"] if found else "stack"
    if part in _OF_TEAMS and (team := _named(change.name, context.teams)):
        return f"team {team}"
    if part == "pools" and (pool := _named(change.name, context.pools)):
        return f"pool {pool}"
    return part


def _named(name: str, of: Collection[str]) -> str:
    """The longest of the names that a logical name has as one of its parts; empty without one."""
    return max((one for one in of if f"-{one}-" in f"-{name}-"), key=len, default="")


def _head(plan: Plan, context: TerminalContext) -> str:
    counts, of_state = _counts(plan.changes, done=context.done), context.operation is Operation.REFRESH
    if not plan.changes:
        none = "no drift" if of_state else "no changes"
        return f"Stack {context.stack}: {none}; {plan.unchanged} resources unchanged."
    if of_state:
        counts = f"drift of {counted(len(plan.changes), 'resource')}: {counts} in the state"
    return f"Stack {context.stack}: {counts}; {plan.unchanged} unchanged."


def _groups(plan: Plan, context: TerminalContext) -> Iterator[str]:
    groups: dict[str, list[ResourceChange]] = {}
    for change in plan.changes:
        groups.setdefault(group(change, context), []).append(change)
    width = max(map(len, groups))
    for name, changes in sorted(groups.items()):
        if len(plan.changes) > ROWS:
            yield _cut(f"  {name:{width}}  {_counts(changes, done=context.done)}: {_kinds(changes)}")
            continue
        for change in changes:
            yield _cut(f"  {name:{width}}  {change.verb:7}  {_kind(change)} {change.name}{_what(change)}")


def _counts(changes: Sequence[ResourceChange], *, done: bool) -> str:
    """`2 to create, 1 to delete`; `2 created, 1 deleted`."""
    verbs = {verb: sum(change.verb is verb for change in changes) for verb in _ORDER}
    return ", ".join(f"{count} {verb}d" if done else f"{count} to {verb}" for verb, count in verbs.items() if count)


def _kinds(changes: Sequence[ResourceChange]) -> str:
    kinds: dict[str, int] = {}
    for change in changes:
        kinds[kind(change.type)] = kinds.get(kind(change.type), 0) + 1
    return ", ".join(f"{count} {name}" for name, count in sorted(kinds.items(), key=lambda one: (-one[1], one[0])))


def _kind(change: ResourceChange) -> str:
    return kind(change.type).partition(" (")[0]


def _what(change: ResourceChange) -> str:
    """A changed property, one that forces a replacement or else the shortest, and how many others there are."""
    if not change.properties:
        return ""
    shown = min(change.properties, key=lambda one: (one.forces is False, len(one.before) + len(one.after), one.path))
    more = f" (and {counted(len(change.properties) - 1, 'other')})" if len(change.properties) > 1 else ""
    return f": {_property(shown)}{more}"


def _property(one: PropertyChange) -> str:
    """The last key of its path, with its values unless they are long."""
    names = [str(part) for part in diff.parse(one.path) if isinstance(part, str)]
    key = names[-1] if names else one.path
    if max(len(one.before), len(one.after)) > VALUE or one.before == one.after:
        return key  # equal: the chart of a release that was only recorded, and can be installed now
    return f"{key}: {one.before or 'not set'} -> {one.after or 'not set'}"


def _removals(plan: Plan) -> Iterator[str]:
    removals = [change for verb in Verb for change in plan.own(verb) if change.removes]
    plain = [change for change in removals if change.verb is Verb.DELETE and not (change.dangerous or change.retained)]
    own = [change for change in removals if change not in plain]
    if removals:
        yield "Replaced or deleted:"
    for change in own[:REMOVALS]:
        yield _cut(f"  {change.verb} {_kind(change)} {change.name}{_why(change)}")
        if change.dangerous:
            yield f"    loses {change.loses}; fix: {change.fix}"
    if len(own) > REMOVALS:
        yield f"  and {len(own) - REMOVALS} more: --verbose lists them"
    if plain:
        names = ", ".join(change.name for change in plain)
        yield _cut(f"  delete {len(plain)} that the program no longer declares: {names}")
    for name, ones in plan.dependents().items():
        yield f"  and {counted(len(ones), 'resource')} because of {name}"


def _gone(plan: Plan) -> Iterator[str]:
    """What a refresh found deleted outside the program."""
    if names := [change.name for change in plan.changes if change.verb is Verb.DELETE]:
        yield _cut(f"No longer there, and created again by `up`: {', '.join(names)}")


def _lost(plan: Plan) -> Iterator[str]:
    """What is lost with the resources of a destroy, and what stays."""
    if lost := [change for change in plan.changes if change.loses and not change.retained]:
        yield "Permanently lost:"
    yield from (_cut(f"  {_kind(change)} {change.name}: {change.loses}") for change in lost[:REMOVALS])
    if len(lost) > REMOVALS:
        yield f"  and {len(lost) - REMOVALS} more: --verbose lists them"
    if retained := [change.name for change in plan.changes if change.retained]:
        yield _cut(f"Retained in AWS: {', '.join(retained)}")
    if remains := [change for change in plan.changes if change.remains]:
        yield "Left in AWS, and billed until you delete it:"
    yield from (_cut(f"  {change.remains} (of {change.name})") for change in remains)


_LOSSES: Final[Mapping[Operation, Callable[[Plan], Iterator[str]]]] = {
    Operation.REFRESH: _gone,
    Operation.DESTROY: _lost,
}
"""What is said about resources that are no longer there, where it is not about replacements."""


def _why(change: ResourceChange) -> str:
    if change.cause:
        return f", because of {change.cause}"
    if change.retained:
        return ": the program no longer declares it; it is retained in AWS"
    if change.verb is Verb.DELETE:
        return ": the program no longer declares it"
    reasons = [one for one in change.properties if one.forces is not False]
    return "".join(f"; {one.path}: {one.before or 'not set'} -> {one.after or 'not set'}" for one in reasons[:2])


def _cost(bill: Bill, stack: str) -> Iterator[str]:
    yield from _amounts(bill)
    if bill.unpriced:
        yield f"  without {counted(bill.unpriced, 'item')} that no price is known of: `slipway cost {stack}` lists all"


def _amounts(bill: Bill) -> Iterator[str]:
    if bill.delta is None:
        yield _cut(f"Cost a month: {_three(bill.total)}")
        if bill.delta_problem:
            yield f"  no difference: {bill.delta_problem}"
    elif bill.delta == Amounts():
        yield f"Cost a month, unchanged: {_three(bill.total)}"
    else:
        yield f"Cost a month: {_three(bill.delta, signs=True)}; then {_three(bill.total)}"
        yield from (_cut(f"  {_three(bar.amounts, signs=True)}  {bar.name}") for bar in bill.movers)


def _three(of: Amounts, *, signs: bool = False) -> str:
    each: Mapping[str, str] = {
        name: signed(amount) if signs else cents(amount)
        for name, amount in (("floor", of.floor), ("expected", of.expected), ("ceiling", of.ceiling))
    }
    return ", ".join(f"{name} {amount}" for name, amount in each.items())


def _findings(result: Evaluation) -> Iterator[str]:
    if not result.findings:
        yield "Policies: no findings on the changed resources."
        return
    yield (
        f"Policies, on the changed resources: {result.count('mandatory')} mandatory and "
        f"{counted(result.count('advisory'), 'advisory finding')}"
    )
    for one in result.findings[:FINDINGS]:
        resource, message = one.cases[0]
        more = f" and {counted(len(one.cases) - 1, 'other')}" if len(one.cases) > 1 else ""
        yield _cut(f"  {one.level} {one.rule} on {resource}{more}: {message}")
    if len(result.findings) > FINDINGS:
        yield f"  and {len(result.findings) - FINDINGS} more rules: `slipway policies`"


def _cut(line: str) -> str:
    # Without a terminal, COLUMNS is nobody's width.
    width = min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH
    return line if len(line) <= width else f"{line[: width - 1]}…"
