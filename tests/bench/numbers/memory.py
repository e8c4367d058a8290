"""How much memory the sandbox takes."""

import os
from collections.abc import Iterable
from typing import Final

from sandbox.notes import Note, NoteKind, load_notes
from tests.bench import charts
from tests.bench.context import ROOT, Bench
from tests.bench.figure import Figure
from tests.bench.machine import BenchError
from tests.bench.sandbox import Memory

BOUND_MIB: Final = 2560
"""With whole charts the controllers of add-ons run, too; 2,048 was the bound before they did (2026-11)."""
STACK: Final = "dev"
_MIB: Final = 1 << 20
_NAME: Final = "memory, every chart"
_RELEASES: Final = (NoteKind.INSTALLED, NoteKind.CHECKED, NoteKind.RECORDED)


def measure(bench: Bench) -> list[Figure]:
    """All processes of the sandbox, at their maximum while a stack comes up and once it is up.

    The engine and the program are not among them: they run for seconds and belong to no sandbox. The bound is on dev
    with every chart at hand; prod without charts, which is up from the previews, is a figure beside it.
    """
    without = _without_charts(bench)
    try:
        return [without, _with_charts(bench)]
    except BenchError as error:
        return [without, not_measured(str(error))]


def _without_charts(bench: Bench) -> Figure:
    sandbox = bench.with_prod()
    return figure("memory, no charts", None, "prod without charts", sandbox.peak, sandbox.memory())


def _with_charts(bench: Bench) -> Figure:
    directory = charts.directory(os.environ, ROOT)
    if directory is None:
        return not_measured(f"no charts at hand: set {charts.VARIABLE} to a folder of charts (`slipway charts pull`)")
    with bench.with_charts(directory) as sandbox:
        bench.say(f"bringing up {STACK} with the charts of {directory}")
        with sandbox.watching():
            bench.command("up", STACK, "--sandbox")
        notes = load_notes(sandbox.home)
        if absent := releases(notes)[NoteKind.RECORDED]:
            return not_measured(f"of {len(absent)} releases the chart is not at hand: {', '.join(absent)}")
        return figure(_NAME, BOUND_MIB, f"{STACK} with every chart", sandbox.peak, sandbox.memory(), extent(notes))


def figure(name: str, bound: float | None, what: str, peak: int, now: Memory, *notes: str) -> Figure:
    """The figure of one stack: the more of what was seen on the way and what the sandbox holds now."""
    kind = "PSS" if now.pss else "RSS"
    parts = ", ".join(f"{part.rpartition(' ')[0]} {size // _MIB} MiB" for part, size in sorted(now.parts.items()))
    return Figure(
        name=name,
        value=max(peak, now.counted) / _MIB,
        unit="MiB",
        bound=bound,
        how=f"{kind} of the sandbox's processes together, the maximum while {what} comes up and once it is up",
        notes=(f"once up {now.counted // _MIB} MiB ({parts}); RSS {now.rss // _MIB} MiB", *notes),
    )


def not_measured(why: str) -> Figure:
    """The row where charts are missing: the number without charts says nothing about the bound."""
    how = f"{STACK} with every chart"
    return Figure(name=_NAME, value=None, unit="MiB", bound=BOUND_MIB, how=how, notes=(f"not measured: {why}",))


def releases(notes: Iterable[Note]) -> dict[NoteKind, list[str]]:
    """Names of the Helm releases by what the sandbox did for them."""
    found: dict[NoteKind, list[str]] = {kind: [] for kind in _RELEASES}
    for note in notes:
        if note.kind in found and ":Release::" in note.urn:
            found[note.kind].append(note.urn.rpartition("::")[2])
    return found


def extent(notes: Iterable[Note]) -> str:
    """How much of the charts was applied: a folder may hold CRDs and values without templates."""
    by_kind = releases(notes)
    installed, checked = len(by_kind[NoteKind.INSTALLED]), len(by_kind[NoteKind.CHECKED])
    return f"{installed + checked} releases: {installed} installed, {checked} with their CRDs alone"
