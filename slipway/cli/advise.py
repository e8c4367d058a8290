"""`slipway replay STACK --trace FILE --advise`: changes of the stack file that cost less at equal waits."""

import argparse
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from sandbox.files import write_atomically
from slipway.advise.document import Advice, Days, document
from slipway.advise.measure import Figures
from slipway.advise.search import Bounds, Found, Search, halves
from slipway.advise.stack import Stack
from slipway.cli.check import checked
from slipway.cli.output import Progress, say, table
from slipway.cli.replay import refuse, trace_of
from slipway.cli.replay_summary import WIDTH
from slipway.engine.project import find
from slipway.replay.figures import dollars, percent
from slipway.replay.plan import Options
from spec import clock
from spec.errors import EXIT_INTERRUPTED, EXIT_REFUSED, SlipwayError
from spec.quantities import duration
from spec.settings import read_stack

_DIFFS: Final = (".diff", ".patch")
_REFUSED: Final = 3  # reasons of refusals that are shown; --json has all


def run(options: argparse.Namespace) -> int:
    """Search, print what is advised, and write what is advised to `--changes`; 130 if the user interrupted it."""
    refuse(options)
    if options.changes is not None and not options.changes.parent.is_dir():
        msg = f"--changes {options.changes}: its folder must exist (given: {options.changes.parent}). Create it"
        raise SlipwayError(msg, EXIT_REFUSED)
    project, progress = find(Path.cwd()), Progress()
    platform = checked(project, options.stack).platform
    trace = trace_of(options, platform)
    source = str(options.trace.name) if options.trace else "the generator"
    parts = halves(trace, source)
    path = project.stacks / f"Pulumi.{options.stack}.yaml"
    data = read_stack(options.stack, project.stacks)
    stack = Stack(options.stack, path, data if isinstance(data, dict) else {}, clock.today())
    limit = options.max_minutes * 60
    replayed = Options(
        max_wall_seconds=limit, gpu_types=dict(options.gpu_type or ()), launch_seconds=options.launch_seconds
    )
    bounds = Bounds(
        replays=options.replays, seconds=limit, longer=options.longer / 100, without=frozenset(options.without)
    )
    found = Search(stack, parts, replayed, bounds, progress).run()
    advice = document(found, stack, parts, source)
    _write(options.changes, advice, stack, found)
    print(advice.as_json().rstrip() if options.json else text(advice))
    return EXIT_INTERRUPTED if found.ended == "interrupted" else 0


def _write(out: Path | None, advice: Advice, stack: Stack, found: Found) -> None:
    if out is None:
        return
    if not advice.advised:
        say(f"nothing is advised, and {out} was not written")
        return
    changed = advice.diff if out.suffix in _DIFFS else stack.text(found.edits)
    write_atomically(out, changed, 0o644)
    say(f"wrote {out}")


def text(advice: Advice) -> str:
    """One screen."""
    return "\n".join(_lines(advice))


def _lines(advice: Advice) -> Iterator[str]:
    search, other = advice.search, advice.held_out
    yield from textwrap.wrap(advice.left_out.sentence, WIDTH)
    yield (
        f"stack {advice.stack}, {advice.source} ({advice.format}): searched on the first {search.days} days "
        f"({search.jobs:,} jobs), judged on the other {other.days} ({other.jobs:,} jobs)"
    )
    refused = f", {sum(advice.refused.values()):,} changes refused" if advice.refused else ""
    yield f"{advice.replays:,} replays{refused}" + (f"; ended early: {advice.ended}" if advice.ended else "")
    for reason, count in list(advice.refused.items())[:_REFUSED]:
        yield textwrap.shorten(f"  {count:,} by {reason}", WIDTH, placeholder="...")
    yield ""
    yield from textwrap.wrap(verdict(advice), WIDTH)
    yield ""
    yield table(list(_figures(search, other)), right=frozenset({1, 2, 3, 4}))
    for number, one in enumerate(advice.steps, start=1):
        yield from ("", f"{number}. {one.what}: {percent(one.saved)} less with those before it", f"   but {one.but}")
    if advice.diff:
        yield from ("", advice.diff.rstrip())
    for steady in advice.steady:
        yield ""
        yield from textwrap.wrap(
            f"{steady.pool}: {steady.nodes} on-demand node(s) run at least {steady.runs:.0%} of the time: a commitment "
            f"to the last of them pays from {1 - steady.runs:.0%} below list price",
            WIDTH,
        )


def verdict(advice: Advice) -> str:
    """Whether the changes are advised, and why not."""
    if not advice.steps:
        return "Nothing is advised: no change that is allowed costs less without longer waits."
    if advice.advised:
        return (
            f"Advised: {percent(advice.held_out.saved)} less for an hour of work, on days that the search has not seen."
        )
    why = "; ".join(advice.objections) or (
        "they were not replayed there" if not advice.held_out.after else "they save nothing"
    )
    return f"Nothing is advised. The changes below save on the days of the search, but on the other days: {why}."


def _figures(search: Days, other: Days) -> Iterator[Sequence[str]]:
    columns = [one for days in (search, other) for one in (days.before, days.after)]
    yield "", f"{search.days} days", "changed", f"other {other.days}", "changed"
    rows: dict[str, Callable[[Figures], str]] = {
        "cost": lambda one: dollars(one.usd),
        "hours of work": lambda one: f"{one.work:,.0f}",
        "cost of an hour of work": lambda one: f"${one.usd_per_hour_of_work:.2f}",
        "jobs in no figure": lambda one: f"{one.left_out.jobs:,}",
        "preemptions": lambda one: f"{one.preemptions:,}",
    }
    for name, of in rows.items():
        yield name, *("-" if one is None else of(one) for one in columns)
    for name in search.before.waits:
        yield f"wait of {name}, mean, 95 %", *(_wait(one, name) for one in columns)


def _wait(figures: Figures | None, name: str) -> str:
    if figures is None or name not in figures.waits:
        return "-"
    return f"{duration(figures.waits[name].mean)}, {duration(figures.waits[name].p95)}"
