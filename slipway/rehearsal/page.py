"""The timeline of a rehearsal as a page: one file without scripts or network requests, in the style of the replay's."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.rehearsal.document import Lane, Played, Rehearsal
from slipway.replay.page import Chart, area, days, environment


def page(found: Rehearsal) -> str:
    """The whole page; the bad variants of a scenario are in its section."""
    scenarios: dict[str, list[Played]] = {}
    for one in found.scenarios:
        scenarios.setdefault(one.scenario.partition("/")[0], []).append(one)
    template = environment("slipway.rehearsal").get_template("rehearsal.html")
    return template.render(found=found, scenarios=scenarios, lanes=_lanes)


def _lanes(one: Played) -> Iterator[tuple[Lane, Chart]]:
    for lane in one.lanes:
        every = [sum(pair) for pair in zip(lane.waiting, lane.running, strict=True)]
        top = max(every, default=0.0)
        # What waits is drawn on what runs.
        areas = [("warn", area(every, top)), ("gpu", area(lane.running, top))]
        yield lane, Chart(lane.name, top, areas, days(one.length))
