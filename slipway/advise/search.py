"""Greedy search for changes of a stack file: replays on the first half of the days, and once on the other half."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from slipway.advise.kinds import Change, Subject, changes
from slipway.advise.measure import Figures, demand, figures, objections, saved, steady
from slipway.advise.stack import NotAllowedError, Stack
from slipway.render.recording import Recording
from slipway.replay import engine, plan
from slipway.replay.fold import Fold
from slipway.replay.generate import DAY
from slipway.replay.jobs import Trace
from slipway.replay.plan import Options, Plan
from slipway.replay.result import Result
from spec.errors import SlipwayError, fail, refuse
from spec.settings import Platform
from spec.settings.load import Edits

PROCESSES: Final = 2
LEAST: Final = 0.005  # part of the cost that a change has to save beside those before it: less is noise of one week


@dataclass(frozen=True, kw_only=True)
class Half:
    """Some days of a trace."""

    trace: Trace  # their jobs
    days: int  # their number, after which a replay ends


def halves(trace: Trace, source: str) -> tuple[Half, Half]:
    """The first days of a trace, by which changes are found, and the others, by which they are judged."""
    days = math.ceil(trace.seconds / DAY)
    first = (days + 1) // 2
    if days < 2:
        hours = trace.seconds / 3600
        refuse(
            f"{source}: submitted: advice needs jobs of two days, to search and to judge (found: {hours:.1f} h). "
            "Export a longer period, or resample it with --load and --days."
        )
    early = [one for one in trace.jobs if one.submitted < first * DAY]
    late = [replace(one, submitted=one.submitted - first * DAY) for one in trace.jobs if one.submitted >= first * DAY]
    start = trace.start + timedelta(days=first) if trace.start else None
    return (
        Half(trace=replace(trace, jobs=early), days=first),
        Half(trace=replace(trace, jobs=late, start=start, left_out={}), days=days - first),
    )


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a search may take."""

    replays: int = 60  # number of replays, those of the stack as it is and of the other half included
    seconds: float = 600.0  # real time; the replay of the other half begins then at the latest
    longer: float = 0.0  # part by which waits may become longer
    without: frozenset[str] = frozenset()  # kinds that are not tried


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Changes on the days of the search: together with those that were adopted before."""

    change: Change
    figures: Figures
    objections: Sequence[str]


@dataclass(kw_only=True)
class Found:
    """What is known; more is added until the search ends."""

    before: Figures  # the stack as it is on the days of the search
    before_held: Figures  # the stack as it is on the other days
    after: Figures  # with the adopted changes
    after_held: Figures | None = None  # with the adopted changes; None if that was not replayed
    objections: Sequence[str] = ()  # what is against them on the other days
    adopted: list[Tried] = field(default_factory=list)
    """The changes, in the order of their adoption, with what the stack saves then."""
    steady: Mapping[str, tuple[int, float]] = field(default_factory=dict)  # nodes that run most of the time, by pool
    replays: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # changes that `check` or a policy refuses, by reason
    ended: str = ""  # why the search ended early; empty if nothing was left to try

    @property
    def edits(self) -> dict[tuple[str, ...], object]:
        """The adopted changes as one."""
        return merged(one.change for one in self.adopted)

    @property
    def advised(self) -> bool:
        """Whether they save on the days that the search has not seen, too, and nobody waits longer there."""
        return self.after_held is not None and not self.objections and saved(self.before_held, self.after_held) >= LEAST


def merged(every: Iterable[Change]) -> dict[tuple[str, ...], object]:
    """Changes as one, of which none sets what another has set (`_fits`)."""
    return {path: value for one in every for path, value in one.edits.items()}


def _fits(change: Change, edits: Edits) -> bool:
    """Whether a change sets nothing that is at, above or below what is set already."""
    return not any(a[: len(b)] == b or b[: len(a)] == a for a in change.edits for b in edits)


class _StoppedError(Exception):
    """A replay was ended by the user."""


class Search:
    """One search."""

    def __init__(
        self, stack: Stack, trace: tuple[Half, Half], options: Options, bounds: Bounds, say: Callable[[str], None]
    ) -> None:
        self._stack, self._halves, self._options, self._bounds, self._say = stack, trace, options, bounds, say
        self._until = time.monotonic() + bounds.seconds
        self._stop = threading.Event()
        self._replays = 0
        self._tried: list[Tried] = []
        """Since the last adoption."""

    def run(self) -> Found:
        """Search until nothing is left to try, a bound is reached, or the user interrupts it.

        Raises:
            SlipwayError: The stack as it is can't be replayed to the end.
            KeyboardInterrupt: Before anything was known.
        """
        platform, recording = self._stack.as_it_is()
        plans = [self._plan(half, platform, recording) for half in self._halves]
        with ThreadPoolExecutor(PROCESSES) as pool:
            try:
                (before, result), (held, _) = pool.map(self._replay, plans)
                found = Found(before=before, before_held=held, after=before, steady=steady(result, plans[0]))
                if not before.work or not held.work:
                    refuse("no job of one half of the trace has run: advice needs work on both. Replay it to see why.")
                try:
                    self._rounds(pool, found, Subject(platform=platform, demand=demand(plans[0])))
                except KeyboardInterrupt:
                    self._stop.set()
                    best = min(filter(_good(found), self._tried), key=_cost, default=None)
                    if best is not None:
                        self._adopt(found, best)
                    found.ended = "interrupted"
                    self._say("interrupted: what is known so far is replayed on the other days; Ctrl-C again ends that")
            except BaseException:
                self._stop.set()
                raise
        self._stop.clear()
        self._judge(found)
        found.replays = self._replays
        return found

    def _judge(self, found: Found) -> None:
        """The adopted changes on the days that the search has not seen."""
        if not found.adopted:
            return
        try:
            self._say(f"{len(found.adopted)} changes found; replaying them on the other days")
            allowed = self._stack.changed(found.edits, preview=True)
            found.after_held, _ = self._replay(self._plan(self._halves[1], *allowed))
        except KeyboardInterrupt:
            found.ended = "interrupted"
        except (NotAllowedError, SlipwayError) as error:
            found.objections = [str(error)]
        else:
            found.objections = list(objections(found.before_held, found.after_held, self._bounds.longer))

    def _rounds(self, pool: ThreadPoolExecutor, found: Found, subject: Subject) -> None:
        """Try every change alone, then together with what was adopted, the one that saves most first; again with what
        the changed stack offers, until nothing is adopted."""
        tried: set[tuple[object, ...]] = set()
        while not found.ended:
            offered = [
                one
                for one in changes(subject, self._bounds.without)
                if _fits(one, found.edits) and not _known(one, tried)
            ]
            alone = list(self._try(pool, found, offered))
            cheaper = [one for one in alone if saved(found.after, one.figures) >= LEAST]
            queue = [one.change for one in sorted(cheaper, key=lambda one: one.figures.usd_per_hour_of_work)]
            best = min(filter(_good(found), cheaper), key=_cost, default=None)
            if best is None:
                break
            self._adopt(found, best)
            while queue and not found.ended:
                queue = [one for one in queue if _fits(one, found.edits)]
                batch, queue = queue[:PROCESSES], queue[PROCESSES:]
                good = list(filter(_good(found), self._try(pool, found, batch)))
                if good:
                    best = min(good, key=_cost)
                    self._adopt(found, best)
                    queue = [*(one.change for one in good if one is not best), *queue]
            platform, _ = self._stack.changed(found.edits)
            subject = replace(subject, platform=platform)

    def _adopt(self, found: Found, one: Tried) -> None:
        found.adopted.append(one)
        self._tried.clear()
        found.after = one.figures
        self._say(f"{saved(found.before, found.after):.1%} less with {one.change.what}")

    def _try(self, pool: ThreadPoolExecutor, found: Found, every: Sequence[Change]) -> Iterator[Tried]:
        """Replays of changes, each together with those that were adopted, on the days of the search."""
        running: dict[Future[tuple[Figures, Result]], Change] = {}
        edits, waiting = found.edits, list(every)
        while (waiting or running) and not found.ended:
            while waiting and len(running) < PROCESSES and not self._bounded(found):
                change = waiting.pop(0)
                try:
                    allowed = self._stack.changed({**edits, **change.edits})
                except NotAllowedError as error:
                    found.refused[str(error)] += 1
                    continue
                running[pool.submit(self._replay, self._plan(self._halves[0], *allowed))] = change
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in [one for one in running if one in done]:
                change = running.pop(future)
                try:
                    after, _ = future.result()
                except SlipwayError as error:
                    found.refused[f"replay: {error}"] += 1
                    continue
                against = list(objections(found.before, after, self._bounds.longer))
                self._tried.append(Tried(change=change, figures=after, objections=against))
                less, but = saved(found.before, after), f", but {against[0]}" if against else ""
                self._say(f"{self._replays} replays: {less:.1%} less with {change.what}{but}")
                yield self._tried[-1]

    def _bounded(self, found: Found) -> bool:
        """Whether a bound is reached; one replay is kept for the other half."""
        if self._replays >= self._bounds.replays - 1:
            found.ended = f"after {self._bounds.replays} replays"
        elif time.monotonic() > self._until:
            found.ended = f"after {self._bounds.seconds / 60:.0f} min"
        return bool(found.ended)

    def _plan(self, half: Half, platform: Platform, recording: Recording) -> Plan:
        self._replays += 1
        return plan.make(half.trace, platform, recording, replace(self._options, until=float(half.days * DAY)))

    def _replay(self, planned: Plan) -> tuple[Figures, Result]:
        fold = Fold(planned, stack=self._stack.name, source="", form="")
        events = engine.run(planned.document, say=lambda _: None)
        for event in events:
            fold.add(event)
            if self._stop.is_set():
                events.close()
                raise _StoppedError
        result = fold.result()
        if result.cut_by == "signal":
            raise KeyboardInterrupt
        if result.cut:
            fail(f"it was cut by {result.cut_by} on day {result.seconds / DAY:.1f}: replay fewer jobs, or less load")
        return figures(result, planned), result


def _good(found: Found) -> Callable[[Tried], bool]:
    """Whether a change may be adopted after those that are."""
    return lambda one: not one.objections and saved(found.after, one.figures) >= LEAST


def _cost(one: Tried) -> float:
    return one.figures.usd_per_hour_of_work


def _known(change: Change, tried: set[tuple[object, ...]]) -> bool:
    """Whether a change was offered before, and remember it."""
    key = (change.kind, *((path, str(value)) for path, value in change.edits.items()))
    known = key in tried
    tried.add(key)
    return known
