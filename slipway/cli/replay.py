"""`slipway replay STACK --trace FILE`: the jobs of a trace on a stack, in virtual time."""

import argparse
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

from sandbox.files import write_atomically
from slipway.cli import replay_summary
from slipway.cli.given import given
from slipway.cli.output import Progress, say
from slipway.replay import engine, generate, jobs, plan, readers, result
from slipway.replay.fold import Fold
from slipway.replay.generate import Shape
from slipway.replay.happened import compared
from slipway.replay.jobs import Trace
from slipway.replay.page import page
from slipway.replay.places import places
from slipway.replay.result import Result
from slipway.report.make import PAGE, prepare
from spec.errors import EXIT_INTERRUPTED, EXIT_REFUSED, SlipwayError
from spec.settings import Platform

JSON: Final = "replay.json"
TRACE: Final = "trace.csv"
_EVERY: Final = 2.0  # seconds between two messages of progress


def run(options: argparse.Namespace) -> int:
    """Replay, print the summary, and write page, result and trace to `--out`; 130 if the user interrupted it."""
    refuse(options)
    progress = Progress()
    other = result.read(options.against) if options.against else None
    if options.out is not None:
        prepare(options.out)
    stack = given(options)
    trace = trace_of(options, stack.platform)
    progress(f"{len(trace.jobs):,} jobs; reading what {stack.name} has")
    planned = plan.make(trace, stack.platform, stack.objects(), _choices(options))
    source = str(options.trace.name) if options.trace else "the generator"
    fold = Fold(planned, stack=stack.name, source=source, form=trace.format)
    interrupted = _follow(engine.run(planned.document, say=_seldom(progress)), fold)
    if interrupted:
        say("slipway: interrupted; this is what is known so far")
    found = fold.result(assumptions=stack.notes)
    if options.source is not None:
        found = found.model_copy(update={"happened": compared(trace.jobs, found.outcomes)})
    _write(found, other, trace, options.out)
    print(found.as_json().rstrip() if options.json else replay_summary.text(found, other))
    return EXIT_INTERRUPTED if interrupted else 0


def refuse(options: argparse.Namespace) -> None:
    """Options that don't go together; of a folder its own trace is the default."""
    if not options.trace and not options.generate:
        if options.source is None or not (options.source / TRACE).is_file():
            why = f" (given: {options.source}, without {TRACE}: nothing in it has ended)" if options.source else ""
            msg = f"one of the arguments --trace --generate is required{why}"
            raise SlipwayError(msg, EXIT_REFUSED)
        options.trace = options.source / TRACE
    if options.advise and options.source:
        msg = "--advise changes a stack file, and --from names none: write one, docs/guides/import.md says how"
        raise SlipwayError(msg, EXIT_REFUSED)
    if options.advise and (options.out or options.against or options.until is not None):
        msg = "--out, --against and --until are of one replay: --advise writes to --changes, and --json prints all"
        raise SlipwayError(msg, EXIT_REFUSED)
    if (options.format or options.map) and not options.trace:
        msg = "--format and --map are of a --trace: a generated trace has none"
        raise SlipwayError(msg, EXIT_REFUSED)
    resampled = options.load is not None or options.generate
    if not resampled and (options.seed is not None or options.jobs is not None or options.days is not None):
        msg = "--seed, --jobs and --days are of a generated trace: add --load, or --generate"
        raise SlipwayError(msg, EXIT_REFUSED)


def trace_of(options: argparse.Namespace, platform: Platform) -> Trace:
    """The trace of the file, as it is or resampled, or a generated one; with checkpoints, if the user says how many."""
    trace = _drawn(options, platform)
    return trace if options.checkpoint_minutes is None else plan.checkpointed(trace, options.checkpoint_minutes * 60)


def _drawn(options: argparse.Namespace, platform: Platform) -> Trace:
    trace = readers.read(options.trace, options.format, dict(options.map or ())) if options.trace else None
    if trace is not None and options.load is None:
        return trace
    shape = Shape(
        seed=1 if options.seed is None else options.seed,
        load=1.0 if options.load is None else options.load,
        jobs=10_000 if options.jobs is None else options.jobs,
        days=7 if options.days is None else options.days,
    )
    every = generate.ceilings(places(platform), lambda team, pool: platform.teams[team].shares[pool].nominal_quota)
    return generate.resample(trace or generate.synthetic(shape), every, shape)


def _choices(options: argparse.Namespace) -> plan.Options:
    types = dict(options.gpu_type or ())
    return plan.Options(
        until=options.until,
        max_wall_seconds=options.max_minutes * 60,
        gpu_types=types,
        launch_seconds=options.launch_seconds,
    )


def _seldom(progress: Progress) -> Callable[[str], None]:
    """Progress, but not each second."""
    shown = time.monotonic()

    def report(text: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= _EVERY:
            shown = time.monotonic()
            progress(text)

    return report


def _follow(events: Generator[dict[str, Any]], fold: Fold) -> bool:
    """Fold the events as they come; whether the user interrupted them, after which the engine sums up."""
    interrupted = False
    while True:
        try:
            event = next(events)
        except StopIteration:
            return interrupted
        try:
            fold.add(event)
            interrupted = event["kind"] == "summary" and event.get("reason") == "signal"
        except KeyboardInterrupt:
            # The engine is asked for its summary, as if the interrupt had come while an event was awaited.
            fold.add(events.throw(KeyboardInterrupt()))


def _write(found: Result, other: Result | None, trace: Trace, out: Path | None) -> None:
    if out is None:
        return
    for name, text in ((PAGE, page(found, other)), (JSON, found.as_json()), (TRACE, jobs.write(trace.jobs))):
        write_atomically(out / name, text, 0o644)
    say(f"wrote {out / PAGE} (the page), {out / JSON} (for --against) and {out / TRACE} (the jobs)")
