"""The jobs of a trace, and the CSV in which a trace is written: `docs/guides/replay.md` has its columns.

A trace is refused as a whole if one of its jobs is wrong: a replay of the others would be a figure about nothing.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from slipway.replay.text import Row, Source, TraceError
from spec.quantities import format_mebibytes, written

COLUMNS: Final = (
    *("job", "team", "class", "submitted", "duration", "pods", "cpu", "memory", "gpus", "gpu_type", "spot"),
    *("checkpoint", "waited"),
)
REQUIRED: Final = ("job", "submitted", "duration")
MOST_JOBS: Final = 200_000  # the engine holds every job in memory: 10,000 take it some 100 MiB
MOST_PODS: Final = 5_000
"""Nodes of the largest cluster that Kubernetes supports (kubernetes.io, "Considerations for large clusters", v1.36)."""
MOST_SECONDS: Final = 366 * 86_400
MOST_MILLIS: Final = 10_000_000  # thousandths of CPUs, and of GPUs, of a pod
MOST_MEBIBYTES: Final = 100 * 2**20  # memory of a pod: 100 TiB
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]{1,253}")
"""Printable text, without what turns the direction of a line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One job."""

    name: str  # its name, unique in the trace
    team: str = ""  # who submitted it; empty if unknown
    kind: str = ""  # its class: `training`, `inference`, `interactive`, `experiment` or the trace's own word
    submitted: float  # seconds after the trace's start
    duration: float  # seconds that it runs, with all its pods
    pods: int = 1  # number of its pods, which start together
    cpu_millis: int = 1000  # thousandths of a CPU of each pod
    memory_mib: int = 1024  # memory of each pod
    gpu_millis: int = 0  # thousandths of a GPU of each pod
    gpu_types: tuple[str, ...] = ()  # GPU types that it accepts, in the trace's words; empty for all
    spot: bool | None = None  # whether it may run on Spot nodes; None if the trace doesn't say
    checkpoint: float | None = None
    """Seconds of work from one checkpoint to the next: what a preempted job has done since its last one is lost. None:
    it has none, and starts again from nothing."""
    waited: float | None = None  # seconds that it waited until it started, where the trace is from; None if unknown

    @property
    def gpus(self) -> float:
        """GPUs of all its pods."""
        return self.pods * self.gpu_millis / 1000


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The jobs of a trace, in the order of their submission."""

    jobs: Sequence[Job]
    format: str  # what it was read from, or made by: `openb`, `slurm`, `generated`
    start: datetime | None = None  # when it starts; None if its times are relative
    left_out: Mapping[str, int] = field(default_factory=dict)  # how many jobs of the file can't be replayed, by reason
    notes: Sequence[str] = field(default_factory=tuple)  # how its jobs were changed

    @property
    def seconds(self) -> float:
        """Seconds from its start to its last submission."""
        return max((one.submitted for one in self.jobs), default=0.0)


class Collector:
    """Gathers the jobs of a trace, and refuses a name that it has already and a number of jobs that can't be replayed.

    Readers give submissions in seconds since any moment; the first one becomes the start.
    """

    def __init__(self, source: Source, form: str) -> None:
        self._source, self._format = source, form
        self._places: dict[str, str] = {}
        self._jobs: list[Job] = []
        self._left_out: Counter[str] = Counter()

    def add(self, job: Job, place: str) -> None:
        """Add a job that a place of the file describes.

        Raises:
            TraceError: A job of that name exists already, or there are too many.
        """
        if job.name in self._places:
            rule = f"a job's name is unique, and {self._places[job.name]} has it already"
            raise TraceError(self._source.name, place, rule, job.name, "Remove the repeated one.")
        if len(self._jobs) == MOST_JOBS:
            fix = "Replay a shorter part."
            raise TraceError(self._source.name, place, f"a trace has at most {MOST_JOBS:,} jobs", "more", fix)
        self._places[job.name] = place
        self._jobs.append(job)

    def leave_out(self, why: str) -> None:
        """Count a job that can't be replayed, such as one without an end."""
        self._left_out[why] += 1

    def trace(self, *, absolute: bool) -> Trace:
        """The trace.

        Args:
            absolute: Whether submissions are seconds since 1970.

        Raises:
            TraceError: There is no job.
        """
        if not self._jobs:
            left = "; ".join(f"{count:,} left out: {why}" for why, count in self._left_out.items())
            rule = "a trace has at least one job that ended" + (f" ({left})" if left else "")
            raise TraceError(self._source.name, "", rule, "none", "Export a period with finished jobs.")
        first = min(one.submitted for one in self._jobs)
        start = datetime.fromtimestamp(first, UTC) if absolute else None
        jobs = sorted((_moved(one, -first) for one in self._jobs), key=lambda one: (one.submitted, one.name))
        return Trace(jobs=tuple(jobs), format=self._format, start=start, left_out=self._left_out)


