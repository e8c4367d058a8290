"""What became of scenarios, as a document, `rehearsal.json` by `rehearsal.schema.json`, and as a page: the timeline,
one file without scripts or network requests, in the style of the replay's.

A scenario and each of its bad variants is one entry, with a lane for each of its jobs: what waited, what ran, and when.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from slipway.replay.page import Chart, chart, environment
from slipway.replay.plan import Plan
from slipway.replay.result import Document, document_of
from slipway.replay.steps import Steps
from slipway.trial.evaluation import Check, Status
from slipway.trial.run import ENDED, RUNS, WAITS, Turn
from spec.settings.schema import write_or_check

SCHEMA: Final = Path(__file__).with_name("rehearsal.schema.json")
POINTS: Final = 120  # steps of a lane
MOST: Final = 6  # moments of a lane, the first ones: a job that is preempted hundreds of times says the same each time


class Moment(Document):
    """Something that happened to a job."""

    at: float
    """Seconds after the start."""
    text: str


class Lane(Document):
    """A job of a scenario, or all jobs that are alike."""

    name: str
    waiting: list[float]
    """Jobs that wait: averages over steps of equal length."""
    running: list[float]
    moments: list[Moment]
    """What was said of it, the first times."""
    more: int = 0
    """Moments that are left out."""


class Expected(Document):
    """An expectation, and what became of it."""

    subject: str
    expected: str
    status: Literal["passed", "waits", "failed"]
    detail: str

    @property
    def sentence(self) -> str:
        """The expectation, with the words of the layer that decides."""
        return f"{self.subject} {self.expected}{f': {self.detail}' if self.detail else ''}"


class Played(Document):
    """A scenario, or a bad variant of one."""

    scenario: str
    """Its name; of a bad variant `SCENARIO/VARIANT`."""
    description: str
    driven_by: Literal["events", "clock"]
    how: str
    """How it was played, for a reader."""
    seconds: float
    """How long that took."""
    length: float
    """Seconds that its lanes cover; virtual ones of a replay."""
    passed: bool
    """Whether every expectation is met."""
    checks: list[Expected]
    lanes: list[Lane]


class Rehearsal(Document):
    """Scenarios on a stack."""

    version: Literal[1] = 1
    stack: str
    scenarios: list[Played]

    @property
    def passed(self) -> bool:
        """Whether all went as expected."""
        return all(one.passed for one in self.scenarios)

    @property
    def summary(self) -> str:
        """One line."""
        met = sum(one.passed for one in self.scenarios)
        return f"{met} of {len(self.scenarios)} scenarios and bad variants as expected"


def read(path: Path) -> Rehearsal:
    """A document of another run.

    Raises:
        TraceError: It is no document of this version.
    """
    return document_of(path, Rehearsal, "rehearsal.json")


def main(arguments: Sequence[str]) -> int:
    """`python -m slipway.rehearsal.document`: write the schema, or with `--check` compare it; the exit code."""
    return write_or_check(arguments, file=SCHEMA, text=Rehearsal.schema_text(), module="slipway.rehearsal.document")


def expectations(checks: Iterable[Check]) -> list[Expected]:
    """Expectations as a part of the document; the texts of layers in one line."""
    return [
        Expected(
            subject=one.subject, expected=one.expected, status=one.status.value, detail=" ".join(one.detail.split())
        )
        for one in checks
    ]


def met(checks: Iterable[Check]) -> bool:
    """Whether no expectation has failed."""
    return all(one.status is not Status.FAILED for one in checks)


class Turns:
    """What the engine's events say of each job."""

    def __init__(self, plan: Plan) -> None:
        self._jobs = {one.id: one.job.name for one in plan.jobs.values()}
        self.of: dict[str, list[Turn]] = {name: [] for name in self._jobs.values()}
        """By name of the job."""

    def add(self, event: Mapping[str, Any]) -> None:
        """Add one event; those that change no job's state are left out."""
        name, kind = self._jobs.get(str(event.get("job"))), str(event["kind"])
        if name is None or kind not in _STATES:
            return
        said = ": ".join(str(event[key]) for key in ("reason", "message") if event.get(key))
        self.of[name].append(Turn(float(event["t"]), _STATES[kind], said or _SAYS.get(kind, kind)))


_STATES: Final = {"submitted": WAITS, "evicted": WAITS, "running": RUNS, "finished": ENDED, "refused": ENDED}
"""State of a job after an event."""
_SAYS: Final = {"running": "runs"}


def lane(name: str, jobs: Sequence[Sequence[Turn]], end: float) -> Lane:
    """The lane of jobs that are alike, until a moment."""
    steps = {WAITS: Steps(), RUNS: Steps()}
    before = dict.fromkeys(range(len(jobs)), ENDED)
    turns = sorted(((turn, number) for number, one in enumerate(jobs) for turn in one), key=lambda pair: pair[0].at)
    for turn, number in turns:
        for state, by in ((before[number], -1), (turn.state, 1)):
            if state in steps:
                steps[state].add(turn.at, by)
        before[number] = turn.state
    said = Counter((round(turn.at, 1), " ".join(turn.text.split())) for turn, _ in turns)
    moments = [
        Moment(at=at, text=f"{text} ({count} jobs)" if count > 1 else text) for (at, text), count in said.items()
    ]
    return Lane(
        name=name,
        waiting=steps[WAITS].averages(end, POINTS),
        running=steps[RUNS].averages(end, POINTS),
        moments=moments[:MOST],
        more=len(moments[MOST:]),
    )


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
        # What waits is drawn on what runs.
        yield lane, chart(one.length, lane.name, [("warn", every), ("gpu", lane.running)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
