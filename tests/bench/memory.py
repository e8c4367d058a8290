"""How much memory the sandbox takes."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from sandbox.notes import Note, NoteKind, load_notes
from tests.bench.figure import Figure
from tests.bench.machine import ROOT, Bench, BenchError

BOUND_MIB: Final = 2560
"""With whole charts the controllers of add-ons run, too; 2,048 was the bound before they did (2026-11)."""
STACK: Final = "dev"
_MIB: Final = 1 << 20


def memory(bench: Bench) -> list[Figure]:
    """All processes of the sandbox, at their maximum while a stack comes up and once it is up.

    The engine and the program are not among them: they run for seconds and belong to no sandbox. The bound is on dev
    with every chart at hand; prod without charts, which is up from the previews, is a figure beside it.
    """
    bench.with_prod()
    without = _figure(bench, "memory, no charts", None, "prod without charts")
    try:
        return [without, _with_charts(bench)]
    except BenchError as error:
        note = f"not measured: {error}"
        how = f"{STACK} with every chart"
        unknown = Figure(name="memory, every chart", value=None, unit="MiB", bound=BOUND_MIB, how=how, notes=(note,))
        return [without, unknown]


def _with_charts(bench: Bench) -> Figure:
    directory = charts(os.environ, ROOT)
    if directory is None:
        msg = "no charts at hand: set SLIPWAY_CHARTS to a folder of charts (`slipway catalog pull`)"
        raise BenchError(msg)
    with bench.with_charts(directory):
        bench.say(f"bringing up {STACK} with the charts of {directory}")
        with bench.watching():
            bench.command("up", STACK, "--sandbox")
        return _figure(
            bench, "memory, every chart", BOUND_MIB, f"{STACK} with every chart", extent(load_notes(bench.home))
        )


def charts(environment: Mapping[str, str], checkout: Path) -> Path | None:
    """The folder of charts: `SLIPWAY_CHARTS`, or a folder of `SLIPWAY_SHARED`, or of a folder `shared` beside the
    checkout, which is where `.ci/run` looks: whole charts, else those of values and CRDs alone. None where there is
    none of them."""
    named, shared = environment.get("SLIPWAY_CHARTS"), environment.get("SLIPWAY_SHARED")
    places = [Path(place) for place in (shared, checkout.parent / "shared") if place]
    folders = [place / folder for place in places for folder in ("charts-full", "charts")]
    candidates = [Path(named), *folders] if named else folders
    return next((path.absolute() for path in candidates if path.is_dir()), None)


def _figure(bench: Bench, name: str, bound: float | None, what: str, *notes: str) -> Figure:
    """The more of what was seen on the way and what the sandbox holds now."""
    now = bench.memory()
    parts = ", ".join(f"{part.rpartition(' ')[0]} {size // _MIB} MiB" for part, size in sorted(now.parts.items()))
    return Figure(
        name=name,
        value=max(bench.peak, now.counted) / _MIB,
        unit="MiB",
        bound=bound,
        how=f"{'PSS' if now.pss else 'RSS'} of the sandbox's processes together, the maximum while {what} comes up and "
        "once it is up",
        notes=(f"once up {now.counted // _MIB} MiB ({parts}); RSS {now.rss // _MIB} MiB", *notes),
    )


def extent(notes: Iterable[Note]) -> str:
    """How much of the charts was applied: a folder may hold CRDs and values without templates.

    Raises:
        BenchError: A release's chart is not at hand.
    """
    releases = [note for note in notes if ":Release::" in note.urn]
    if absent := [note.urn.rpartition("::")[2] for note in releases if note.kind is NoteKind.RECORDED]:
        msg = f"of {len(absent)} releases the chart is not at hand: {', '.join(absent)}"
        raise BenchError(msg)
    installed, checked = (
        sum(note.kind is kind for note in releases) for kind in (NoteKind.INSTALLED, NoteKind.CHECKED)
    )
    return f"{installed + checked} releases: {installed} installed, {checked} with their CRDs alone"