def _moved(job: Job, by: float) -> Job:
    return replace(job, submitted=round(job.submitted + by, 6))


def name_in(row: Row, column: str, *, required: bool = False) -> str:
    """A name of a row: printable text of at most 253 characters."""
    text = row.text(column)
    if (text or required) and not _NAME.fullmatch(text):
        row.refuse(
            column, "it must be 1 to 253 printable characters", "Give the job a name without control characters."
        )
    return text


def read(source: Source) -> Trace:
    """The trace of a CSV with the columns `COLUMNS`, of which `REQUIRED` must be there.

    Raises:
        TraceError: A row is wrong, with its line.
    """
    return of_rows(Collector(source, "csv"), source.rows(COLUMNS, REQUIRED, own=True))


def of_rows(found: Collector, rows: Iterable[Row]) -> Trace:
    """The trace of rows with the columns `COLUMNS`. Raises TraceError as above."""
    times: set[bool] = set()
    for row in rows:
        at, absolute = row.moment("submitted")
        times.add(absolute)
        if len(times) > 1:
            row.refuse("submitted", "all times are seconds, or all are dates", "Write them in one way.")
        found.add(
            Job(
                name=name_in(row, "job", required=True),
                team=name_in(row, "team"),
                kind=name_in(row, "class"),
                submitted=at,
                duration=row.number("duration", most=MOST_SECONDS),
                pods=row.count("pods", most=MOST_PODS, least=1, default=1),
                cpu_millis=row.quantity("cpu", 1000, most=MOST_MILLIS, default=1000),
                memory_mib=row.quantity("memory", Decimal(1) / 2**20, most=MOST_MEBIBYTES, default=1024),
                gpu_millis=row.quantity("gpus", 1000, most=MOST_MILLIS, default=0),
                gpu_types=gpu_types(name_in(row, "gpu_type")),
                spot=row.flag("spot"),
                checkpoint=row.number("checkpoint", least=1, most=MOST_SECONDS) if row.text("checkpoint") else None,
                waited=row.number("waited", most=MOST_SECONDS) if row.text("waited") else None,
            ),
            row.place,
        )
    return found.trace(absolute=times == {True})


def gpu_types(text: str) -> tuple[str, ...]:
    """The GPU types of `A100|H100`."""
    return tuple(part.strip() for part in text.split("|") if part.strip())


def write(jobs: Sequence[Job]) -> str:
    """The CSV of jobs, which `read` reads; without the columns of checkpoints and of waits if no job has one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    optional = {name for name in ("checkpoint", "waited") if all(getattr(one, name) is None for one in jobs)}
    columns = [number for number, name in enumerate(COLUMNS) if name not in optional]
    writer.writerow(COLUMNS[number] for number in columns)
    for one in jobs:
        row = (
            *(one.name, one.team, one.kind, _seconds(one.submitted), _seconds(one.duration), one.pods),
            *(_thousandths(one.cpu_millis), format_mebibytes(one.memory_mib), _thousandths(one.gpu_millis)),
            *("|".join(one.gpu_types), "" if one.spot is None else str(one.spot).lower()),
            *("" if value is None else _seconds(value) for value in (one.checkpoint, one.waited)),
        )
        writer.writerow(row[number] for number in columns)
    return out.getvalue()


def _seconds(value: float) -> str:
    return str(int(value)) if math.isclose(value, int(value), abs_tol=1e-9) else f"{value:.6f}".rstrip("0")


def _thousandths(value: int) -> str:
    return written(Decimal(value) / 1000)
